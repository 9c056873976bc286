"""`python -m benchmarks.bounds_cost`: what lower bounds, metrics and curves add to the runs of a comparison.

CPU of four policies on two seeds of 300,000 tasks each, as `compare` computes them, against the same runs alone, in one
warm process; the best of several repetitions each.
"""

import argparse
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from heddle.experiments.compare import PlannedRun, Source, jobs_of, run_one
from heddle.run import simulate
from heddle.traces.catalogue import suggested_cluster

POLICIES: Final = ("fifo", "fair", "drf", "capacity")
SEEDS: Final = (0, 1)


class Cost(NamedTuple):
    runs_s: float
    compared_s: float

    @property
    def ratio(self) -> float:
        return self.compared_s / self.runs_s


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.bounds_cost", description=__doc__)
    options.add_argument("--tasks", type=int, default=300_000)
    options.add_argument("--repetitions", type=int, default=3)
    chosen = options.parse_args()
    cost = measure(chosen.tasks, chosen.repetitions)
    print(f"runs alone {cost.runs_s:.2f} s, compared {cost.compared_s:.2f} s: {cost.ratio:.2f}x")


def measure(tasks: int, repetitions: int) -> Cost:
    workload = f"bench(tasks={tasks}, load=0.8)"
    plan = [
        PlannedRun(Source(workload), suggested_cluster(workload), policy, seed, is_baseline=policy == POLICIES[0])
        for seed in SEEDS
        for policy in POLICIES
    ]
    runs_s = compared_s = float("inf")
    for once in plan:
        _alone(once)  # compiles, and fills caches
    for _ in range(repetitions):
        runs_s = min(runs_s, sum(_cpu_s(_alone, planned) for planned in plan))
        compared_s = min(compared_s, sum(_cpu_s(run_one, planned) for planned in plan))
    return Cost(runs_s, compared_s)


def _alone(planned: PlannedRun) -> object:
    return simulate(jobs_of(planned.source, planned.seed), planned.cluster, planned.policy, seed=planned.seed)


def _cpu_s(once: Callable[[PlannedRun], object], planned: PlannedRun) -> float:
    """Without making the workload, which is the same for both."""
    jobs_of(planned.source, planned.seed)
    began_s = time.process_time()
    once(planned)
    return time.process_time() - began_s


if __name__ == "__main__":
    main()
