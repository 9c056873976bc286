"""Some jobs of a workload, in their order, as rows of their own; and the rows of two workloads one behind the other.

Queues, users, labels, shapes and hosts keep their numbers. Jobs that jobs come after keep theirs, too, if they are
among the chosen; the others become GONE.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.profiles import segments_of
from heddle.model.workload import NO_SEGMENTS, Workload

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

GONE: Final = -1  # in job_after: a job that is not among these


def some_jobs(workload: Workload, chosen: Mask) -> Workload:
    """The chosen jobs with their stages and tasks. Names are left as they were: whoever has some must choose them."""
    of_stage = chosen[workload.stages["job"]]
    of_task = np.repeat(of_stage, workload.stages["n_tasks"])
    jobs, stages, tasks = workload.jobs[chosen], workload.stages[of_stage], workload.tasks[of_task]
    stages["job"] = new_rows(chosen)[stages["job"]]
    of_edge = np.repeat(of_stage, workload.stages["n_after"])
    before = workload.job_after[np.repeat(chosen, workload.jobs["n_after"])]
    segments = _used_segments(workload.segments, tasks)
    _set_starts(jobs, stages)
    return replace(
        workload,
        jobs=jobs,
        stages=stages,
        tasks=tasks,
        segments=segments,
        stage_after=new_rows(of_stage)[workload.stage_after[of_edge]].astype(np.int32),
        job_after=renumbered(before, new_rows(chosen), chosen),
        prefers=_chosen(workload.prefers, of_task),
        running_on=_chosen(workload.running_on, of_task),
        started_at_ms=_chosen(workload.started_at_ms, of_task),
        edge_bytes=_chosen(workload.edge_bytes, of_edge),
        input_bytes=_chosen(workload.input_bytes, of_task),
    )


def joined(first: Workload, second: Workload) -> Workload:
    """The jobs of both; those of the second have numbers behind those of the first, also in its job_after."""
    n_jobs, n_stages, n_segments = len(first.jobs), len(first.stages), len(first.segments)
    stages, tasks = np.concatenate([first.stages, second.stages]), np.concatenate([first.tasks, second.tasks])
    stages["job"][n_stages:] += n_jobs
    later = tasks["first_segment"][len(first.tasks) :]
    later[later != NO_SEGMENTS] += n_segments
    jobs = np.concatenate([first.jobs, second.jobs])
    _set_starts(jobs, stages)
    return replace(
        first,
        jobs=jobs,
        stages=stages,
        tasks=tasks,
        segments=np.concatenate([first.segments, second.segments]),
        stage_after=np.concatenate([first.stage_after, second.stage_after + np.int32(n_stages)]),
        job_after=np.concatenate([first.job_after, second.job_after]),
        prefers=_both(first.prefers, second.prefers),
        running_on=_both(first.running_on, second.running_on),
        started_at_ms=_both(first.started_at_ms, second.started_at_ms),
        edge_bytes=_both(first.edge_bytes, second.edge_bytes),
        input_bytes=_both(first.input_bytes, second.input_bytes),
    )


def new_rows(chosen: Mask) -> npt.NDArray[np.int64]:
    """The row that each of the chosen gets; of the others, that of the last chosen before them."""
    rows: npt.NDArray[np.int64] = np.cumsum(chosen) - 1
    return rows


def renumbered(numbers: Array, new: npt.NDArray[np.int64], chosen: Mask) -> npt.NDArray[np.int32]:
    """New rows in place of old ones; GONE stays, and so become those that are not chosen."""
    there = numbers >= 0
    there[there] = chosen[numbers[there]]
    found = np.full(len(numbers), GONE, np.int32)
    found[there] = new[numbers[there]]
    return found


def _used_segments(segments: Array, tasks: Array) -> Array:
    """The segments of these tasks; their `first_segment` is brought up to date."""
    keep = segments_of(segments, tasks["first_segment"])
    known = tasks["first_segment"] != NO_SEGMENTS
    tasks["first_segment"][known] = new_rows(keep)[tasks["first_segment"][known]]
    kept: Array = segments[keep]
    return kept


def _set_starts(jobs: Array, stages: Array) -> None:
    """Where the parts of each begin, now that they follow each other."""
    for starts, counts in (
        (jobs["first_stage"], jobs["n_stages"]),
        (jobs["first_after"], jobs["n_after"]),
        (stages["first_task"], stages["n_tasks"]),
        (stages["first_after"], stages["n_after"]),
    ):
        starts[:] = np.cumsum(counts, dtype=np.int64) - counts


def _chosen(column: Array | None, mask: Mask) -> Array | None:
    return None if column is None else column[mask]


def _both(first: Array | None, second: Array | None) -> Array | None:
    return None if first is None or second is None else np.concatenate([first, second])
