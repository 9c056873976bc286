"""One MapReduce job of the past in detail, in three calls however many tasks it had: tasks, counters, settings.

`history.py` reads every attempt, one call for each task, for records that must be exact; here a job must be cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, rows_under, text, whole
from heddle.yarn.live.things_seen import Size
from heddle.yarn.observe.history import MASTER, ROOT, UNSET_MB, sizes_of
from heddle.yarn.observe.seen import MOST_COUNTED

KINDS: Final = ("MAP", "REDUCE")
_MB: Final = 1 << 20


@dataclass(frozen=True)
class TaskSpan:
    began_at_ms: int
    ended_at_ms: int

    @property
    def length_ms(self) -> int:
        return self.ended_at_ms - self.began_at_ms


@dataclass(frozen=True)
class PastJob:
    """Tasks that succeeded, counters and sizes by kind: MAP, REDUCE; sizes also of the AM."""

    app: str
    tasks: Mapping[str, tuple[TaskSpan, ...]]
    counters: Mapping[str, Mapping[str, int]]
    sizes: Mapping[str, Size]

    def use(self, kind: str) -> tuple[int, int, int] | None:
        """Of a task of this kind: MB on average, MB at most, millicores on average; None: there are no counters."""
        tasks, told = self.tasks[kind], self.counters[kind]
        run_ms = sum(task.length_ms for task in tasks)
        held = told.get("PHYSICAL_MEMORY_BYTES", 0)
        if not tasks or run_ms <= 0 or held <= 0:
            return None
        mean_mb = max(1, held // len(tasks) // _MB)
        most_mb = told.get(f"{kind}_PHYSICAL_MEMORY_BYTES_MAX", 0) // _MB
        return mean_mb, max(mean_mb, most_mb), MILLI * told.get("CPU_MILLISECONDS", 0) // run_ms

    def size(self, kind: str) -> Size:
        return self.sizes.get(kind, (UNSET_MB, MILLI))


def read_past_job(server: RmClient, app: str) -> PastJob:
    """YarnError where the server does not know it or does not answer."""
    job = f"{ROOT}/{quote(app.replace('application', 'job', 1))}"
    tasks: dict[str, list[TaskSpan]] = {kind: [] for kind in KINDS}
    with Reading(f"{server.address}{job}"):
        for row in rows_under(server.get(f"{job}/tasks"), "tasks", "task"):
            span = TaskSpan(whole(row["startTime"]), whole(row["finishTime"]))
            if row["type"] in tasks and row["state"] == "SUCCEEDED" and span.length_ms >= 0:
                tasks[row["type"]].append(span)
        counters = _counters(server.get(f"{job}/counters"))
        sizes = sizes_of(server.get(f"{job}/conf"))
    return PastJob(app, {kind: tuple(some) for kind, some in tasks.items()}, counters, sizes)


def am_size(job: PastJob) -> Size:
    return job.size(MASTER)


def _counters(answer: dict[str, Any]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
    for group in rows_under(answer, "jobCounters", "counterGroup"):
        for counter in rows_under(group, "counter"):
            name = text(counter["name"])
            for kind in KINDS:
                found[kind][name] = whole(counter.get(f"{kind.lower()}CounterValue") or 0, MOST_COUNTED)
    return found
