"""What a run did, as plain rows with the names of a run record, and one digest of it all.

Attempts stand in the order of allocations, as records had them when digests.json was written. How they and events lie
within one instant is left out. Columns are named here: a new one in the record is no change of what a run did.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import polars as pl

from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.run_record import tables_of, totals
from heddle.sim import codes
from heddle.sim.run import Ended, run_engine
from heddle.stock_yarn.outside import run_by_knobs

from .runs import GoldenRun

ATTEMPT = (
    "task", "attempt", "stage", "job", "node", "asked_at_ms", "allocated_at_ms", "started_at_ms", "ended_at_ms",
    "outcome", "fetched_at_ms", "fetch_ms", "fetched_bytes", "cross_rack_bytes",
)  # fmt: skip
EVENT = ("at_ms", "kind", "job", "stage", "node", "queue", "reason", "value")
JOB = ("job", "outcome", "am_started_at_ms", "started_at_ms", "ended_at_ms")
TOTALS = (
    "reserved_ms", "used_ms", "crashed_tasks", "killed_tasks", "retried_tasks", "preempted_tasks", "allocations",
    "moved_bytes", "cross_rack_bytes", "local_bytes", "fetch_ms",
)  # fmt: skip
STATUS = {
    codes.FINISHED: "finished",
    codes.STALLED: "stalled",
    codes.LIVELOCK: "livelock",
    codes.PAUSED: "until",
}


def ended(run: GoldenRun) -> Ended:
    execute = run_by_knobs if run.executor == "yarn-knobs" else run_engine
    return execute(run.workload, run.cluster, parse_policy(run.policy), run.seed, True, run.until_ms)


def done(run: GoldenRun) -> tuple[str, Run]:
    """How it ended, and its record."""
    it = ended(run)
    found = tables_of(it, run.workload, run.cluster, record=True)
    found["attempts"] = found["attempts"].sort("allocation")
    known = {"totals": totals(it.sim, run.workload.has_use, run.cluster.has_network)}
    return STATUS[it.status], Run(manifest=known, **found)


def lines(status: str, record: Run) -> Iterator[str]:
    """One row a line."""
    yield _line("status", status)
    yield _line("totals", {name: record.manifest["totals"][name] for name in TOTALS})
    used = tuple(f"used_{name}_ms" for name in record.shapes.columns if name != "shape")
    for kind, frame, columns in (
        ("job", record.jobs, JOB),
        ("attempt", record.attempts, (*ATTEMPT, *used)),
        ("event", record.events, EVENT),
    ):
        for row in frame.select(pl.col(columns)).iter_rows(named=True):
            yield _line(kind, row)


def digest(status: str, record: Run) -> str:
    return hashlib.sha256("\n".join(lines(status, record)).encode()).hexdigest()


def _line(kind: str, what: object) -> str:
    return f"{kind} {json.dumps(what)}"
