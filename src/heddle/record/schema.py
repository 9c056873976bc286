"""Every column of a run record, named once: its type and its meaning (manifest.py does the same for the manifest).

Writing, reading and docs/record.md all use these lists, so that they cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from heddle.model.errors import Problem
from heddle.model.reasons import Outcome, Reason
from heddle.model.workload import KIND_NAMES
from heddle.record.manifest import manifest_problems
from heddle.record.run import Run

JOB_OUTCOMES: Final = ("finished", "failed", "unfinished")
OPTIONAL_TABLES: Final = frozenset({"events"})
SUBMITTED: Final = "submitted"
_KNOWN_AT_SUBMISSION: Final = ("job", "name", "queue", "user", "submit_at_ms", "tasks", "alone_ms")


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    dtype: pl.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the record; on disk, one Parquet file of this name."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def empty(self) -> pl.DataFrame:
        """The table without rows."""
        return pl.DataFrame(schema={column.name: column.dtype for column in self.columns})


_EVENT_MEANINGS: Final = {
    "job_arrived": "the job may start; `value`: its submission (ms)",
    "job_ended": "the job finished or failed; `value`: a JobOutcome number",
    "admitted": "admission let the job start",
    "wait": "the stage starts waiting for the reason in `reason`, or keeps waiting for a new one; NONE: no longer",
    "node_lost": "the node and its containers are gone",
    "node_returned": "the node is back, empty",
    "moved": "the job belongs to `queue` from now on",
    "priority": "the job's priority is `value` from now on",
    "queue_guarantee": "the guarantee of `queue` is `value` permille of its parent's from now on",
    "queue_maximum": "the maximum of `queue` is `value` permille of its parent's from now on",
    "queue_am_share": "AMs may hold `value` permille of the maximum of `queue` from now on",
}


def event_kinds(resources: Sequence[str]) -> dict[str, str]:
    """The kinds of events and what they mean, in the order in which they are numbered."""
    sizes = {f"size_{name}": f"the node may be promised `value` of {name} from now on" for name in resources}
    return _EVENT_MEANINGS | sizes


def _numbered(words: Sequence[str]) -> str:
    return ", ".join(f"{number} {word}" for number, word in enumerate(words))


def tables(resources: Sequence[str]) -> dict[str, Table]:
    """The tables of a record with these resources, by name."""
    i8, i16, i32, i64, text = pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.String()
    jobs = (
        Column("job", i32, "number of the job, from 0, in order of submission"),
        Column("name", text, "its name in the workload"),
        Column("queue", text, "full name of its leaf queue"),
        Column("user", text, "who submitted it"),
        Column("submit_at_ms", i64, "when it was submitted"),
        Column("am_started_at_ms", i64, "when its application master first ran; null: none, or it never ran", True),
        Column("started_at_ms", i64, "when its first task or executor ran; null: never", True),
        Column("ended_at_ms", i64, "when it finished or failed; null: unfinished", True),
        Column("outcome", text, "one of " + ", ".join(JOB_OUTCOMES)),
        Column("tasks", i32, "tasks that do work: neither AMs nor executors"),
        Column("alone_ms", i64, "lower bound of its time alone on the empty cluster (analysis/best_possible/alone.py)"),
    )
    attempts = (
        Column("task", i32, "number of the task, from 0, through the stages"),
        Column("job", i32, "its job"),
        Column("stage", i32, "its stage"),
        Column("attempt", i16, "0 for the first try of this task, 1 for the second, ..."),
        Column("kind", i8, "kind of its stage: " + _numbered(KIND_NAMES)),
        Column("node", i32, "where it ran"),
        Column("asked_at_ms", i64, "when the scheduler first saw the request for this attempt"),
        Column("allocated_at_ms", i64, "when it got its container (inner tasks: their slot)"),
        Column("started_at_ms", i64, "when it began to run; null: it ended before that", True),
        Column("ended_at_ms", i64, "when it ended; null: it still held its container when the run stalled", True),
        Column("outcome", i8, "how it ended: " + _numbered([outcome.name for outcome in Outcome]) + "; -1: unknown"),
        Column("shape", i32, "what it reserved: row of shapes (inner tasks reserve nothing themselves)"),
        *(
            Column(f"used_{name}_ms", i64, f"its use of {name}, summed over its milliseconds; null: unknown", True)
            for name in resources
        ),
        Column("fetched_at_ms", i64, "when all of its input had arrived, or it ended before; null: no fetch", True),
        Column("fetch_ms", i64, "how long it had been fetching by then", True),
        Column("fetched_bytes", i64, "fetched from other nodes by then; on a real cluster, received from them", True),
        Column("cross_rack_bytes", i64, "of these, from other racks", True),
        Column("allocation", i64, "order of allocations, even within an instant; null: unknown", True),
    )
    shapes = (
        Column("shape", i32, "number of the reservation"),
        *(Column(name, i64, f"{name} that a container of this shape reserves") for name in resources),
    )
    stages = (
        Column("stage", i32, "number of the stage, from 0, through the jobs"),
        Column("job", i32, "its job"),
        Column("name", text, "its name in the workload; repeats across jobs"),
        Column("kind", i8, "its kind: " + _numbered(KIND_NAMES)),
        Column("n_tasks", i32, "number of tasks"),
        Column("shape", i32, "what each of its containers reserves: row of shapes"),
    )
    nodes = (
        Column("node", i32, "number of the node, from 0, as the cluster lists them"),
        Column("name", text, "its name"),
        Column("rack", text, "its rack"),
        Column("label", text, "its label; empty: none"),
        *(Column(f"capacity_{name}", i64, f"{name} that its hardware has") for name in resources),
        *(Column(f"allowance_{name}", i64, f"{name} that the framework may promise") for name in resources),
    )
    events = (
        Column("at_ms", i64, "when"),
        Column("kind", pl.Enum(list(event_kinds(resources))), "what happened (see below)"),
        Column("job", i32, "the job; -1: none"),
        Column("stage", i32, "the stage; -1: none"),
        Column("node", i32, "the node; -1: none"),
        Column("reason", i8, "why a wait: " + _numbered([reason.name for reason in Reason])),
        Column("value", i64, "a number that depends on the kind; else 0"),
        Column("queue", text, "full name of the queue; null: none", True),
    )
    listed = (
        Table("jobs", "One row per job, in order of number.", jobs),
        Table(
            "attempts",
            "One row per attempt to run a task or, if the manifest says so, only each task's last. In records of the "
            "simulator, in the order in which they ended; those that did not end come last.",
            attempts,
        ),
        Table("shapes", "The distinct reservations.", shapes),
        Table("stages", "One row per stage, in order of number.", stages),
        Table("nodes", "One row per node, in order of number.", nodes),
        Table("events", "What happened between attempts, in order of time. May be missing.", events),
    )
    return {table.name: table for table in listed}


def submitted() -> Table:
    """What the table of jobs says before anything has happened; only in records that are still being written."""
    jobs = tables(())["jobs"]
    known = tuple(column for column in jobs.columns if column.name in _KNOWN_AT_SUBMISSION)
    return Table(SUBMITTED, "The jobs before the run, in order of number.", known)


def table_problems(frame: pl.DataFrame, table: Table, where: str) -> list[Problem]:
    """All that is wrong with the columns of a table."""
    problems = []
    wanted = [column.name for column in table.columns]
    problems += [Problem(where, "this column is missing", field=name) for name in wanted if name not in frame.columns]
    problems += [
        Problem(where, f"unknown column; known: {', '.join(wanted)}", field=name)
        for name in frame.columns
        if name not in wanted
    ]
    for column in table.columns:
        if column.name not in frame.columns:
            continue
        found = frame.schema[column.name]
        if found != column.dtype:
            problems.append(Problem(where, f"must be {column.dtype}, not {found}", field=column.name))
        elif not column.nullable and (nulls := frame[column.name].null_count()):
            problems.append(Problem(where, f"must not be null, but {nulls} are", field=column.name))
    if not problems and frame.columns != wanted:
        problems.append(Problem(where, f"columns must stand in this order: {', '.join(wanted)}"))
    return problems


def run_problems(run: Run) -> list[Problem]:
    """All ways in which a run does not follow the schema; empty for a good one."""
    problems = manifest_problems(run.manifest, "manifest")
    if problems:
        return problems  # without its resources the tables cannot be judged
    known = tables(run.resources)
    for name, frame in run.tables().items():
        problems += table_problems(frame, known[name], name)
    return problems
