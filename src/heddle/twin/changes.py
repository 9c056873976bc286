"""What would change when an application ends: each change tried in the same futures, nothing guessed.

A change is made to a future's workload, or to the cluster; how long tasks take stays as it was drawn. So a difference
is what the change brought about, not chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.resources import MEMORY
from heddle.model.workload import AM, Workload
from heddle.twin.eta import Eta, quantile
from heddle.twin.futures import Future, Futures
from heddle.twin.known import Application, Snapshot, leaves
from heddle.twin.rollouts import Candidate, check_future, run_future

SMALLER_PERMILLE: Final = 500
DEFAULT_AM_SHARE: Final = 100  # permille, YARN's own
_PERMILLE: Final = 1000


@dataclass(frozen=True)
class Change:
    """`of_workload`: what happens to the application, which is this job of the future."""

    what: str
    of_workload: Callable[[Workload, int], Workload] | None = None
    of_cluster: Callable[[Cluster], Cluster] | None = None
    candidate: Candidate | None = None


@dataclass(frozen=True)
class Tried:
    """`sooner_ms`: 10 %, median and 90 % over futures of how much sooner it ends; below 0: later.

    An end after the horizon counts as the horizon.
    """

    what: str
    eta: Eta
    sooner_ms: tuple[float, float, float]

    @property
    def helps(self) -> bool:
        """In nine of ten futures it is no worse, and in most it is better."""
        return self.sooner_ms[0] >= 0 and self.sooner_ms[1] > 0


def usual_changes(snapshot: Snapshot, app: Application, candidates: Sequence[Candidate]) -> list[Change]:
    """Another queue, a smaller request, a larger AM share, another policy. None of them kills anything."""
    others = [leaf for leaf in leaves(snapshot.cluster) if leaf != app.queue]
    found = [Change(f"in queue {leaf}", of_workload=_moved(leaf)) for leaf in others]
    found.append(Change(f"asking for {SMALLER_PERMILLE / 10:.0f} % of the memory", of_workload=_smaller))
    share = min(_PERMILLE, 2 * am_share_of(snapshot.cluster, app.queue))
    found.append(
        Change(f"an AM share of {share / 10:.0f} % in {app.queue}", of_cluster=lambda on: _shared(on, app.queue, share))
    )
    return found + [Change(f"under {one.name}", candidate=one) for one in candidates]


def try_changes(
    snapshot: Snapshot, app: Application, changes: Sequence[Change], horizon_ms: int, n_draws: int
) -> tuple[Eta, list[Tried]] | None:
    """When it ends as things are, and with each change, the most helpful first; None: no forecast can be made of it."""
    futures = Futures(snapshot, horizon_ms, n_draws)
    number = [one.id for one in snapshot.live].index(app.id)
    if not futures.basis[number]:
        return None
    present = Candidate.of(snapshot.policy, "native")
    drawn = [futures.future(draw) for draw in range(n_draws)]
    check_future(drawn[0], snapshot.cluster, [one.candidate for one in changes if one.candidate] + [present])

    def ends(change: Change) -> list[float]:
        on = change.of_cluster(snapshot.cluster) if change.of_cluster else snapshot.cluster
        made = [_changed(future, change, number) for future in drawn]
        rolled = [run_future(one, on, change.candidate or present, horizon_ms, d) for d, one in enumerate(made)]
        return [float(one.ends[number]) for one in rolled]

    as_it_is = ends(Change(""))
    found = []
    for change in changes:
        changed = ends(change)
        sooner = [min(a, horizon_ms) - min(b, horizon_ms) for a, b in zip(as_it_is, changed, strict=True)]
        low, middle, high = (quantile(sooner, level) for level in (0.1, 0.5, 0.9))
        found.append(Tried(change.what, Eta.of(changed), (low, middle, high)))
    return Eta.of(as_it_is), sorted(found, key=lambda one: -one.sooner_ms[1])


def am_share_of(cluster: Cluster, leaf: str) -> int:
    """Permille; YARN's default where the cluster does not say."""
    told = next((queue.am_share_permille for queue in cluster.queues if queue.name == leaf), -1)
    return told if told >= 0 else DEFAULT_AM_SHARE


def _changed(future: Future, change: Change, number: int) -> Future:
    if change.of_workload is None:
        return future
    return replace(future, workload=change.of_workload(future.workload, future.job_of[number]))


def _moved(leaf: str) -> Callable[[Workload, int], Workload]:
    def move(workload: Workload, job: int) -> Workload:
        queues = workload.queues if leaf in workload.queues else (*workload.queues, leaf)
        jobs = workload.jobs.copy()
        jobs["queue"][job] = queues.index(leaf)
        return replace(workload, jobs=jobs, queues=queues)

    return move


def _smaller(workload: Workload, job: int) -> Workload:
    """Its containers but for the AM: what runs is smaller too, as if it had asked for less from the beginning."""
    stages, shapes = workload.stages.copy(), [workload.shapes]
    for stage in np.flatnonzero((stages["job"] == job) & (stages["kind"] != AM)).tolist():
        shape = workload.shapes[stages["shape"][stage]].copy()
        shape[MEMORY] = max(1, shape[MEMORY] * SMALLER_PERMILLE // _PERMILLE)
        stages["shape"][stage] = sum(map(len, shapes))
        shapes.append(shape[None, :])
    return replace(workload, stages=stages, shapes=np.concatenate(shapes))


def _shared(cluster: Cluster, leaf: str, permille: int) -> Cluster:
    queues = tuple(replace(one, am_share_permille=permille) if one.name == leaf else one for one in cluster.queues)
    return replace(cluster, queues=queues)
