"""What a trial of policies on a real YARN showed: means with intervals, changes paired by round, who got later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from heddle.analysis.certainty.student import t_interval
from heddle.record.run import Run

if TYPE_CHECKING:
    from heddle.yarn.testbed.trial import TrialRun

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """A mean over rounds; the 95 % interval needs two of them."""

    mean: float
    ci95: Interval | None


@dataclass(frozen=True)
class PolicyShown:
    """One policy of a trial. Changes, in percent, are against the first policy in the same round; None: it is that."""

    policy: str
    makespan_s: Spread
    jct_mean_s: Spread
    makespan_change_pct: Spread | None
    jct_change_pct: Spread | None
    jobs: int
    failed_jobs: int
    stuck_jobs: int
    peak_used_share: float
    moved_mb: Spread | None  # sent between nodes; None: not measured in all rounds
    cpu_share: Spread | None  # of all vcores, what containers used; None: as above


@dataclass(frozen=True)
class JobShown:
    """Mean completion time of one job, by policy."""

    name: str
    jct_s: dict[str, float]


def shown_policies(runs: Sequence[TrialRun], policies: Sequence[str]) -> list[PolicyShown]:
    """One row per policy; the first one is the baseline."""
    return [_shown(policy, runs, policies[0]) for policy in policies]


def shown_jobs(runs: Sequence[TrialRun]) -> list[JobShown]:
    """In the order in which they were named."""
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for name, jct_s in run.jct_s.items():
            found.setdefault(name, {}).setdefault(run.policy, []).append(jct_s)
    return [JobShown(name, {policy: fmean(times) for policy, times in of.items()}) for name, of in found.items()]


def running_over_time(record: Run) -> tuple[Floats, Floats]:
    """How many containers there were, AMs included: seconds from the first submission, and the number from then on."""
    attempts = record.attempts.drop_nulls("ended_at_ms")
    times = np.concatenate([attempts["allocated_at_ms"].to_numpy(), attempts["ended_at_ms"].to_numpy()])
    steps = np.repeat([1, -1], attempts.height)
    order = np.lexsort((steps, times))
    at_s: Floats = np.concatenate([[0.0], times[order] / 1000])
    return at_s, np.concatenate([[0.0], np.cumsum(steps[order])]).astype(np.float64)


def _shown(policy: str, runs: Sequence[TrialRun], baseline: str) -> PolicyShown:
    mine = {run.round: run for run in runs if run.policy == policy}
    first = {run.round: run for run in runs if run.policy == baseline}
    both = sorted(mine.keys() & first.keys())
    compared = policy != baseline and bool(both)
    return PolicyShown(
        policy=policy,
        makespan_s=_spread([run.makespan_s for run in mine.values()]),
        jct_mean_s=_spread([run.jct_mean_s for run in mine.values()]),
        makespan_change_pct=_spread([100 * (mine[r].makespan_s / first[r].makespan_s - 1) for r in both])
        if compared
        else None,
        jct_change_pct=_spread([100 * (mine[r].jct_mean_s / first[r].jct_mean_s - 1) for r in both])
        if compared
        else None,
        jobs=sum(run.jobs for run in mine.values()),
        failed_jobs=sum(run.failed_jobs for run in mine.values()),
        stuck_jobs=sum(run.stuck_jobs for run in mine.values()),
        peak_used_share=max(run.peak_used_share for run in mine.values()),
        moved_mb=_spread_of_known([run.moved_mb for run in mine.values()]),
        cpu_share=_spread_of_known([run.cpu_share for run in mine.values()]),
    )


def _spread_of_known(values: list[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return _spread(known) if len(known) == len(values) else None


def _spread(values: list[float]) -> Spread:
    return Spread(fmean(values), t_interval(values))
