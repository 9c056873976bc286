"""Can application masters fill the cluster, so that no task fits beside them and nobody ever ends?

YARN limits the AMs of each leaf queue to a share of what the queue may have. The question is what these shares add up
to, and whether what is left on the nodes is enough for one task. The jobs themselves, all submitted at once, are the
proof: under the present policy they finish, or they stall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from heddle.check.present import Present
from heddle.experiments.rearrange import rearranged
from heddle.model.cluster import Queue
from heddle.model.resources import MEMORY
from heddle.model.workload import AM, Workload
from heddle.run import simulate

MOST_JOBS: Final = 2000  # that are submitted at once in the trial
_MORE: Final = 1.2  # AMs differ in size
_PERMILLE: Final = 1000
DEFAULT_SHARE: Final = {"capacity": 100, "fair": 500}  # permille, where a leaf's is not known: YARN's own


@dataclass(frozen=True)
class AmRisk:
    """`share`: what AMs may hold of the cluster's memory; `jobs`: so many at once fill that, with the AMs seen."""

    share: float
    assumed: tuple[str, ...]  # leaves whose AM share is not known
    am_mb: int  # the largest AM that is usual: nine in ten are not larger
    task_mb: int  # the largest task
    jobs: int
    possible: bool
    tried: int  # jobs that were submitted at once in a simulation; 0: none
    stalled: str  # what became of it; "" = they finished


def am_risk(workload: Workload, present: Present) -> AmRisk:
    cluster = present.cluster
    total_mb = cluster.total_allowance()[MEMORY]
    sizes = workload.shapes[workload.stages["shape"], MEMORY]
    masters = sizes[workload.stages["kind"] == AM]
    tasks = sizes[(workload.stages["kind"] != AM) & (sizes > 0)]
    am_mb = int(np.quantile(masters, 0.9)) if len(masters) else 0
    task_mb = int(tasks.max()) if len(tasks) else 0
    share, assumed = _am_share(present)
    room_mb = int(min(1.0, share) * total_mb)
    jobs = room_mb // am_mb if am_mb else 0
    # AMs fill node by node: what is left of a node beside as many of them as fit, if their share lets them be so many.
    beside = max((node.allowance[MEMORY] % am_mb for node in cluster.nodes), default=0) if am_mb else 0
    full = sum(node.allowance[MEMORY] // am_mb for node in cluster.nodes) if am_mb else 0
    possible = bool(am_mb) and jobs >= full and beside < (int(tasks.min()) if len(tasks) else 0)
    tried, stalled = 0, ""
    if possible:
        tried, stalled = _burst(workload, present, full)
    return AmRisk(share, assumed, am_mb, task_mb, full if possible else jobs, possible, tried, stalled)


def _am_share(present: Present) -> tuple[float, tuple[str, ...]]:
    """The sum over leaves of the largest share of the cluster that a leaf may have, times its AM share; and guesses."""
    by_name = {queue.name: queue for queue in present.cluster.queues}
    assumed = tuple(leaf for leaf in present.leaves if by_name[leaf].am_share_permille < 0)
    shares = {
        leaf: (DEFAULT_SHARE[present.policy] if leaf in assumed else by_name[leaf].am_share_permille) / _PERMILLE
        for leaf in present.leaves
    }
    if present.policy == "fair":  # of the fair share, which of all leaves together is the cluster
        return max(shares.values(), default=0.0), assumed
    return sum(share * _largest(leaf, by_name) for leaf, share in shares.items()), assumed


def _largest(name: str, by_name: dict[str, Queue]) -> float:
    share = 1.0
    while name:
        share *= by_name[name].maximum_permille / _PERMILLE if name in by_name else 1.0
        name = name.rpartition(".")[0]
    return share


def _burst(workload: Workload, present: Present, full: int) -> tuple[int, str]:
    """As many jobs as would fill the cluster with AMs, and a few more, all at once; the same ones again if need be."""
    count = round(_MORE * full) + 1
    if count > MOST_JOBS:
        return 0, ""
    latest = np.arange(workload.n_jobs)[-count:]
    pick, copy = np.resize(latest, count), np.arange(count) // len(latest)
    storm = rearranged(workload, pick, np.zeros(count, np.int64), copy)
    run = simulate(storm, present.cluster, present.policy)
    return count, "" if run.manifest["outcome"] == "finished" else str(run.manifest["reason"])
