"""Some jobs of a workload as a workload of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.traces.use_profiles import segments_of

Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]


def select_jobs(workload: Workload, chosen: Mask) -> tuple[Workload, int]:
    """(the workload of these jobs, dependencies on jobs that are not among them and were dropped).

    Submissions begin at 0 again. Queues, users, shapes and hosts keep their numbers, used or not.
    """
    if not chosen.any():
        raise BadInput.of(workload.name, "no job is left")
    of_stage = chosen[workload.stages["job"]]
    of_task = np.repeat(of_stage, workload.stages["n_tasks"])
    jobs, stages, tasks = workload.jobs[chosen].copy(), workload.stages[of_stage].copy(), workload.tasks[of_task].copy()
    job_number, stage_number = _numbers(chosen), _numbers(of_stage)
    stages["job"] = job_number[stages["job"]]
    jobs["first_stage"] = _starts(jobs["n_stages"])
    stages["first_task"] = _starts(stages["n_tasks"])
    jobs["submit_at_ms"] -= jobs["submit_at_ms"].min()

    of_edge = np.repeat(of_stage, workload.stages["n_after"])
    stage_after = stage_number[workload.stage_after[of_edge]]
    stages["first_after"] = _starts(stages["n_after"])
    before = workload.job_after[np.repeat(chosen, workload.jobs["n_after"])]
    waiting = np.repeat(np.arange(len(jobs)), jobs["n_after"])
    kept = chosen[before]
    jobs["n_after"] = np.bincount(waiting[kept], minlength=len(jobs))
    jobs["first_after"] = _starts(jobs["n_after"])
    segments = _used_segments(workload, tasks)
    return replace(
        workload,
        jobs=jobs,
        stages=stages,
        tasks=tasks,
        segments=segments,
        stage_after=stage_after.astype(np.int32),
        job_after=job_number[before[kept]].astype(np.int32),
        job_names=_names(workload.job_names, chosen, workload.job_name),
        stage_names=None if workload.stage_names is None else workload.stage_names.filter(pl.Series(of_stage)),
        prefers=None if workload.prefers is None else workload.prefers[of_task],
        running_on=None if workload.running_on is None else workload.running_on[of_task],
        started_at_ms=None if workload.started_at_ms is None else workload.started_at_ms[of_task],
        edge_bytes=None if workload.edge_bytes is None else workload.edge_bytes[of_edge],
        input_bytes=None if workload.input_bytes is None else workload.input_bytes[of_task],
    ), int((~kept).sum())


def _names(names: pl.Series | None, chosen: Mask, name_of: Any) -> pl.Series:
    """Numbers would change their meaning: a job without a name keeps the one it went by."""
    if names is not None:
        return names.filter(pl.Series(chosen))
    return pl.Series("job", [name_of(int(job)) for job in np.flatnonzero(chosen)], dtype=pl.String)


def _used_segments(workload: Workload, tasks: Array) -> Array:
    """The segments of these tasks; their `first_segment` is brought up to date."""
    keep = segments_of(workload.segments, tasks["first_segment"])
    known = tasks["first_segment"] != NO_SEGMENTS
    tasks["first_segment"][known] = _numbers(keep)[tasks["first_segment"][known]]
    kept: Array = workload.segments[keep]
    return kept


def _numbers(mask: Mask) -> npt.NDArray[np.int64]:
    """The new number of each member that is kept."""
    numbers: npt.NDArray[np.int64] = np.cumsum(mask) - 1
    return numbers


def _starts(counts: Array) -> Array:
    starts: Array = np.cumsum(counts, dtype=np.int64) - counts
    return starts
