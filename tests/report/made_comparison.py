"""A small comparison: `quick` starts jobs at once, `slow` later, and `stuck` stalls on seed 2."""

from __future__ import annotations

from typing import Any

from heddle.analysis.comparison.compare import ComparedRun, Comparison, compare_runs
from record.hand_made import Job, run_of


def jobs(wait_ms: int, seed: int) -> list[Job]:
    return [Job(n * 100, n * 100 + wait_ms, n * 100 + wait_ms + 1000 + 10 * seed) for n in range(20)]


def comparison(
    seeds: tuple[int, ...] = (1, 2, 3), policies: dict[str, int] | None = None, **changes: Any
) -> Comparison:
    """Policies by name with the wait of their jobs (ms); the first is the baseline."""
    waits = policies or {"fifo": 1000, "quick(n=5)": 100, "slow": 3000}
    runs = [
        ComparedRun.of(run_of(jobs(wait + seed, seed), policy=policy, seed=seed, **changes))
        for seed in seeds
        for policy, wait in waits.items()
    ]
    return compare_runs(runs, next(iter(waits)), "heddle compare mix --policy fifo")


def stalling() -> Comparison:
    runs = []
    for seed in (1, 2, 3):
        runs.append(ComparedRun.of(run_of(jobs(1000, seed), policy="fifo", seed=seed)))
        ends = {"outcome": "stalled", "reason": "no task can start"} if seed == 2 else {}
        runs.append(ComparedRun.of(run_of(jobs(100, seed), policy="stuck", seed=seed, **ends)))
    return compare_runs(runs, "fifo", "heddle compare")
