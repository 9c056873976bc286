"""What no scheduler can beat: lower bounds on makespan and mean completion of a workload on a cluster.

Two kinds, kept apart because overselling beats the first:
- `reservations`: for schedulers that never promise more than the allowances. Areas are reservations x time.
- `any`: for every scheduler. Areas are true use x time over the hardware; unknown where use was not recorded.

Each is the largest of three bounds:
- area: all work of one resource, over all there is of it. For mean completion: the cluster as one fluid machine that
  serves the job with the least remaining area first, which no schedule of the real cluster beats.
- critical path: each job as fast as its longest path, as if alone (alone.py), after the jobs it depends on.
- combination. Makespan: work that cannot begin before t and is followed by a path of at least q, in between them. Mean
  completion: a job ends later than the middle of its area, by half of each task's length and by what must follow the
  task (weighted by their areas); the sum of these middles is least on a fluid machine that serves the job with the
  smallest area first and interrupts others for it (the mean busy time relaxation of Goemans et al.).

All neglect heartbeats, contention, faults and background load, which only make schedules longer. They hold for
runs in which every job finishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.best_possible.paths import Paths, paths
from heddle.analysis.best_possible.relaxations import between, busy_mean, fluid_mean, released
from heddle.model.cluster import Cluster
from heddle.model.resources import display_name
from heddle.model.workload import AM, EXECUTORS, INNER, PERMYRIAD, TASKS, Workload

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """The bounds of one kind, in seconds; None where they are not known."""

    kind: str  # reservations, any
    makespan_s: float
    mean_jct_s: float
    area_makespan_s: dict[str, float] | None  # by resource
    area_mean_jct_s: dict[str, float] | None
    path_makespan_s: float
    path_mean_jct_s: float
    combined_makespan_s: float
    combined_mean_jct_s: float

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "makespan_s": self.makespan_s,
            "mean_jct_s": self.mean_jct_s,
            "from": {
                "area": {"makespan_s": self.area_makespan_s, "mean_jct_s": self.area_mean_jct_s},
                "critical_path": {"makespan_s": self.path_makespan_s, "mean_jct_s": self.path_mean_jct_s},
                "combination": {"makespan_s": self.combined_makespan_s, "mean_jct_s": self.combined_mean_jct_s},
            },
        }


def bounds(workload: Workload, cluster: Cluster) -> tuple[Bound, Bound]:
    """The bounds of both kinds. The workload must be in the cluster's resources (traces/align.py)."""
    way = paths(workload, cluster)
    counts = [
        cluster.calculator == "dominant" or name in cluster.exclusive or r == 0
        for r, name in enumerate(cluster.resources)
    ]
    allowance = cluster.total_allowance()
    promised = {
        display_name(name): float(allowance[r])
        for r, name in enumerate(cluster.resources)
        if counts[r] and allowance[r] > 0
    }
    reserved = _reserved_areas(workload, cluster, way)
    hardware = {
        display_name(name): float(sum(node.capacity[r] for node in cluster.nodes))
        for r, name in enumerate(cluster.resources)
    }
    # Only memory and vcores are held back by the hardware itself; what else is oversold slows nothing down.
    physical = {name: amount for name, amount in list(hardware.items())[:2] if amount > 0}
    used = _used_areas(workload, way) if workload.has_use else None
    return (
        _bound("reservations", workload, way, reserved, promised),
        _bound("any", workload, way, used, physical),
    )


@dataclass(frozen=True)
class _Areas:
    """What the stages take of one resource, x ms, and how far before the end of its task that lies on average."""

    amount: Floats
    before_end: Floats  # area x ms: the areas, each times its distance to the end of its task


def _bound(
    kind: str, workload: Workload, way: Paths, areas: dict[str, _Areas] | None, available: dict[str, float]
) -> Bound:
    """From the area of each stage, by resource."""
    submit = workload.jobs["submit_at_ms"].astype(np.float64)
    first = float(submit.min()) if len(submit) else 0.0
    path_makespan = float((way.job_end_ms - first).max()) if len(submit) else 0.0
    path_mean = float((way.job_end_ms - submit).mean()) if len(submit) else 0.0
    combined, combined_mean = path_makespan, path_mean
    area_makespan: dict[str, float] = {}
    area_mean: dict[str, float] = {}

    def by_job(of_stages: Floats) -> Floats:
        return np.bincount(workload.stages["job"], of_stages, workload.n_jobs).astype(np.float64)

    for name, amount in available.items() if areas is not None else ():
        assert areas is not None
        stage_ms = areas[name].amount / amount
        job_ms = by_job(stage_ms)
        area_makespan[name] = released(submit, job_ms) - first if len(submit) else 0.0
        area_mean[name] = fluid_mean(submit, job_ms)
        combined = max(combined, between(way.head_ms, way.tail_ms, stage_ms) - first)
        lag = by_job(areas[name].before_end / amount + stage_ms * way.tail_ms) / np.where(job_ms > 0, job_ms, 1.0)
        combined_mean = max(combined_mean, busy_mean(submit, way.job_end_ms, way.job_path_ms, job_ms, lag))
    makespan = max([combined, *area_makespan.values()])
    return Bound(
        kind=kind,
        makespan_s=makespan / 1000,
        mean_jct_s=max([combined_mean, *area_mean.values()]) / 1000,
        area_makespan_s={name: ms / 1000 for name, ms in area_makespan.items()} if areas is not None else None,
        area_mean_jct_s={name: ms / 1000 for name, ms in area_mean.items()} if areas is not None else None,
        path_makespan_s=path_makespan / 1000,
        path_mean_jct_s=path_mean / 1000,
        combined_makespan_s=makespan / 1000,
        combined_mean_jct_s=combined_mean / 1000,
    )


def _reserved_areas(workload: Workload, cluster: Cluster, way: Paths) -> dict[str, _Areas]:
    """Reservation x the least time for which a stage holds it, by stage.

    An AM holds from its allocation to the job's end, at least its job's path. Executors hold at least while their
    inner tasks fill their slots; that area stands with the inner stages.
    """
    stages = workload.stages
    kind = stages["kind"]
    launch = float(cluster.timing.launch_ms)
    path_ms = way.job_path_ms[stages["job"]]
    with_launch = way.stage_squares_ms2 + 2 * launch * way.stage_sum_ms + stages["n_tasks"] * launch**2
    held_ms = np.where(kind == TASKS, way.stage_sum_ms + stages["n_tasks"] * launch, 0.0)
    held_ms = np.where(kind == AM, path_ms, held_ms)
    squares = np.where(kind == TASKS, with_launch, np.where(kind == AM, path_ms**2, 0.0))
    shape = stages["shape"].copy()
    executors = np.flatnonzero(kind == EXECUTORS)
    home = np.full(workload.n_jobs, -1)
    home[stages["job"][executors]] = executors
    inner = np.flatnonzero(kind == INNER)
    inner = inner[home[stages["job"][inner]] >= 0]
    hosts = home[stages["job"][inner]]
    slots = np.maximum(1, stages["slots"][hosts])
    held_ms[inner] = way.stage_sum_ms[inner] / slots
    squares[inner] = way.stage_squares_ms2[inner] / slots
    shape[inner] = stages["shape"][hosts]
    size = workload.shapes[shape].astype(np.float64)
    return {
        display_name(name): _Areas(held_ms * size[:, r], squares / 2 * size[:, r])
        for r, name in enumerate(cluster.resources)
    }


def _used_areas(workload: Workload, way: Paths) -> dict[str, _Areas]:
    """True use x time at full speed, by stage; memory during the shuffle included, AMs and executors left out."""
    stages, segments = workload.stages, workload.segments
    works = np.isin(stages["kind"], (TASKS, INNER))
    stage_of = np.repeat(np.arange(len(stages)), stages["n_tasks"])
    tasks = np.flatnonzero(works[stage_of])
    first = workload.tasks["first_segment"][tasks].astype(np.int64)
    duration = workload.tasks["duration_ms"][tasks].astype(np.float64)
    shuffle = stages["shuffle_ms"][stage_of[tasks]].astype(np.float64)
    names = [display_name(name) for name in workload.resources]
    area = {name: np.zeros(len(tasks)) for name in names}
    moment = {name: np.zeros(len(tasks)) for name in names}
    area[names[0]] += segments["use"][first, 0] * shuffle
    moment[names[0]] += segments["use"][first, 0] * shuffle * (duration + shuffle / 2)
    before = np.zeros(len(tasks))
    alive, at = np.arange(len(tasks)), first
    while len(alive):  # the k-th segment of all tasks that have one
        share = (segments["until_permyriad"][at] - before[alive]) / PERMYRIAD
        to_end = 1 - (segments["until_permyriad"][at] + before[alive]) / 2 / PERMYRIAD  # from the segment's middle
        for r, name in enumerate(names):
            piece = segments["use"][at, r] * duration[alive] * share
            area[name][alive] += piece
            moment[name][alive] += piece * duration[alive] * to_end
        before[alive] = segments["until_permyriad"][at]
        more = segments["last"][at] == 0
        alive, at = alive[more], at[more] + 1

    def by_stage(values: Floats) -> Floats:
        return np.bincount(stage_of[tasks], values, len(stages)).astype(np.float64)

    return {name: _Areas(by_stage(area[name] / way.fastest), by_stage(moment[name] / way.fastest**2)) for name in names}
