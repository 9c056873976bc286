"""From the engine's memory to the tables of a run record; run_log.py makes those of its log."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from heddle.analysis.best_possible.alone import alone_ms
from heddle.model.cluster import Cluster
from heddle.model.reasons import Outcome
from heddle.model.view import JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS, Workload
from heddle.record.schema import SUBMITTED, submitted, tables
from heddle.run_log import FETCH_COLUMNS, Column, LogTables, frame_of, known
from heddle.sim import codes
from heddle.sim.attempts import NO_OUTCOME
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import Sim
from heddle.sim.run import Ended


def tables_of(ended: Ended, workload: Workload, cluster: Cluster, *, record: bool) -> dict[str, pl.DataFrame]:
    """The tables of a run; with `record` (then the engine has kept a log) all its attempts and events."""
    found = tables_before(workload, cluster)
    found["jobs"] = jobs_after(ended.sim.shown.job["state"], ended.sim.job_run, found.pop(SUBMITTED))
    if not record:
        last = _last_attempts(ended.sim, workload)
        return found | {"attempts": frame_of(tables(workload.resources)["attempts"], last)}
    log = LogTables(workload, QueueTree.of(cluster, workload).names)
    return found | {"attempts": log.attempts(ended.attempt_pieces), "events": log.events(ended.logs)}


def tables_before(workload: Workload, cluster: Cluster) -> dict[str, pl.DataFrame]:
    """What is known before a run: jobs as they are submitted, and the tables that no run changes."""
    of_jobs = tables_of_jobs(workload, cluster)
    return {SUBMITTED: of_jobs[SUBMITTED]} | tables_without_jobs(workload, cluster) | {"stages": of_jobs["stages"]}


def tables_of_jobs(
    workload: Workload, cluster: Cluster, first_job: int = 0, first_stage: int = 0
) -> dict[str, pl.DataFrame]:
    """Of these jobs and their stages, which are numbered from these numbers on."""
    stages = _stages(workload, first_job, first_stage)
    return {
        SUBMITTED: frame_of(submitted(), _submitted(workload, cluster, first_job)),
        "stages": frame_of(tables(workload.resources)["stages"], stages),
    }


def tables_without_jobs(workload: Workload, cluster: Cluster) -> dict[str, pl.DataFrame]:
    schema = tables(workload.resources)
    shapes = {"shape": np.arange(len(workload.shapes))} | _per_resource("", workload.shapes, workload.resources)
    return {"shapes": frame_of(schema["shapes"], shapes), "nodes": frame_of(schema["nodes"], _nodes(cluster))}


def jobs_after(state: Column, ran: Column, before: pl.DataFrame) -> pl.DataFrame:
    """The table of jobs: as they were submitted, and what came of them (as in the view, and rows of job_run)."""
    outcome = np.select([state == JOB_FINISHED, state == JOB_FAILED], [0, 1], 2)
    after = {"outcome": pl.Series(["finished", "failed", "unfinished"]).gather(outcome)}
    after |= {name: _reached(ran[name]) for name in ("am_started_at_ms", "started_at_ms", "ended_at_ms")}
    return frame_of(tables(())["jobs"], before.to_dict() | after)


def totals(sim: Sim, use_known: bool, has_network: bool) -> dict[str, Any]:
    """What the engine summed up while it ran."""
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


def _per_resource(prefix: str, table: Column, resources: tuple[str, ...]) -> dict[str, Column]:
    return {f"{prefix}{name}": np.ascontiguousarray(table[:, r]) for r, name in enumerate(resources)}


def _names(names: pl.Series | None, prefix: str, numbers: Column) -> pl.Series:
    if names is not None:
        return names
    return pl.select(pl.format(f"{prefix}-{{}}", pl.Series(numbers))).to_series()


def _reached(instants: Column) -> pl.Series:
    """Null where negative: the engine's sign for "not yet"."""
    return known(instants, instants >= 0)


def _submitted(workload: Workload, cluster: Cluster, first_job: int) -> dict[str, Any]:
    jobs, number = workload.jobs, first_job + np.arange(workload.n_jobs)
    working = np.isin(workload.stages["kind"], (TASKS, INNER))
    return {
        "job": number,
        "name": _names(workload.job_names, "job", number),
        "queue": pl.Series(workload.queues, dtype=pl.String).gather(jobs["queue"]),
        "user": pl.Series(workload.users, dtype=pl.String).gather(jobs["user"]),
        "submit_at_ms": np.ascontiguousarray(jobs["submit_at_ms"]),
        "tasks": np.bincount(workload.stages["job"], workload.stages["n_tasks"] * working, workload.n_jobs),
        "alone_ms": alone_ms(workload, cluster),
    }


def _stages(workload: Workload, first_job: int, first_stage: int) -> dict[str, Any]:
    stages = workload.stages
    within = np.arange(len(stages)) - workload.jobs["first_stage"][stages["job"]]
    fields = {name: np.ascontiguousarray(stages[name]) for name in ("kind", "n_tasks", "shape")}
    numbers = {"job": first_job + stages["job"], "stage": first_stage + np.arange(len(stages))}
    return fields | numbers | {"name": _names(workload.stage_names, "stage", within)}


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
    unseen = (*FETCH_COLUMNS, *(f"used_{name}_ms" for name in workload.resources), "allocation")
    unknown = pl.repeat(None, len(task), dtype=pl.Int64, eager=True)
    of_stage = {name: workload.stages[name][stage] for name in ("job", "kind", "shape")}
    return of_stage | dict.fromkeys(unseen, unknown) | {
        "task": task,
        "stage": stage,
        "attempt": np.maximum(0, rows["attempts"] - ~launching),
        "node": np.ascontiguousarray(rows["node"]),
        "asked_at_ms": np.where(asked >= 0, np.minimum(asked, allocated), allocated),
        "allocated_at_ms": allocated,
        "started_at_ms": known(started, ran),
        "ended_at_ms": _reached(ended),
        "outcome": np.where(state == codes.DONE, done, NO_OUTCOME),
    }  # fmt: skip
