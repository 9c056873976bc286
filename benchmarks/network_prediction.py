"""What the simulator expects of the trial of network-aware placement: `python -m benchmarks.network_prediction`.

The jobs are those that `heddle yarn trial examples/yarn/data-dags.csv` replays, on six nodes whose links have one of
three rates. Stock YARN by knobs, the others through the bridge, as the trial is steered; and natively, which is what
they would do inside YARN with nothing late or unseen. Seeds move heartbeats only.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import fmean
from typing import Final

from heddle.analysis.certainty.student import t_interval
from heddle.analysis.measures.metrics import run_metrics
from heddle.model.cluster import Cluster
from heddle.run import Executor, simulate
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload

WORKLOAD: Final = "examples/yarn/data-dags.csv"
CLUSTER: Final = "examples/yarn/six-hosts-cluster.yaml"
RATES_MBPS: Final = (100, 50, 25)
RUNS: Final[tuple[tuple[str, Executor], ...]] = (
    ("capacity", "yarn-knobs"),
    ("capacity+network-aware", "bridge"),
    ("capacity+network-aware", "native"),
    ("capacity+network-aware(by=fetch)", "bridge"),
    ("capacity+network-aware(by=fetch)", "native"),
    ("capacity+network-aware(busy_s=20)", "bridge"),  # one transfer does not make a node busy, whatever the rate
    ("capacity+network-aware(busy_s=20)", "native"),
)
SEEDS: Final = range(10)


def with_links_of(cluster: Cluster, mbps: int) -> Cluster:
    return replace(cluster, nodes=tuple(replace(node, bandwidth_mbps=mbps) for node in cluster.nodes))


def predicted(policy: str, executor: Executor, cluster: Cluster) -> list[list[float]]:
    """Makespans and mean completion times in s, MB moved between nodes and the share of CPU in use, by seed."""
    jobs, found = load_workload(WORKLOAD), []
    for seed in SEEDS:
        metrics = run_metrics(simulate(jobs, cluster, policy, seed=seed, executor=executor))
        moved_mb, cpu = 1000 * metrics["network"]["moved_gb"], metrics["utilisation"]["vcores"]["used"]
        found.append([metrics["makespan_s"], metrics["jct_s"]["mean"], moved_mb, 100 * cpu])
    return [list(values) for values in zip(*found, strict=True)]


def _shown(values: list[float]) -> str:
    low, high = t_interval(values) or (values[0], values[0])
    digits = 1 if high >= 1 else 3
    return f"{fmean(values):7.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def main() -> None:
    rates = [int(rate) for rate in sys.argv[1:]] or RATES_MBPS
    print(f"{WORKLOAD} on {CLUSTER}, {len(SEEDS)} seeds")
    columns = ("makespan (s)", "completion (s)", "moved (MB)", "CPU use (%)")
    print(f"{'Mbit/s':7} {'policy':34} {'executor':10}", *(f"{column:24}" for column in columns))
    for rate in rates:
        cluster = with_links_of(load_cluster(CLUSTER), rate)
        for policy, executor in RUNS:
            shown = (f"{_shown(values):24}" for values in predicted(policy, executor, cluster))
            print(f"{rate:<7} {policy:34} {executor:10}", *shown, flush=True)


if __name__ == "__main__":
    main()
