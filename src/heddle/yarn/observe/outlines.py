"""Jobs that have ended, in outline: what the ResourceManager and the history server tell of thousands at a time.

Neither answers in pages, and what one answer holds may be more than anybody wants in memory: so windows of the time in
which applications finished are asked for, the latest first, and a window that is full is cut in two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import application_id, application_of_job
from heddle.yarn.live.rm_answers import Reading, rows_under, text, whole
from heddle.yarn.observe.history import MAPREDUCE, ROOT
from heddle.yarn.observe.observer import ENDED, UNWANTED

IN_AN_ANSWER: Final = 1000
SHORTEST_MS: Final = 1000  # a window that is not cut any further: what ends in one second is not asked for twice
LONGEST_REASON: Final = 200  # characters of YARN's diagnostics
FIRST_MS: Final = 600_000  # the latest window; each earlier one is twice as long


@dataclass(frozen=True, slots=True)
class Outline:
    """A job that has ended. None: the source does not know."""

    id: str  # the application's
    name: str
    kind: str
    queue: str
    user: str
    submitted_at_ms: int
    launched_at_ms: int | None
    ended_at_ms: int
    succeeded: bool
    memory_mb_s: int | None = None  # YARN's own accounts
    vcore_s: int | None = None
    maps: int | None = None
    reduces: int | None = None
    why_failed: str = ""  # what YARN says of one that did not succeed


def finished(client: RmClient, since_ms: int, until_ms: int, most: int) -> list[Outline]:
    """From the ResourceManager, the latest first; at most so many."""

    def ask(begin_ms: int, end_ms: int) -> list[Outline]:
        answer = client.apps(
            ENDED, finishedTimeBegin=str(begin_ms), finishedTimeEnd=str(end_ms), limit=str(IN_AN_ANSWER),
            deSelects=UNWANTED,
        )  # fmt: skip
        with Reading(f"{client.address}: apps"):
            return [outline_of(row) for row in rows_under(answer, "apps", "app")]

    return _first(most, _windows(ask, since_ms, until_ms))


def finished_mapreduce(server: RmClient, since_ms: int, until_ms: int, most: int) -> list[Outline]:
    """From the history server, which remembers longer, the latest first; at most so many."""

    def ask(begin_ms: int, end_ms: int) -> list[Outline]:
        answer = server.get(ROOT, finishedTimeBegin=str(begin_ms), finishedTimeEnd=str(end_ms), limit=str(IN_AN_ANSWER))
        with Reading(f"{server.address}{ROOT}"):
            return [_of_job(row) for row in rows_under(answer, "jobs", "job")]

    return _first(most, _windows(ask, since_ms, until_ms))


def _windows(ask: Callable[[int, int], list[Outline]], since_ms: int, until_ms: int) -> Iterator[list[Outline]]:
    end_ms, length_ms = until_ms, FIRST_MS
    while end_ms > since_ms:
        begin_ms = max(since_ms, end_ms - length_ms)
        yield from _halved(ask, begin_ms, end_ms)
        end_ms, length_ms = begin_ms - 1, 2 * length_ms


def _halved(ask: Callable[[int, int], list[Outline]], begin_ms: int, end_ms: int) -> Iterator[list[Outline]]:
    found = ask(begin_ms, end_ms)
    if len(found) < IN_AN_ANSWER or end_ms - begin_ms <= SHORTEST_MS:
        yield found
        return
    middle_ms = (begin_ms + end_ms) // 2
    yield from _halved(ask, middle_ms + 1, end_ms)
    yield from _halved(ask, begin_ms, middle_ms)


def _first(most: int, answers: Iterable[list[Outline]]) -> list[Outline]:
    found: list[Outline] = []
    for some in answers:
        found += some
        if len(found) >= most:
            break
    return sorted(found, key=lambda one: (-one.ended_at_ms, one.id))[:most]


def outline_of(row: Any) -> Outline:
    """Of an application as the ResourceManager shows it; one that has not ended has its end at 0."""
    return Outline(
        id=application_id(row["id"]), name=text(row["name"]), kind=text(row.get("applicationType") or ""),
        queue=text(row["queue"]), user=text(row["user"]), submitted_at_ms=whole(row["startedTime"]),
        launched_at_ms=whole(row.get("launchTime") or 0) or None, ended_at_ms=whole(row["finishedTime"]),
        succeeded=row["finalStatus"] == "SUCCEEDED", memory_mb_s=whole(row["memorySeconds"]),
        vcore_s=whole(row["vcoreSeconds"]), why_failed=_why_failed(row),
    )  # fmt: skip


def _why_failed(row: Any) -> str:
    """The first line of YARN's diagnostics: the rest is a stack trace more often than not."""
    said = text(row.get("diagnostics") or "") if row["finalStatus"] != "SUCCEEDED" else ""
    return said.strip().partition("\n")[0][:LONGEST_REASON].strip()


def _of_job(row: Any) -> Outline:
    submitted_ms = whole(row.get("submitTime") or row["startTime"])
    return Outline(
        id=application_of_job(row["id"]), name=text(row["name"]), kind=MAPREDUCE,
        queue=text(row["queue"]), user=text(row["user"]), submitted_at_ms=submitted_ms,
        launched_at_ms=whole(row["startTime"]) or None, ended_at_ms=whole(row["finishTime"]),
        succeeded=row["state"] == "SUCCEEDED", maps=whole(row["mapsTotal"]), reduces=whole(row["reducesTotal"]),
    )  # fmt: skip
