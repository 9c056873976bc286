"""Reads what is to be known of a cluster and its past, quickly: bulk answers, and of details a random sample."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from heddle.check.anonymous import Pseudonyms
from heddle.check.now import Now, look
from heddle.check.present import Present, present_of
from heddle.check.spark import SPARK, SparkLogs
from heddle.traces.build import JobSpec
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.recognising import ResourceManager
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.history import MAPREDUCE
from heddle.yarn.observe.outlines import Outline, finished, finished_mapreduce
from heddle.yarn.observe.past_jobs import PastJob, read_past_job

MOST_JOBS: Final = 20_000  # in outline
SAMPLE: Final = 150  # MapReduce jobs that are read in detail
READ_S: Final = 25.0  # and no longer than this, however slowly they come
GIVE_UP_AFTER: Final = 10  # jobs in a row that cannot be read


@dataclass(frozen=True)
class Sources:
    """Where to ask. None: nobody said."""

    rm: RmClient
    history: RmClient | None
    spark: SparkLogs | None
    conf: Path | None


@dataclass(frozen=True)
class Gathered:
    """`mapreduce`, `spark`: how many such jobs there are; `sample` and `details` are those that were read."""

    manager: ResourceManager
    present: Present
    now: Now
    outlines: tuple[Outline, ...]
    sample: Mapping[str, PastJob]
    details: Mapping[str, JobSpec]
    mapreduce: int
    spark: int
    spark_read: int = 0
    troubles: tuple[str, ...] = ()
    names: Pseudonyms | None = None
    watched: frozenset[str] = field(default_factory=frozenset)


def gather(
    sources: Sources,
    manager: ResourceManager,
    since_ms: int,
    until_ms: int,
    say: Callable[[str], None],
    names: Pseudonyms | None,
    details: Mapping[str, JobSpec],
    before: Gathered | None = None,
) -> Gathered:
    """`details`: jobs that were watched. `before`: what was gathered earlier, and need not be read again."""
    troubles: list[str] = []
    present, now = present_of(sources.rm, sources.conf), look(sources.rm)
    found = {one.id: one for one in finished(sources.rm, since_ms, until_ms, MOST_JOBS)}
    say(f"{present.cluster.n_nodes} nodes, finished applications: {len(found):,}, running: {now.running:,}")
    if sources.history is not None:
        try:
            for one in finished_mapreduce(sources.history, since_ms, until_ms, MOST_JOBS):
                found.setdefault(one.id, one)
        except YarnError as error:
            troubles.append(f"the history server: {error}")
    outlines = list(found.values())
    present = present.with_queues_made_for(one.queue for one in outlines)
    of_mapreduce = [one.id for one in outlines if one.kind == MAPREDUCE]
    of_spark = [one.id for one in outlines if one.kind == SPARK]
    sample = dict(before.sample) if before else {}
    if sources.history is not None and not troubles:
        sample |= _read_sample(
            sources.history, [app for app in of_mapreduce if app not in details], sample, say, troubles
        )
    from_logs: dict[str, JobSpec] = {}
    if sources.spark is not None:
        from_logs = sources.spark.read(of_spark, troubles, say)
    known = from_logs | dict(details)
    if names is not None:
        outlines, present, now = names.outlines(outlines), names.present(present), names.now(now)
        known, troubles = names.details(known), names.troubles(troubles)
    return Gathered(
        manager, present, now, tuple(outlines), sample, known, len(of_mapreduce), len(of_spark),
        sum(app in from_logs for app in of_spark), tuple(troubles), names, frozenset(details),
    )  # fmt: skip


def _read_sample(
    server: RmClient,
    apps: Sequence[str],
    known: Mapping[str, PastJob],
    say: Callable[[str], None],
    troubles: list[str],
) -> dict[str, PastJob]:
    """A random sample, the same one for the same jobs; less what is known."""
    unread = sorted(app for app in apps if app not in known)
    wanted = random.Random(len(unread)).sample(unread, min(SAMPLE - len(known), len(unread)))
    if wanted:
        say(f"reading {len(wanted)} of {len(apps):,} MapReduce jobs in detail, chosen at random")
    found: dict[str, PastJob] = {}
    failed = 0
    began_s = time.monotonic()
    for app in wanted:
        if time.monotonic() - began_s > READ_S:
            break
        try:
            found[app] = read_past_job(server, app)
            failed = 0
        except YarnError as error:
            failed += 1
            if error.status != 404:
                troubles.append(f"the history server: {error}")
            if failed >= GIVE_UP_AFTER:
                break
    return found
