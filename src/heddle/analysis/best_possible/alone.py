"""The time a job would take alone on the empty cluster: a lower bound, the denominator of slowdown.

The larger of two bounds, in whole milliseconds:
- the longest path through its stages: AM launch and start, then for each stage launch, shuffle and its longest task.
  A stage that may start early (slow start below 1000 permille) can have its containers launched while it waits, so
  that the launch counts only from the job's begin. Inner tasks need no launch of their own, but wait for that of
  the executors; and n executors of s slots cannot do their work in less than its sum over n * s;
- its reserved area over the sum of allowances, for the resource where this is longest. Task containers count from
  launch to end; executors count with what their inner tasks need of their slots. What AMs and idle executors hold
  depends on how long the job runs and is left out, which keeps the bound low.
Work runs at the speed of the fastest node. Heartbeats, jobs that come before, and contention are not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.compilable import callable_too
from heddle.model.loops import Loop
from heddle.model.workload import EXECUTORS, INNER, TASKS, Workload

_FULL_SPEED = 1000
_ALL_BEFORE = 1000  # slow start, in permille, that waits for every predecessor


def alone_ms(workload: Workload, cluster: Cluster) -> npt.NDArray[np.int64]:
    """For each job, the lower bound of its time alone on the empty cluster."""
    return _bound_ms(workload, cluster, np.array(cluster.total_allowance(), dtype=np.float64))


def longest_path_ms(workload: Workload, cluster: Cluster) -> npt.NDArray[np.int64]:
    """The first of the two bounds alone, which holds even where more is promised than allowed."""
    return _bound_ms(workload, cluster, np.zeros(len(cluster.resources)))


def _bound_ms(workload: Workload, cluster: Cluster, allowance: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """With an allowance of 0 the area of that resource is not looked at."""
    out = np.zeros(workload.n_jobs, dtype=np.int64)
    if workload.n_jobs == 0:
        return out
    most_stages = int(workload.jobs["n_stages"].max())
    _fill(
        workload.jobs,
        workload.stages,
        workload.tasks,
        workload.stage_after,
        workload.shapes,
        allowance,
        cluster.timing.launch_ms,
        cluster.timing.am_start_ms,
        max((node.speed_permille for node in cluster.nodes), default=_FULL_SPEED),
        np.zeros(most_stages, dtype=np.int64),
        np.zeros(most_stages, dtype=np.int64),
        np.zeros(len(cluster.resources), dtype=np.float64),
        out,
    )
    return out


@Loop
def _fill(
    jobs: npt.NDArray[Any],
    stages: npt.NDArray[Any],
    tasks: npt.NDArray[Any],
    stage_after: npt.NDArray[np.int32],
    shapes: npt.NDArray[np.int64],
    allowance: npt.NDArray[np.float64],
    launch_ms: int,
    am_start_ms: int,
    speed_permille: int,
    work_ms: npt.NDArray[np.int64],
    done_at_ms: npt.NDArray[np.int64],
    area: npt.NDArray[np.float64],
    out: npt.NDArray[np.int64],
) -> None:
    """Fill `out`. The three before it are room for one job; areas are floats: exact to 2**53, and they never wrap."""
    for j in range(len(jobs)):
        begin_ms = launch_ms + am_start_ms if jobs["has_am"][j] else 0
        first = jobs["first_stage"][j]
        end = first + jobs["n_stages"][j]

        executors = -1
        for s in range(first, end):
            if stages["kind"][s] == EXECUTORS:
                executors = s

        for r in range(len(area)):
            area[r] = 0.0
        inner_ms = 0.0
        for s in range(first, end):
            kind = stages["kind"][s]
            n_tasks = stages["n_tasks"][s]
            work_ms[s - first] = 0
            if n_tasks == 0 or (kind != TASKS and kind != INNER):
                continue
            sum_ms = 0.0
            first_task = stages["first_task"][s]
            for t in range(first_task, first_task + n_tasks):
                task_ms = (tasks["duration_ms"][t] + stages["shuffle_ms"][s]) * 1000 // speed_permille
                work_ms[s - first] = max(work_ms[s - first], task_ms)
                sum_ms += task_ms
            if kind == TASKS:
                for r in range(len(area)):
                    area[r] += shapes[stages["shape"][s], r] * (sum_ms + float(n_tasks) * launch_ms)
            else:
                inner_ms += sum_ms
        if executors >= 0:
            for r in range(len(area)):
                area[r] += shapes[stages["shape"][executors], r] * inner_ms / stages["slots"][executors]

        longest_ms = float(_longest_path(stages, stage_after, first, end, begin_ms, launch_ms, work_ms, done_at_ms))
        if inner_ms > 0 and executors >= 0:
            slots = float(stages["n_tasks"][executors]) * stages["slots"][executors]
            longest_ms = max(longest_ms, begin_ms + launch_ms + inner_ms / slots)
        for r in range(len(area)):
            if allowance[r] > 0:
                longest_ms = max(longest_ms, area[r] / allowance[r])
        out[j] = np.int64(np.ceil(longest_ms))


@callable_too
def _longest_path(
    stages: npt.NDArray[Any],
    stage_after: npt.NDArray[np.int32],
    first: int,
    end: int,
    begin_ms: int,
    launch_ms: int,
    work_ms: npt.NDArray[np.int64],
    done_at_ms: npt.NDArray[np.int64],
) -> int:
    """When the last of a job's stages can be done. Stages may stand in any order: repeat until no path grows."""
    for s in range(end - first):
        done_at_ms[s] = begin_ms
    latest = begin_ms
    grew = True
    while grew:
        grew = False
        for s in range(first, end):
            kind = stages["kind"][s]
            if kind != TASKS and kind != INNER:
                continue
            before_ms = begin_ms
            for a in range(stages["first_after"][s], stages["first_after"][s] + stages["n_after"][s]):
                before_ms = max(before_ms, done_at_ms[stage_after[a] - first])
            if stages["n_tasks"][s] == 0:
                ready_ms = before_ms
            elif kind == INNER or 0 <= stages["slow_start_permille"][s] < _ALL_BEFORE:
                ready_ms = max(before_ms, begin_ms + launch_ms)
            else:
                ready_ms = before_ms + launch_ms
            done = ready_ms + work_ms[s - first]
            if done > done_at_ms[s - first]:
                done_at_ms[s - first] = done
                latest = max(latest, done)
                grew = True
    return latest
