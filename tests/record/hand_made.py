"""Small runs written by hand, for the tests of record, analysis and report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from heddle.model.reasons import Outcome
from heddle.model.workload import TASKS
from heddle.record.manifest import FORMAT_VERSION
from heddle.record.run import Run
from heddle.record.schema import tables

RESOURCES = ("memory_mb", "vcores_milli")


@dataclass(frozen=True)
class Job:
    """A job of one task on node 0: when it is submitted, starts and ends, and what it uses of its 1000 MB and core."""

    submit: int
    start: int | None
    end: int | None
    alone: int = 1000
    used: tuple[int, int] | None = (500, 250)
    outcome: str = "finished"


def manifest(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "heddle_version": "0.1.0",
        "policy": "fifo",
        "seed": 1,
        "executor": "native",
        "workload": {"name": "two", "hash": "w" * 16, "about": {}},
        "cluster": {"name": "one-node", "hash": "c" * 16, "nodes": 1, "resources": list(RESOURCES)},
        "resources": list(RESOURCES),
        "capacity_total": [4000, 4000],
        "allowance_total": [4000, 4000],
        "outcome": "finished",
        "reason": None,
        "wall_s": 2.0,
        "simulate_s": 0.5,
        "compile_s": 1.0,
        "peak_rss_mb": 120.0,
        "started_by": "api",
        "complete_attempts": True,
        "use_known": True,
        "totals": {
            "reserved_ms": [0, 0],
            "used_ms": [0, 0],
            "crashed_tasks": 0,
            "killed_tasks": 0,
            "retried_tasks": 0,
            "preempted_tasks": 0,
            "allocations": 0,
            "moved_bytes": None,
            "cross_rack_bytes": None,
            "local_bytes": None,
            "fetch_ms": None,
        },
    }
    return base | changes


EVENTS = [(0, "job_arrived", 0, -1, -1, 0, 0, None), (5, "size_memory_mb", -1, -1, 0, 0, 4500, None)]


def run_of(jobs: list[Job], events: bool = False, **changes: Any) -> Run:
    """The run of these jobs, with its totals worked out from them."""
    schema = tables(RESOURCES)
    job_rows, attempt_rows, stage_rows = [], [], []
    reserved, used = [0, 0], [0, 0]
    for n, job in enumerate(jobs):
        job_rows.append(
            (n, f"job-{n}", "root.default", "ann", job.submit, None, job.start, job.end, job.outcome, 1, job.alone)
        )
        stage_rows.append((n, n, "map", TASKS, 1, 0))
        if job.start is None:
            continue
        ran = (job.end or job.start) - job.start
        use = (None, None) if job.used is None else tuple(amount * ran for amount in job.used)
        rest = (*use, None, None, None, None, len(attempt_rows))  # fetches, and which allocation it was
        attempt_rows.append(
            (n, n, n, 0, TASKS, 0, job.submit, job.start, job.start, job.end, int(Outcome.FINISHED), 0, *rest)
        )
        for r in range(2):
            reserved[r] += 1000 * ran
            used[r] += 0 if job.used is None else job.used[r] * ran
    known = all(job.used is not None for job in jobs)
    made = manifest(use_known=known)
    made["totals"] |= {"reserved_ms": reserved, "used_ms": used if known else [None, None], "allocations": len(jobs)}

    def frame(name: str, rows: list[tuple[Any, ...]]) -> pl.DataFrame:
        names = {column.name: column.dtype for column in schema[name].columns}
        return pl.DataFrame(rows, schema=names, orient="row")

    return Run(
        manifest=made | changes,
        jobs=frame("jobs", job_rows),
        attempts=frame("attempts", attempt_rows),
        shapes=frame("shapes", [(0, 1000, 1000)]),
        stages=frame("stages", stage_rows),
        nodes=frame("nodes", [(0, "node-0", "rack-0", "", 4000, 4000, 4000, 4000)]),
        events=frame("events", EVENTS) if events else None,
    )


def with_manifest(run: Run, **changes: Any) -> Run:
    return replace(run, manifest=run.manifest | changes)


TWO_JOBS = [Job(submit=1000, start=1000, end=3000), Job(submit=2000, start=3000, end=6000, alone=2000)]
