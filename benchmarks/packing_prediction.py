"""What the simulator expects of a trial of HaSTE: `python -m benchmarks.packing_prediction [WORKLOAD]`.

The jobs are those that `heddle yarn trial WORKLOAD` replays with seed 0; seeds of runs move heartbeats only.
"""

from __future__ import annotations

import sys
from statistics import fmean
from typing import Final

from heddle.analysis.certainty.student import t_interval
from heddle.analysis.measures.idle_reduces import idle_reduces_gb_h
from heddle.analysis.measures.metrics import run_metrics
from heddle.run import Executor, simulate
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload

WORKLOAD: Final = "memory-and-cpu(jobs=6,gap_s=2,task_s=12)"
CLUSTER: Final = "examples/yarn/twelve-nodes-cluster.yaml"
POLICIES: Final = ("capacity", "capacity+leaf-order(default=fair)", "drf", "ffd-dp", "haste", "haste-a")
SEEDS: Final = range(10)


def predicted(workload: str, policy: str, executor: Executor) -> tuple[list[float], list[float], list[float]]:
    """Makespans and mean completion times in s, idle reduces in GB x min, by seed."""
    jobs, cluster = load_workload(workload), load_cluster(CLUSTER)
    makespans, completions, idle = [], [], []
    for seed in SEEDS:
        run = simulate(jobs, cluster, policy, seed=seed, executor=executor)
        metrics = run_metrics(run)
        makespans.append(metrics["makespan_s"])
        completions.append(metrics["jct_s"]["mean"])
        idle.append(60 * idle_reduces_gb_h(run))
    return makespans, completions, idle


def _shown(values: list[float]) -> str:
    low, high = t_interval(values) or (values[0], values[0])
    return f"{fmean(values):6.1f} [{low:.1f}, {high:.1f}]"


def main() -> None:
    workload = sys.argv[1] if len(sys.argv) > 1 else WORKLOAD
    print(f"{workload} on {CLUSTER}, {len(SEEDS)} seeds")
    print(f"{'policy':36} {'executor':8} {'makespan (s)':24} {'completion (s)':24} idle reduces (GB min)")
    executors: tuple[Executor, ...] = ("bridge", "native")
    for policy in POLICIES:
        for executor in executors:
            print(f"{policy:36} {executor:8}", *(f"{_shown(one):24}" for one in predicted(workload, policy, executor)))


if __name__ == "__main__":
    main()
