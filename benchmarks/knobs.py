"""`python -m benchmarks.knobs`: what a run driven by knobs costs, against the same run by the engine itself.

CPU of a whole `simulate` on `mix` in a warm process, both ways in turn, the best of several repetitions each, so that
the ratio holds on a busy machine too. A tick is one look of the policy outside: what it costs is the CPU beyond a run
of stock YARN alone, divided by the ticks.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from heddle.model.cluster import Cluster, Queue
from heddle.model.workload import Workload
from heddle.run import Executor, simulate
from heddle.stock_yarn.outside import DEFAULT_POLL_MS
from heddle.traces.catalogue import make_workload, suggested_cluster

SEED: Final = 1
POOLS: Final = (Queue("root.pool-0", 900), Queue("root.pool-1", 100))
POLICIES: Final = ("capacity+usage-feedback", "capacity+admission-control", "dress")


class Cost(NamedTuple):
    native_ms: float
    knobs_ms: float
    ticks: int
    tick_ms: float

    @property
    def ratio(self) -> float:
        return self.knobs_ms / self.native_ms


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.knobs", description=__doc__)
    options.add_argument("--repetitions", type=int, default=10)
    options.add_argument("--policy", action="append", help=f"default: {', '.join(POLICIES)}")
    chosen = options.parse_args()
    print(f"{'CPU ms':34}{'native':>10}{'knobs':>10}{'ratio':>8}{'ticks':>8}{'a tick':>10}")
    for policy in chosen.policy or POLICIES:
        cost = measure(policy, chosen.repetitions)
        figures = f"{cost.native_ms:10.1f}{cost.knobs_ms:10.1f}{cost.ratio:8.2f}{cost.ticks:8}{cost.tick_ms:10.3f}"
        print(f"{policy:34}{figures}")


def measure(policy: str, repetitions: int) -> Cost:
    workload, cluster = make_workload("mix", SEED), suggested_cluster("mix")
    if policy.startswith("dress"):
        cluster = replace(cluster, queues=(cluster.queues[0], *POOLS, *cluster.queues[1:]))
    runs = {
        "native": lambda: run(workload, cluster, policy, "native"),
        "knobs": lambda: run(workload, cluster, policy, "yarn-knobs"),
        "stock": lambda: run(workload, cluster, "capacity", "yarn-knobs"),
    }
    for once in runs.values():
        once()  # compiles, and fills caches
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repetitions):
        for name, once in runs.items():
            best[name] = min(best[name], cpu_ms(once))
    driven = runs["knobs"]()
    ended_at_ms = int(driven.jobs["ended_at_ms"].max())
    ticks = ended_at_ms // (cluster.observation.poll_ms or DEFAULT_POLL_MS) + 1
    return Cost(best["native"], best["knobs"], ticks, (best["knobs"] - best["stock"]) / ticks)


def run(workload: Workload, cluster: Cluster, policy: str, executor: Executor) -> Any:
    return simulate(workload, cluster, policy, seed=SEED, executor=executor)


def cpu_ms(function: Callable[[], Any]) -> float:
    began = time.process_time()
    function()
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    main()
