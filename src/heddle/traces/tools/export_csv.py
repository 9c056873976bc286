"""A workload as the plain CSV of tasks that heddle and others read."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.workload import AM, EXECUTORS, INNER, NO_PREFERENCE, NO_SEGMENTS, Workload

_BYTES_PER_MB: Final = 1e6


def write_csv(workload: Workload) -> tuple[str, list[str]]:
    """(the text, what a CSV cannot hold and was left out); BadInput where nothing sensible would remain."""
    stages = workload.stages
    if np.isin(stages["kind"], (EXECUTORS, INNER)).any():
        raise BadInput.of(
            workload.name, "has executors with inner tasks, which a CSV of tasks cannot say; use .parquet"
        )
    names = pl.Series([workload.stage_name(number) for number in range(len(stages))], dtype=pl.String)
    after = _after(workload, names)
    own = np.flatnonzero(np.repeat(stages["kind"] != AM, stages["n_tasks"]))
    stage = np.repeat(np.arange(len(stages)), stages["n_tasks"])[own]
    job = stages["job"][stage]
    jobs = pl.Series([workload.job_name(number) for number in range(workload.n_jobs)], dtype=pl.String)
    shape = workload.shapes[stages["shape"][stage]]
    columns: dict[str, pl.Series] = {
        "job": jobs.gather(job),
        "submit_ms": pl.Series(workload.jobs["submit_at_ms"][job]),
        "duration_ms": pl.Series(workload.tasks["duration_ms"][own]),
        "vcores": pl.Series(shape[:, VCORES] / MILLI),
        "memory_mb": pl.Series(shape[:, MEMORY]),
        "stage": names.gather(stage),
        "after": after.gather(stage),
    }
    first = workload.tasks["first_segment"][own]
    if len(workload.segments):
        use = workload.segments["use"][np.maximum(first, 0)]
        unknown = pl.Series(first == NO_SEGMENTS)
        columns["used_vcores"] = pl.Series(use[:, VCORES] / MILLI).set(unknown, None)
        columns["used_memory_mb"] = pl.Series(use[:, MEMORY]).set(unknown, None)
    columns |= _data(workload, stage, own)
    if workload.jobs["has_am"].any():
        has = workload.jobs["has_am"][job] != 0
        am = workload.shapes[stages["shape"][workload.jobs["first_stage"][job]]]
        columns["am_vcores"] = pl.Series(am[:, VCORES] / MILLI).set(pl.Series(~has), None)
        columns["am_memory_mb"] = pl.Series(am[:, MEMORY]).set(pl.Series(~has), None)
    columns["queue"] = pl.Series(workload.queues, dtype=pl.String).gather(workload.jobs["queue"][job])
    columns["user"] = pl.Series(workload.users, dtype=pl.String).gather(workload.jobs["user"][job])
    return pl.DataFrame(columns).write_csv(), _lost(workload)


def _data(workload: Workload, stage: npt.NDArray[np.int64], own: npt.NDArray[np.int64]) -> dict[str, pl.Series]:
    """What tasks read, and where their input lies, as far as the workload says it."""
    columns = {}
    if workload.edge_bytes is not None:
        waits = np.repeat(np.arange(len(workload.stages)), workload.stages["n_after"])
        total = np.bincount(waits, weights=workload.edge_bytes, minlength=len(workload.stages))
        columns["reads_mb"] = pl.Series(total[stage] / workload.stages["n_tasks"][stage] / _BYTES_PER_MB)
    if workload.prefers is not None:
        prefers = workload.prefers[own]
        hosts = pl.Series([*workload.hosts, ""], dtype=pl.String)
        columns["input_node"] = hosts.gather(np.where(prefers == NO_PREFERENCE, len(workload.hosts), prefers))
        if workload.input_bytes is not None:
            sizes = pl.Series(workload.input_bytes[own] / _BYTES_PER_MB)
            columns["input_mb"] = sizes.set(pl.Series(prefers == NO_PREFERENCE), None)
    return columns


def _spread_unevenly(workload: Workload) -> bool:
    """Whether a stage reads more from one stage before it than from another."""
    if workload.edge_bytes is None:
        return False
    waits = np.repeat(np.arange(len(workload.stages)), workload.stages["n_after"])
    first = workload.stages["first_after"][waits]
    return bool((workload.edge_bytes != workload.edge_bytes[first]).any())


def _after(workload: Workload, names: pl.Series) -> pl.Series:
    waits = np.repeat(np.arange(len(workload.stages)), workload.stages["n_after"])
    edges = pl.DataFrame({"stage": waits, "before": names.gather(workload.stage_after)})
    if edges["before"].str.contains(r"[;\s]").any():
        raise BadInput.of(
            workload.name, "has stages with blanks or semicolons in their names, which `after` cannot hold"
        )
    lists = edges.group_by("stage", maintain_order=True).agg(pl.col("before").str.join(";"))
    every = pl.DataFrame({"stage": np.arange(len(workload.stages))})
    return every.join(lists, on="stage", how="left", maintain_order="left")["before"]


def _lost(workload: Workload) -> list[str]:
    stages = workload.stages
    found = {
        "dependencies between jobs": len(workload.job_after) > 0,
        "resources beyond memory and vcores": len(workload.resources) > 2,
        "use over time: the first level of each task is kept": bool(len(workload.segments))
        and not (workload.segments["last"] != 0).all(),
        "slow start and shuffles": bool((stages["slow_start_permille"] >= 0).any() or stages["shuffle_ms"].any()),
        "labels": bool(stages["label"].any()),
        "priorities": bool(workload.jobs["priority"].any()),
        "how much a stage reads from each of several others: all the same is kept": _spread_unevenly(workload),
        "where tasks run when it begins": workload.running_on is not None,
        "use of application masters": _am_use(workload),
    }
    return [what for what, is_lost in found.items() if is_lost]


def _am_use(workload: Workload) -> bool:
    of_am = np.repeat(workload.stages["kind"] == AM, workload.stages["n_tasks"])
    return bool((workload.tasks["first_segment"][of_am] != NO_SEGMENTS).any())
