"""`python -m benchmarks.choosing`: choosing live against every fixed policy, and the best of them in hindsight.

On the workload `phases`, all by knobs. Compared is the mean completion time of jobs, seed by seed; intervals are
Student's over seeds. `best of each seed` is a rival that nobody can be: of each seed the fixed policy that was best.
"""

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from heddle.analysis.certainty.student import t_interval
from heddle.analysis.measures.metrics import run_metrics
from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.twin.choosing import Rule, usual_candidates
from heddle.twin.simulated_choice import simulate_choosing

WORKLOAD: Final = "phases"
CHOOSING: Final = "choosing"
HINDSIGHT: Final = "best of each seed"
Row = tuple[dict[str, float], dict[str, int], list[dict[str, Any]], float]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.choosing", description=__doc__)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--first-seed", type=int, default=0)
    options.add_argument("--workload", default=WORKLOAD)
    options.add_argument("--policy", default="capacity", help="in force at first")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--keep", type=Path, help="what each seed gave; the same command goes on with it")
    chosen = options.parse_args()
    names = usual_candidates("capacity")
    first = [name for name in names if name == chosen.policy] or [chosen.policy]
    policies = [*first, *(name for name in names if name not in first)]
    rows = (
        [tuple(json.loads(line)) for line in chosen.keep.read_text().splitlines()]
        if chosen.keep and chosen.keep.exists()
        else []
    )
    seeds = range(chosen.first_seed + len(rows), chosen.first_seed + chosen.seeds)
    with ProcessPoolExecutor(chosen.processes) as pool:
        for row in pool.map(one_seed, seeds, [chosen.workload] * len(seeds), [policies] * len(seeds)):
            rows.append(row)
            if chosen.keep:
                with chosen.keep.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    show(rows, policies)


def one_seed(seed: int, workload: str, policies: Sequence[str]) -> Row:
    """The mean completion of each policy and of choosing, what crashed, and what was chosen."""
    jobs, cluster = make_workload(workload, seed), suggested_cluster(workload)
    runs: dict[str, Run] = {name: simulate(jobs, cluster, name, seed=seed, executor="yarn-knobs") for name in policies}
    began = time.process_time()
    runs[CHOOSING] = simulate_choosing(jobs, cluster, [parse_policy(name) for name in policies], Rule(), seed=seed)
    took_s = time.process_time() - began
    metrics = {name: run_metrics(run) for name, run in runs.items()}
    unfinished = [name for name, one in metrics.items() if one["outcome"] != "finished" or one["failed_jobs"]]
    if unfinished:
        print(f"seed {seed}: not every job finished under {', '.join(unfinished)}")
    means = {name: one["jct_s"]["mean"] for name, one in metrics.items()}
    return (
        means,
        {name: one["crashed_tasks"] for name, one in metrics.items()},
        runs[CHOOSING].manifest["choices"],
        took_s,
    )


def show(rows: Sequence[Row], policies: Sequence[str]) -> None:
    means = {name: [row[0][name] for row in rows] for name in (CHOOSING, *policies)}
    means[HINDSIGHT] = [min(row[0][name] for name in policies) for row in rows]
    print(f"{'mean completion of jobs, s':74}{'mean':>7}{'crashed':>9}  choosing takes, % (95 %)")
    for name, values in means.items():
        crashed = f"{fmean(row[1][name] for row in rows):9.1f}" if name != HINDSIGHT else f"{'':9}"
        longer = against(means[CHOOSING], values) if name != CHOOSING else ""
        print(f"{name:74}{fmean(values):7.1f}{crashed}  {longer}")
    best = min(policies, key=lambda name: fmean(means[name]))
    changes = [sum(choice["chosen"] != choice["in_force"] for choice in row[2]) for row in rows]
    told = [choice for row in rows for choice in row[2] if choice["prospects"]]
    print(f"the best fixed one over all seeds: {best}")
    print(f"changes in a run: {fmean(changes):.1f} on average, {max(changes)} at most")
    print(f"cycles with rollouts: {len(told)}")
    print(f"CPU seconds of a run that chooses: {fmean(row[3] for row in rows):.1f}")
    off = [abs(choice["predicted"] - choice["came"]) for choice in told]
    there = [choice["came"] for choice in told]
    print(f"applications there were: {fmean(there):.1f} on average; predicted off by {fmean(off):.1f}")


def against(values: Sequence[float], others: Sequence[float]) -> str:
    """How much longer, in percent; below 0: less long."""
    longer = [100 * (a / b - 1) for a, b in zip(values, others, strict=True)]
    interval = t_interval(longer)
    return f"{fmean(longer):+.1f}" + (f" ({interval[0]:+.1f} to {interval[1]:+.1f})" if interval else "")


if __name__ == "__main__":
    main()
