"""What no scheduler can beat: lower bounds on makespan and mean completion of a workload on a cluster.

Two kinds, kept apart because overselling beats the first:
- `reservations`: for schedulers that never promise more than the allowances. Areas are reservations x time.
- `any`: for every scheduler. Areas are true use x time over the hardware; unknown where use was not recorded.

Each is the largest of three bounds:
- area: all work of one resource, over all there is of it. For mean completion: the cluster as one fluid machine that
  serves the job with the least remaining area first, which no schedule of the real cluster beats.
- critical path: each job as fast as its longest path, as if alone (analysis/alone.py), after the jobs it depends on.
- combination (makespan): work that cannot begin before t and is followed by a path of at least q, in between them.

All neglect heartbeats, contention, faults and background load, which only make schedules longer. They hold for
runs in which every job finishes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.analysis.paths import Paths, paths
from heddle.model.cluster import Cluster
from heddle.model.resources import display_name
from heddle.model.workload import AM, EXECUTORS, INNER, PERMYRIAD, TASKS, Workload

Floats = npt.NDArray[np.float64]

_STEPS: Final = 64  # thresholds tried for heads and for tails; each gives a true bound


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

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "makespan_s": self.makespan_s,
            "mean_jct_s": self.mean_jct_s,
            "from": {
                "area": {"makespan_s": self.area_makespan_s, "mean_jct_s": self.area_mean_jct_s},
                "critical_path": {"makespan_s": self.path_makespan_s, "mean_jct_s": self.path_mean_jct_s},
                "combination": {"makespan_s": self.combined_makespan_s},
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


def _bound(
    kind: str, workload: Workload, way: Paths, areas: dict[str, Floats] | None, available: dict[str, float]
) -> Bound:
    """From the area of each stage, by resource."""
    submit = workload.jobs["submit_at_ms"].astype(np.float64)
    first = float(submit.min()) if len(submit) else 0.0
    path_makespan = float((way.job_end_ms - first).max()) if len(submit) else 0.0
    path_mean = float((way.job_end_ms - submit).mean()) if len(submit) else 0.0
    combined = path_makespan
    area_makespan: dict[str, float] = {}
    area_mean: dict[str, float] = {}
    for name, amount in available.items() if areas is not None else ():
        assert areas is not None
        stage_ms = areas[name] / amount
        job_ms: Floats = np.bincount(workload.stages["job"], stage_ms, workload.n_jobs).astype(np.float64)
        area_makespan[name] = _released(submit, job_ms) - first if len(submit) else 0.0
        area_mean[name] = _fluid_mean(submit, job_ms)
        combined = max(combined, _between(way.head_ms, way.tail_ms, stage_ms) - first)
    makespan = max([combined, *area_makespan.values()])
    return Bound(
        kind=kind,
        makespan_s=makespan / 1000,
        mean_jct_s=max([path_mean, *area_mean.values()]) / 1000,
        area_makespan_s={name: ms / 1000 for name, ms in area_makespan.items()} if areas is not None else None,
        area_mean_jct_s={name: ms / 1000 for name, ms in area_mean.items()} if areas is not None else None,
        path_makespan_s=path_makespan / 1000,
        path_mean_jct_s=path_mean / 1000,
        combined_makespan_s=makespan / 1000,
    )


def _reserved_areas(workload: Workload, cluster: Cluster, way: Paths) -> dict[str, Floats]:
    """Reservation x the least time for which a stage holds it, by stage.

    An AM holds from its allocation to the job's end, at least its job's path. Executors hold at least while their
    inner tasks fill their slots; that area stands with the inner stages.
    """
    stages = workload.stages
    kind = stages["kind"]
    held_ms = np.where(kind == TASKS, way.stage_sum_ms + stages["n_tasks"] * float(cluster.timing.launch_ms), 0.0)
    held_ms = np.where(kind == AM, way.job_path_ms[stages["job"]], held_ms)
    shape = stages["shape"].copy()
    executors = np.flatnonzero(kind == EXECUTORS)
    home = np.full(workload.n_jobs, -1)
    home[stages["job"][executors]] = executors
    inner = np.flatnonzero(kind == INNER)
    inner = inner[home[stages["job"][inner]] >= 0]
    hosts = home[stages["job"][inner]]
    held_ms[inner] = way.stage_sum_ms[inner] / np.maximum(1, stages["slots"][hosts])
    shape[inner] = stages["shape"][hosts]
    return {
        display_name(name): held_ms * workload.shapes[shape, r].astype(np.float64)
        for r, name in enumerate(cluster.resources)
    }


def _used_areas(workload: Workload, way: Paths) -> dict[str, Floats]:
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
    area[names[0]] += segments["use"][first, 0] * shuffle
    before = np.zeros(len(tasks))
    alive, at = np.arange(len(tasks)), first
    while len(alive):  # the k-th segment of all tasks that have one
        share = (segments["until_permyriad"][at] - before[alive]) / PERMYRIAD
        for r, name in enumerate(names):
            area[name][alive] += segments["use"][at, r] * duration[alive] * share
        before[alive] = segments["until_permyriad"][at]
        more = segments["last"][at] == 0
        alive, at = alive[more], at[more] + 1
    return {
        name: np.bincount(stage_of[tasks], values / way.fastest, len(stages)).astype(np.float64)
        for name, values in area.items()
    }


def _released(release: Floats, work_ms: Floats) -> float:
    """When a machine that does one ms of work per ms, and none before its release, can be done at the earliest."""
    order = np.argsort(-release, kind="stable")
    return float((release[order] + np.cumsum(work_ms[order])).max())


def _fluid_mean(submit: Floats, work_ms: Floats) -> float:
    """The least mean completion on one machine that may interrupt: least remaining work first is optimal."""
    if len(submit) == 0:
        return 0.0
    order = np.argsort(submit, kind="stable")
    waiting: list[tuple[float, float]] = []  # remaining work, submission
    now, total, nxt = 0.0, 0.0, 0
    arrivals, work = submit[order].tolist(), work_ms[order].tolist()
    while waiting or nxt < len(arrivals):
        if not waiting:
            now = max(now, arrivals[nxt])
        while nxt < len(arrivals) and arrivals[nxt] <= now:
            heapq.heappush(waiting, (work[nxt], arrivals[nxt]))
            nxt += 1
        remaining, since = heapq.heappop(waiting)
        until = arrivals[nxt] if nxt < len(arrivals) else np.inf
        if now + remaining <= until:
            now += remaining
            total += now - since
        else:
            heapq.heappush(waiting, (remaining - (until - now), since))
            now = until
    return total / len(submit)


def _between(head_ms: Floats, tail_ms: Floats, work_ms: Floats) -> float:
    """max over t, q of t + (work whose head >= t and whose tail >= q) + q, over a grid of thresholds."""
    if not work_ms.any():
        return 0.0
    heads = np.unique(np.quantile(head_ms, np.linspace(0, 1, _STEPS), method="lower"))
    tails = np.unique(np.quantile(tail_ms, np.linspace(0, 1, _STEPS), method="lower"))
    table = np.zeros((len(heads), len(tails)))
    rows = np.searchsorted(heads, head_ms, side="right") - 1
    columns = np.searchsorted(tails, tail_ms, side="right") - 1
    np.add.at(table, (rows, columns), work_ms)
    at_least = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    total = np.where(at_least > 0, heads[:, None] + at_least + tails[None, :], 0.0)
    return float(total.max())
