"""The critical paths of a workload on an idle cluster: how early each stage can begin, and what must follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.best_possible.alone import longest_path_ms
from heddle.model.cluster import Cluster
from heddle.model.compilable import callable_too
from heddle.model.loops import Loop
from heddle.model.workload import AM, INNER, TASKS, Workload

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Paths:
    """By stage or by job; instants and lengths in ms. Heads and tails are lower bounds."""

    fastest: float  # speed of the fastest node, 1 = normal
    stage_sum_ms: Floats  # work of all its tasks on the fastest node
    stage_squares_ms2: Floats  # their squares, summed up
    head_ms: Floats  # no container of the stage does counted work before this instant
    tail_ms: Floats  # between the end of any of its tasks and the end of its job lies at least this
    job_path_ms: Floats  # the job's longest path, from its arrival
    job_end_ms: Floats  # the instant before which it cannot be done, jobs it depends on included


def paths(workload: Workload, cluster: Cluster) -> Paths:
    """The paths; an early stage (slow start) may launch, and so hold, from its job's begin on."""
    stages, jobs = workload.stages, workload.jobs
    fastest = max((node.speed_permille for node in cluster.nodes), default=1000) / 1000
    stage_of = np.repeat(np.arange(len(stages)), stages["n_tasks"])
    task_ms = (workload.tasks["duration_ms"] + stages["shuffle_ms"][stage_of]) / fastest
    works = np.isin(stages["kind"], (TASKS, INNER))
    task_ms = np.where(works[stage_of], np.floor(task_ms), 0.0)
    sums: Floats = np.bincount(stage_of, task_ms, len(stages)).astype(np.float64)
    squares: Floats = np.bincount(stage_of, task_ms**2, len(stages)).astype(np.float64)
    longest = np.zeros(len(stages))
    np.maximum.at(longest, stage_of, task_ms)

    launch = float(cluster.timing.launch_ms)
    job_path = longest_path_ms(workload, cluster).astype(np.float64)
    arrival = _arrivals(workload, job_path)
    begin = np.where(jobs["has_am"] == 1, launch + cluster.timing.am_start_ms, 0.0)
    start = arrival + begin
    head = np.where(stages["kind"] == AM, arrival[stages["job"]], start[stages["job"]])
    tail = np.zeros(len(stages))
    jobs_with_order = np.unique(stages["job"][stages["n_after"] > 0])
    done = np.empty(int(jobs["n_stages"].max(initial=0)))
    _walk(jobs_with_order, jobs, stages, workload.stage_after, works, start, launch, longest, done, head, tail)
    return Paths(fastest, sums, squares, head, tail, job_path, arrival + job_path)


@Loop
def _walk(
    jobs_with_order: npt.NDArray[Any],
    jobs: npt.NDArray[Any],
    stages: npt.NDArray[Any],
    stage_after: npt.NDArray[Any],
    works: npt.NDArray[np.bool_],
    start: Floats,
    launch: float,
    longest: Floats,
    done: Floats,
    head: Floats,
    tail: Floats,
) -> None:
    """Heads and tails of the working stages of these jobs, which may stand in any order: repeat until nothing grows.

    `done` is room for the stages of one job.
    """
    for job in jobs_with_order:
        first, end = jobs["first_stage"][job], jobs["first_stage"][job] + jobs["n_stages"][job]
        done[:] = start[job]
        grew = True
        while grew:
            grew = False
            for stage in range(first, end):
                if not works[stage]:
                    continue
                ready = start[job]
                for i in range(stages["first_after"][stage], stages["first_after"][stage] + stages["n_after"][stage]):
                    ready = max(ready, done[stage_after[i] - first])
                head[stage] = start[job] if stages["slow_start_permille"][stage] >= 0 else ready
                takes = _takes(stages, longest, launch, stage)
                if ready + takes > done[stage - first]:
                    done[stage - first] = ready + takes
                    grew = True
        grew = True
        while grew:
            grew = False
            for stage in range(first, end):
                if not works[stage]:
                    continue
                follows = _takes(stages, longest, launch, stage) + tail[stage]
                for i in range(stages["first_after"][stage], stages["first_after"][stage] + stages["n_after"][stage]):
                    if follows > tail[stage_after[i]]:
                        tail[stage_after[i]] = follows
                        grew = True


@callable_too
def _takes(stages: npt.NDArray[Any], longest: Floats, launch: float, stage: int) -> float:
    """How long a stage takes when it may begin; what may launch before that does."""
    launched = stages["kind"][stage] == INNER or stages["slow_start_permille"][stage] >= 0
    return float(longest[stage] + (0.0 if launched or stages["n_tasks"][stage] == 0 else launch))


def _arrivals(workload: Workload, job_path: Floats) -> Floats:
    """When each job can arrive at the earliest: at its submission, and after the jobs it depends on."""
    arrival = workload.jobs["submit_at_ms"].astype(np.float64)
    dependent = np.flatnonzero(workload.jobs["n_after"] > 0)
    _delay(dependent, workload.jobs, workload.job_after, job_path, arrival)
    return arrival


@Loop
def _delay(
    dependent: npt.NDArray[Any], jobs: npt.NDArray[Any], job_after: npt.NDArray[Any], job_path: Floats, arrival: Floats
) -> None:
    grew = True
    while grew:
        grew = False
        for job in dependent:
            for i in range(jobs["first_after"][job], jobs["first_after"][job] + jobs["n_after"][job]):
                ready = arrival[job_after[i]] + job_path[job_after[i]]
                if ready > arrival[job]:
                    arrival[job] = ready
                    grew = True
