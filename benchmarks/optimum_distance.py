"""`python -m benchmarks.optimum_distance`: how far `weave` is above the best schedule, beside policies that know more.

Small instances, in which tasks use what they reserve: so nobody gains by promising more than there is, and CP-SAT's
optimum, which honours reservations, is what could be had at best. Where CP-SAT cannot prove its schedule to be the best
in the time given, the distance is to the schedule that it found: `proven` counts where it could, and `lower` says how
far below its schedules the true optima may lie. The optimum waits for no heartbeat; every policy does.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

import heddle
from heddle.analysis.best_possible.optimum import Optimum, optimum
from heddle.model.cluster import Cluster
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload

INSTANCES: Final = {
    "bench(tasks=7,nodes=1,load=2)": "1x8192x4",  # single tasks of many sizes, without AMs
    "burst(jobs=3,tasks=2)": "1x6144x6",  # small jobs with AMs, all at once
    "am-storm(jobs=2,tasks=2)": "1x6144x4",  # AMs that can fill the node
}
POLICIES: Final = ("fifo", "fair", "capacity", "capacity+weave", "srpt")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.optimum_distance", description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--limit-s", type=float, default=30.0, help="for each optimum")
    chosen = options.parse_args()
    print(f"{'instance':34}{'proven':>8}{'lower':>8}" + "".join(f"{policy:>16}" for policy in POLICIES))
    for spec, nodes in INSTANCES.items():
        cluster = load_cluster(nodes)
        workloads = [as_reserved(load_workload(spec, seed)) for seed in range(chosen.seeds)]
        best = [optimum(one, cluster, "mean completion", chosen.limit_s) for one in workloads]
        proven = f"{sum(one.proven for one in best)}/{len(best)}"
        lower = fmean(100 * (1 - one.bound_s / one.value_s) if one.value_s else 100.0 for one in best)
        distances = (above(policy, workloads, cluster, best) for policy in POLICIES)
        print(f"{spec:34}{proven:>8}{lower:>6.1f} %" + "".join(f"{one:>16}" for one in distances), flush=True)


def as_reserved(workload: Workload) -> Workload:
    """The same without what tasks use: they are taken to use what they reserve."""
    tasks = workload.tasks.copy()
    tasks["first_segment"] = NO_SEGMENTS
    return replace(workload, tasks=tasks)


def above(policy: str, workloads: Sequence[Workload], cluster: Cluster, best: Sequence[Optimum]) -> str:
    """The geometric mean of mean completion over the best one's, or in how many instances the policy stalls."""
    ratios, stalled = list[float](), 0
    for workload, found in zip(workloads, best, strict=True):
        result = heddle.simulate(workload, policy, cluster)
        if result.outcome != "finished":
            stalled += 1
        elif found.value_s:
            ratios.append(result.metrics["jct_s"]["mean"] / found.value_s)
    if stalled:
        return f"stalls {stalled}/{len(workloads)}"
    return f"{100 * math.expm1(fmean(map(math.log, ratios))):+.1f} %" if ratios else "unknown"


if __name__ == "__main__":
    main()
