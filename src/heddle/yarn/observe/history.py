"""The JobHistoryServer: what MapReduce jobs that have ended tell of each attempt of their tasks.

A job is read when the ResourceManager says that it has ended, and goes into the journal as one line when all of it was
read: whatever happens meanwhile, it is there once or not yet. What is not yet there is asked for at every poll, of this
observer or of the next one on the same journal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import quote

from heddle.model.resources import MILLI
from heddle.yarn.live.addresses import with_port
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import task_id
from heddle.yarn.live.rm_answers import Reading, rows_under, text, whole
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.seen import MOST_COUNTED, AttemptTold, JobTold, Seen

ROOT: Final = "/ws/v1/history/mapreduce/jobs"
MAPREDUCE: Final = "MAPREDUCE"  # what the RM calls applications that have a history here
MASTER: Final = "AM"
TIMEOUT_S: Final = 3.0  # a server that hangs must not keep the observer from looking at the ResourceManager
AWAY_S: Final = 10.0  # how long one that did not answer is left alone
CALLS_AT_ONCE: Final = 50  # there is one for each task: a job of thousands is read over several polls
LATEST_S: Final = 60.0  # between two questions for a job that it does not know: one whose AM was killed it never will
UNSET_MB: Final = 1024
EXCERPT: Final = 200  # characters of a failure's diagnostics
PLAIN, TLS = 19888, 19890  # Hadoop's own ports
# Settings of a job that say what its containers asked for.
_SIZES: Final = {
    MASTER: ("yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores"),
    "MAP": ("mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores"),
    "REDUCE": ("mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores"),
}


class History:
    """Call poll() along with the observer's. `journal` and `seen` are the observer's."""

    def __init__(
        self, client: RmClient, journal: Journal, seen: Seen, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._client, self._journal, self._seen, self._clock_s = client, journal, seen, clock_s
        self._reading: tuple[str, Iterator[JobTold | None]] | None = None  # application, what is left of it
        self._away_until_s = -1.0
        self._tried: dict[str, tuple[int, float]] = {}  # jobs not known yet: how often asked, when to ask again

    def missing(self) -> list[str]:
        """Applications that have ended and whose history was not read."""
        return [
            app.id
            for app in self._seen.apps.values()
            if app.kind == MAPREDUCE and app.ended_at_ms is not None and app.id not in self._seen.histories
        ]

    def poll(self) -> None:
        """Reads on. Raises YarnError if the server cannot be asked, and then leaves it alone for a while."""
        if self._clock_s() < self._away_until_s:
            return
        for _ in range(CALLS_AT_ONCE):
            if self._reading is None and (wanted := self._next()) is not None:
                self._reading = wanted, self._read(wanted)
            if self._reading is None:
                return
            app, rest = self._reading
            try:
                told = next(rest)
            except YarnError as error:
                self._reading = None
                tries = self._tried.get(app, (0, 0.0))[0] + 1  # others first: it may be this job that is at fault
                self._tried[app] = tries, self._clock_s() + min(LATEST_S, 2.0 ** min(tries, 10))
                if error.status == 404:
                    continue
                self._away_until_s = self._clock_s() + AWAY_S
                raise
            if told is not None:
                self._reading = None
                self._keep(told)

    def _next(self) -> str | None:
        now_s = self._clock_s()
        return next((app for app in self.missing() if self._tried.get(app, (0, -1.0))[1] <= now_s), None)

    def _keep(self, told: JobTold) -> None:
        entry = {"what": "history", **asdict(told)}
        self._seen.take(entry)
        self._journal.add(entry)
        self._journal.flush()

    def _read(self, app: str) -> Iterator[JobTold | None]:
        """All of a job, one call at a time; None until it is whole."""
        job = f"{ROOT}/{quote(app.replace('application', 'job'))}"
        with Reading(f"{self._client.address}{job}"):
            state = text(self._client.get(job)["job"]["state"])
            yield None
            ended_ms = self._seen.apps[app].ended_at_ms or 0
            attempts = list(_masters(self._client.get(f"{job}/jobattempts"), ended_ms))
            yield None
            tasks = rows_under(self._client.get(f"{job}/tasks"), "tasks", "task")
            for task in tasks:
                yield None
                answer = self._client.get(f"{job}/tasks/{task_id(task['id'])}/attempts")
                attempts += [_attempt(row) for row in rows_under(answer, "taskAttempts", "taskAttempt")]
            yield None
            counters = _counters(self._client.get(f"{job}/counters"))
            sizes: dict[str, Size] = {}
            if any(attempt.container not in self._seen.containers for attempt in attempts):
                yield None
                sizes = sizes_of(self._client.get(f"{job}/conf"))
        yield JobTold(app, state, tuple(attempts), sizes, counters)


def history_address(given: str) -> str:
    """With the port that history servers have unless told otherwise."""
    return with_port(given, "--history", PLAIN, TLS)


def _masters(answer: dict[str, Any], ended_ms: int) -> Iterator[AttemptTold]:
    """The AM's attempts: all but the last failed. When one ended is not told: before the next, or with the job."""
    rows = sorted(rows_under(answer, "jobAttempts", "jobAttempt"), key=lambda row: whole(row["startTime"]))
    for row, after in zip(rows, [*rows[1:], None], strict=False):
        yield AttemptTold(
            id=text(row["id"]), container=text(row["containerId"]), kind=MASTER, node=text(row["nodeId"]),
            state="FAILED" if after else "SUCCEEDED", began_at_ms=whole(row["startTime"]),
            ended_at_ms=whole(after["startTime"]) if after else ended_ms, diagnostics="",
        )  # fmt: skip


def _attempt(row: Any) -> AttemptTold:
    return AttemptTold(
        id=text(row["id"]),
        container=text(row["assignedContainerId"]),
        kind=text(row["type"]),
        state=text(row["state"]),
        node=text(row.get("nodeHttpAddress") or ""),
        began_at_ms=whole(row["startTime"]),
        ended_at_ms=whole(row["finishTime"]),
        diagnostics=text(row.get("diagnostics") or "")[:EXCERPT],
    )


def _counters(answer: dict[str, Any]) -> dict[str, int]:
    """Sums over maps and reduces, by the counter's name."""
    return {
        text(counter["name"]): whole(counter["totalCounterValue"], MOST_COUNTED)
        for group in rows_under(answer, "jobCounters", "counterGroup")
        for counter in rows_under(group, "counter")
    }


def sizes_of(answer: dict[str, Any]) -> dict[str, Size]:
    settings = {text(row["name"]): row["value"] for row in rows_under(answer, "conf", "property")}
    return {
        # -1 means what MapReduce has for jobs that do not say.
        kind: (mb if (mb := whole(settings[memory])) > 0 else UNSET_MB, whole(settings.get(vcores, 1)) * MILLI)
        for kind, (memory, vcores) in _SIZES.items()
        if memory in settings
    }
