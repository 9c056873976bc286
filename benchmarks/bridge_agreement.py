"""`python -m benchmarks.bridge_agreement [WORKLOAD ...]`: policies through the simulated bridge against themselves.

Both are simulated with the same seeds on the cluster that comes with the workload. Against `native`, what is between
them is the price of deciding from outside: looks, latency, terms as old as the table, and what nobody tells. Against
`yarn-knobs` it is what the bridge adds to the knobs that every YARN has.
"""

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heddle.analysis.certainty.student import t_interval
from heddle.cli.inputs import cluster_for, workload_for
from heddle.policy.parse import parse_policy
from heddle.run import Executor, simulate

POLICIES = ("capacity+ffd-dp", "capacity+haste", "capacity+haste-a")
SEEDS = 5


@dataclass(frozen=True)
class Agreement:
    """Bridge / the other - 1, of each seed."""

    makespan: Sequence[float]
    completion: Sequence[float]  # of jobs, the mean

    def cells(self) -> list[str]:
        return [_cell(self.makespan), _cell(self.completion)]


def agreement(workload: str, cluster_name: str | None, policy: str, seeds: int, against: Executor) -> Agreement:
    makespans, completions = [], []
    for seed in range(seeds):
        loaded, cluster = workload_for(workload, seed), cluster_for(workload, cluster_name)
        executors: tuple[Executor, Executor] = (against, "bridge")
        runs = [simulate(loaded, cluster, parse_policy(policy), seed=seed, executor=one).jobs for one in executors]
        sides = [
            (
                jobs["ended_at_ms"].max() - jobs["submit_at_ms"].min(),
                (jobs["ended_at_ms"] - jobs["submit_at_ms"]).mean(),
            )
            for jobs in runs
        ]
        makespans.append(sides[1][0] / sides[0][0] - 1)
        completions.append(sides[1][1] / sides[0][1] - 1)
    return Agreement(makespans, completions)


def _cell(values: Sequence[float]) -> str:
    ends = t_interval(list(values))
    half = "" if ends is None else f" +- {50 * (ends[1] - ends[0]):.1f}"
    return f"{100 * statistics.fmean(values):+.1f} %{half}"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.bridge_agreement", description=__doc__)
    options.add_argument("workloads", nargs="*", default=["mix"])
    options.add_argument("--cluster", help="instead of what comes with the workload")
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--policy", action="append", help=f"default: {', '.join(POLICIES)}")
    options.add_argument("--against", choices=("native", "yarn-knobs"), default="native")
    chosen = options.parse_args()
    print("| workload | policy | makespan | mean completion |\n|---|---|---|---|")
    for workload in chosen.workloads:
        for policy in chosen.policy or POLICIES:
            found = agreement(workload, chosen.cluster, policy, chosen.seeds, chosen.against)
            print("|", " | ".join([Path(workload).name, policy, *found.cells()]), "|", flush=True)


if __name__ == "__main__":
    main()
