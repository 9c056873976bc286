"""The critical paths of a workload on an idle cluster: how early each stage can begin, and what must follow it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heddle.analysis.best_possible.alone import longest_path_ms
from heddle.model.cluster import Cluster
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
    for job in np.unique(stages["job"][stages["n_after"] > 0]).tolist():
        first = int(jobs["first_stage"][job])
        numbers = [stage for stage in range(first, first + int(jobs["n_stages"][job])) if works[stage]]
        _walk(workload, numbers, start[job], launch, longest, head, tail)
    return Paths(fastest, sums, squares, head, tail, job_path, arrival + job_path)


def _walk(
    workload: Workload, numbers: list[int], start: float, launch: float, longest: Floats, head: Floats, tail: Floats
) -> None:
    """Heads and tails of one job's working stages, which may stand in any order: repeat until nothing grows."""
    stages = workload.stages
    before: dict[int, list[int]] = {}
    takes: dict[int, float] = {}
    for stage in numbers:
        first = int(stages["first_after"][stage])
        before[stage] = workload.stage_after[first : first + int(stages["n_after"][stage])].tolist()
        launched = stages["kind"][stage] == INNER or stages["slow_start_permille"][stage] >= 0
        takes[stage] = longest[stage] + (0.0 if launched or not stages["n_tasks"][stage] else launch)
    done = dict.fromkeys(numbers, start)
    grew = True
    while grew:
        grew = False
        for stage, earlier in before.items():
            ready = max([start, *(done[one] for one in earlier)])
            head[stage] = start if stages["slow_start_permille"][stage] >= 0 else ready
            if ready + takes[stage] > done[stage]:
                done[stage] = ready + takes[stage]
                grew = True
    grew = True
    while grew:
        grew = False
        for stage, earlier in before.items():
            for one in earlier:
                if takes[stage] + tail[stage] > tail[one]:
                    tail[one] = takes[stage] + tail[stage]
                    grew = True


def _arrivals(workload: Workload, job_path: Floats) -> Floats:
    """When each job can arrive at the earliest: at its submission, and after the jobs it depends on."""
    jobs = workload.jobs
    arrival = jobs["submit_at_ms"].astype(np.float64)
    dependent = np.flatnonzero(jobs["n_after"] > 0).tolist()
    grew = bool(dependent)
    while grew:
        grew = False
        for job in dependent:
            first = int(jobs["first_after"][job])
            earlier = workload.job_after[first : first + int(jobs["n_after"][job])]
            ready = float((arrival[earlier] + job_path[earlier]).max())
            if ready > arrival[job]:
                arrival[job] = ready
                grew = True
    return arrival
