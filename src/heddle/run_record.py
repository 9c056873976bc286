"""From the engine's memory and log to a run record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from heddle.analysis.best_possible.alone import alone_ms
from heddle.model.cluster import Cluster
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.view import JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, INNER, NO_SEGMENTS, TASKS, Workload
from heddle.record.columns import columns_in_order, columns_of, places_in_order
from heddle.record.run import Run
from heddle.record.schema import Column as SchemaColumn
from heddle.record.schema import event_kinds, tables
from heddle.sim import codes
from heddle.sim.attempts import NO_OUTCOME
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import LOG_ROW, Sim
from heddle.sim.run import Ended

Column = npt.NDArray[Any]
FETCH_COLUMNS: Final = ("fetched_at_ms", "fetch_ms", "fetched_bytes", "cross_rack_bytes")

# Rows of the engine's log as events; the kinds of sizes follow one by one, in the order of resources.
_EVENT_OF_LOG: Final = {
    codes.LOG_ARRIVED: "job_arrived",
    codes.LOG_JOB_ENDED: "job_ended",
    codes.LOG_ADMITTED: "admitted",
    codes.LOG_WAIT: "wait",
    codes.LOG_NODE_LOST: "node_lost",
    codes.LOG_NODE_RETURNED: "node_returned",
    codes.LOG_MOVED: "moved",
    codes.LOG_PRIORITY: "priority",
    codes.LOG_QUEUE_GUARANTEE: "queue_guarantee",
    codes.LOG_QUEUE_MAXIMUM: "queue_maximum",
    codes.LOG_QUEUE_AM_SHARE: "queue_am_share",
}
_OF_QUEUES: Final = (
    codes.LOG_MOVED,
    codes.LOG_QUEUE_GUARANTEE,
    codes.LOG_QUEUE_MAXIMUM,
    codes.LOG_QUEUE_AM_SHARE,
)
_WITH_VALUE: Final = (codes.LOG_RESIZED, codes.LOG_PRIORITY, *_OF_QUEUES)


def run_of(ended: Ended, workload: Workload, cluster: Cluster, manifest: Mapping[str, Any], *, record: bool) -> Run:
    """The run; with `record` (then the engine has kept a log) all its attempts and events."""
    sim = ended.sim
    known = dict(manifest) | {
        "complete_attempts": record,
        "use_known": workload.has_use,
        "totals": _totals(sim, workload.has_use, cluster.has_network),
    }
    columns = {
        "jobs": _jobs(sim, workload, cluster),
        "attempts": _all_attempts(ended.attempts, workload) if record else _last_attempts(sim, workload),
        "shapes": {"shape": np.arange(len(workload.shapes))} | _per_resource("", workload.shapes, workload.resources),
        "stages": _stages(workload),
        "nodes": _nodes(cluster),
    }
    if record:
        columns["events"] = _events(ended.logs, workload, QueueTree.of(cluster, workload).names)
    schema = tables(workload.resources)
    frames = {
        name: pl.DataFrame([_series(column, columns[name][column.name]) for column in table.columns])
        for name, table in schema.items()
        if name in columns
    }
    return Run(manifest=known, **frames)


def _series(column: SchemaColumn, values: Any) -> pl.Series:
    series = pl.Series(column.name, values)
    return series if series.dtype == column.dtype else series.cast(column.dtype)


def _totals(sim: Sim, use_known: bool, has_network: bool) -> dict[str, Any]:
    control = sim.control[0]
    moved = ("moved_bytes", "cross_rack_bytes", "local_bytes", "fetch_ms")
    return {
        "reserved_ms": control["reserved_ms"].tolist(),
        "used_ms": control["used_ms"].tolist() if use_known else [None] * len(control["used_ms"]),
        "crashed_tasks": int(control["crashed"]),
        "killed_tasks": int(control["killed"]),
        "retried_tasks": int(control["retried"]),
        "preempted_tasks": int(control["preempted"]),
        "allocations": int(sim.shown.clock["allocations"][0]),
        **{name: int(control[name]) if has_network else None for name in moved},
    }


def _known(values: Column, valid: npt.NDArray[np.bool_] | None = None) -> pl.Series:
    """Null where not valid; without a mask, where negative: the engine's sign for "not yet"."""
    known = values >= 0 if valid is None else valid
    if known.all():
        return pl.Series(np.ascontiguousarray(values))
    if not known.any():
        return pl.repeat(None, len(values), dtype=pl.Int64, eager=True)
    return pl.Series(pa.array(values, mask=~known))


def _per_resource(prefix: str, table: Column, resources: tuple[str, ...]) -> dict[str, Column]:
    return {f"{prefix}{name}": np.ascontiguousarray(table[:, r]) for r, name in enumerate(resources)}


def _names(names: pl.Series | None, prefix: str, numbers: Column) -> pl.Series:
    if names is not None:
        return names
    return pl.select(pl.format(f"{prefix}-{{}}", pl.Series(numbers))).to_series()


def _jobs(sim: Sim, workload: Workload, cluster: Cluster) -> dict[str, Any]:
    jobs, state, ran = workload.jobs, sim.shown.job["state"], sim.job_run
    working = np.isin(workload.stages["kind"], (TASKS, INNER))
    tasks = np.bincount(workload.stages["job"], workload.stages["n_tasks"] * working, workload.n_jobs)
    outcome = np.select([state == JOB_FINISHED, state == JOB_FAILED], [0, 1], 2)
    return {
        "job": np.arange(workload.n_jobs),
        "name": _names(workload.job_names, "job", np.arange(workload.n_jobs)),
        "queue": pl.Series(workload.queues, dtype=pl.String).gather(jobs["queue"]),
        "user": pl.Series(workload.users, dtype=pl.String).gather(jobs["user"]),
        "submit_at_ms": np.ascontiguousarray(jobs["submit_at_ms"]),
        "am_started_at_ms": _known(ran["am_started_at_ms"]),
        "started_at_ms": _known(ran["started_at_ms"]),
        "ended_at_ms": _known(ran["ended_at_ms"]),
        "outcome": pl.Series(["finished", "failed", "unfinished"]).gather(outcome),
        "tasks": tasks,
        "alone_ms": alone_ms(workload, cluster),
    }


def _stages(workload: Workload) -> dict[str, Any]:
    stages = workload.stages
    within = np.arange(len(stages)) - workload.jobs["first_stage"][stages["job"]]
    fields = {name: np.ascontiguousarray(stages[name]) for name in ("job", "kind", "n_tasks", "shape")}
    return fields | {"stage": np.arange(len(stages)), "name": _names(workload.stage_names, "stage", within)}


def _nodes(cluster: Cluster) -> dict[str, Any]:
    nodes = cluster.nodes
    amounts = {
        f"{kind}_{name}": [getattr(node, kind)[r] for node in nodes]
        for kind in ("capacity", "allowance")
        for r, name in enumerate(cluster.resources)
    }
    texts = {
        field: pl.Series([getattr(node, field) for node in nodes], dtype=pl.String)
        for field in ("name", "rack", "label")
    }
    return {"node": np.arange(len(nodes))} | texts | amounts


def _all_attempts(attempts: Column, workload: Workload) -> dict[str, Any]:
    """Every attempt, in order of allocation. Inner tasks get their slot in the instant in which they start."""
    rows = columns_in_order(attempts, places_in_order(attempts["allocated_place"]))
    task = rows["task"]
    has_use = workload.tasks["first_segment"][task] != NO_SEGMENTS
    over = rows["ended_at_ms"] != codes.NEVER
    fetched = rows["fetched_at_ms"] != codes.NEVER
    columns = _attempt_columns(task, rows["stage"], workload)
    columns |= {name: rows[name] for name in ("attempt", "node", "asked_at_ms", "allocated_at_ms", "outcome")}
    columns |= {name: _known(rows[name], fetched) for name in FETCH_COLUMNS}
    for r, name in enumerate(workload.resources):
        columns[f"used_{name}_ms"] = _known(rows["used_ms"][r], has_use & over)
    for name in ("started_at_ms", "ended_at_ms"):  # below 0: before the run
        columns[name] = _known(rows[name], rows[name] != codes.NEVER)
    return columns


def _attempt_columns(task: Column, stage: Column, workload: Workload) -> dict[str, Any]:
    return {"task": task, "stage": stage} | {name: workload.stages[name][stage] for name in ("job", "kind", "shape")}


def _last_attempts(sim: Sim, workload: Workload) -> dict[str, Any]:
    """Each task's last attempt, as far as the engine remembers it without a log.

    It does not remember when an ended attempt was allocated: that is taken to be a launch before the start, which is
    late by up to an AM heartbeat. Of a repeated attempt the ask is not known either, and is taken to be its allocation.
    """
    task = np.flatnonzero(sim.task["node"] >= 0)
    stage = np.repeat(np.arange(len(workload.stages), dtype=np.int32), workload.stages["n_tasks"])[task]
    rows = sim.task[task]
    launch_ms = int(sim.setting["launch_ms"][0])
    state, kind = rows["state"], workload.stages["kind"][stage]
    held = state == codes.HELD
    slot_of = np.zeros(len(sim.task), np.int64)
    slots = np.flatnonzero(sim.slot["phase"] != codes.FREE)
    slot_of[sim.slot["task"][slots]] = slots
    slot = slot_of[task]
    launching = held & (sim.slot["phase"][slot] == codes.LAUNCHING)
    started = np.where(launching, codes.NEVER, rows["started_at_ms"])
    ran = started != codes.NEVER
    ended = np.where(held, -1, rows["ended_at_ms"])
    at_once = (kind == INNER) | (started <= 0)  # the latter were there before the run
    began = np.where(ran, started - np.where(at_once, 0, launch_ms), ended)
    allocated = np.where(held, sim.shown.container["allocated_at_ms"][slot], began)
    asked = np.where(rows["attempts"] > 1, allocated, sim.shown.stage["asked_at_ms"][stage])
    done = np.where((kind == AM) | (kind == EXECUTORS), int(Outcome.RELEASED), int(Outcome.FINISHED))
    unknown = {
        f"used_{name}_ms": _known(np.zeros(len(task), np.int64), np.zeros(len(task), bool))
        for name in workload.resources
    }
    unknown |= dict.fromkeys(FETCH_COLUMNS, unknown[f"used_{workload.resources[0]}_ms"])
    return _attempt_columns(task, stage, workload) | unknown | {
        "attempt": np.maximum(0, rows["attempts"] - ~launching),
        "node": np.ascontiguousarray(rows["node"]),
        "asked_at_ms": np.where(asked >= 0, np.minimum(asked, allocated), allocated),
        "allocated_at_ms": allocated,
        "started_at_ms": _known(started, ran),
        "ended_at_ms": _known(ended),
        "outcome": np.where(state == codes.DONE, done, NO_OUTCOME),
    }  # fmt: skip


def _events(log: Sequence[Column], workload: Workload, queues: tuple[str, ...]) -> dict[str, Any]:
    kinds = list(event_kinds(workload.resources))
    rows = columns_of(log, LOG_ROW)
    kind, code, value, node = rows["kind"], rows["code"], rows["value"], rows["node"]
    names = _EVENT_OF_LOG | {codes.LOG_RESIZED: f"size_{workload.resources[0]}"}
    first_number = np.array([kinds.index(names[logged]) for logged in range(len(codes.LOG_NAMES))], np.uint8)
    number = first_number[kind] + np.where(kind == codes.LOG_RESIZED, code, 0).astype(np.uint8)
    value[~_is_one_of(_WITH_VALUE, kind)] = 0
    arrived, ended = np.flatnonzero(kind == codes.LOG_ARRIVED), np.flatnonzero(kind == codes.LOG_JOB_ENDED)
    value[arrived] = workload.jobs["submit_at_ms"][rows["job"][arrived]]
    value[ended] = np.where(code[ended] == JOB_FINISHED, int(JobOutcome.FINISHED), int(JobOutcome.FAILED))
    of_queue = np.flatnonzero(_is_one_of(_OF_QUEUES, kind))  # these have a queue's number in place of a node's
    queue = _queues_of(of_queue, node, queues)
    node[of_queue] = -1
    return {
        "at_ms": rows["at_ms"],
        "job": rows["job"],
        "stage": rows["stage"],
        "node": node,
        "queue": queue,
        "kind": pl.Series(kinds, dtype=pl.Enum(kinds)).gather(number),
        "reason": np.where(kind == codes.LOG_WAIT, code, 0),
        "value": value,
    }


def _is_one_of(wanted: Iterable[int], kind: Column) -> npt.NDArray[np.bool_]:
    """Like np.isin, but by a table: the log of a million tasks has ten million rows."""
    table = np.zeros(len(codes.LOG_NAMES), bool)
    table[list(wanted)] = True
    return table[kind]


def _queues_of(rows: Column, numbers: Column, queues: tuple[str, ...]) -> pl.Series:
    """Names of the queues whose numbers stand in these rows; null elsewhere, which without knobs is everywhere."""
    if not len(rows):
        return pl.repeat(None, len(numbers), dtype=pl.String, eager=True)
    names = np.full(len(numbers), len(queues))
    names[rows] = numbers[rows]
    return pl.Series([*queues, None], dtype=pl.String).gather(names)
