"""Who got worse: the jobs, users and queues that a policy's gains were paid by.

Jobs are paired: the same job of the same workload under the baseline and under the policy. A job got worse if it
completes later by more than 1 %, or does not finish any more. Users and queues are judged by the mean completion of
their jobs that finish in both runs, per seed, with an interval over seeds like any other number of the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.analysis.certainty.sampling import Interval, Sampling
from heddle.record.run import Run

NOT_FINISHED: Final = -1
LATER_FROM: Final = 0.01  # of the completion under the baseline
_WORST_JOBS: Final = 10
_LISTED: Final = 200  # groups in the document, the worst first


@dataclass(frozen=True)
class JobTimes:
    """How long each job took, in order of number: small enough to be kept for every run."""

    completion_ms: npt.NDArray[np.int64]  # NOT_FINISHED where it did not, or is left out (warm-up, cool-down)

    @classmethod
    def of(cls, run: Run, counted: pl.Expr) -> JobTimes:
        took = pl.col("ended_at_ms") - pl.col("submit_at_ms")
        counts = (pl.col("outcome") == "finished") & counted
        finished = run.scan("jobs").select(pl.when(counts).then(took).otherwise(NOT_FINISHED)).collect().to_series()
        return cls(finished.to_numpy())


@dataclass(frozen=True)
class Group:
    """The jobs of one queue or user, under the policy against the baseline."""

    name: str
    jobs: float  # that finish in both, mean over seeds
    baseline_s: float
    policy_s: float
    change_pct: float | None
    interval: Interval | None


@dataclass(frozen=True)
class WorseJob:
    """One job that got worse, on one seed."""

    seed: int
    job: int
    name: str
    queue: str
    user: str
    baseline_s: float
    policy_s: float | None  # None: it no longer finishes

    @property
    def later_s(self) -> float:
        return float("inf") if self.policy_s is None else self.policy_s - self.baseline_s


@dataclass(frozen=True)
class Losers:
    """Who got worse under one policy on one cluster."""

    policy: str
    cluster: str
    later_pct: float | None  # share of jobs that got worse
    later_interval: Interval | None
    sooner_pct: float | None  # and of those that got better by as much
    mean_later_s: float | None  # of the worse ones that still finish
    no_longer_finish: int  # jobs over all seeds
    queues: tuple[Group, ...]  # the worst first
    users: tuple[Group, ...]
    jobs: tuple[WorseJob, ...]

    def as_json(self) -> dict[str, Any]:
        def group(one: Group) -> dict[str, Any]:
            return {
                "name": one.name, "jobs": one.jobs, "baseline_s": one.baseline_s, "policy_s": one.policy_s,
                "change_pct": one.change_pct, "ci95": one.interval,
            }  # fmt: skip

        def job(one: WorseJob) -> dict[str, Any]:
            return {
                "seed": one.seed, "job": one.job, "name": one.name, "queue": one.queue, "user": one.user,
                "baseline_s": one.baseline_s, "policy_s": one.policy_s,
            }  # fmt: skip

        return {
            "policy": self.policy, "cluster": self.cluster, "later_jobs_pct": self.later_pct,
            "later_jobs_ci95": self.later_interval, "sooner_jobs_pct": self.sooner_pct,
            "mean_later_s": self.mean_later_s, "no_longer_finish": self.no_longer_finish,
            "queues": [group(one) for one in self.queues[:_LISTED]],
            "users": [group(one) for one in self.users[:_LISTED]],
            "jobs": [job(one) for one in self.jobs],
        }  # fmt: skip


def losers(
    policy: str,
    cluster: str,
    base: Mapping[int, JobTimes],
    own: Mapping[int, JobTimes],
    who: Mapping[int, pl.DataFrame],
    sampling: Sampling,
) -> Losers:
    """From the times of both by seed; `who` has name, queue and user of each job, by seed."""
    later_pct: dict[int, float] = {}
    sooner_pct: dict[int, float] = {}
    later_s: list[float] = []
    gone = 0
    worst: list[WorseJob] = []
    tables = []
    for seed in sorted(own.keys() & base.keys() & who.keys()):
        before, after = base[seed].completion_ms, own[seed].completion_ms
        known = before != NOT_FINISHED
        if not known.any():
            continue
        lost = known & (after == NOT_FINISHED)
        both = known & ~lost
        later = both & (after > before * (1 + LATER_FROM))
        later_pct[seed] = 100.0 * float((later | lost).sum() / known.sum())
        sooner_pct[seed] = 100.0 * float((both & (after < before * (1 - LATER_FROM))).sum() / known.sum())
        later_s += ((after - before)[later] / 1000).tolist()
        gone += int(lost.sum())
        worst += _worst_jobs(seed, who[seed], before, after, later | lost)
        tables.append(
            who[seed]
            .select("queue", "user")
            .with_columns(seed=pl.lit(seed), before=pl.Series(before), after=pl.Series(after))
            .filter(pl.Series(both))
        )
    share, interval = sampling.estimate(later_pct)
    return Losers(
        policy=policy,
        cluster=cluster,
        later_pct=share,
        later_interval=interval,
        sooner_pct=sampling.estimate(sooner_pct)[0],
        mean_later_s=fmean(later_s) if later_s else None,
        no_longer_finish=gone,
        queues=_groups(tables, "queue", sampling),
        users=_groups(tables, "user", sampling),
        jobs=tuple(sorted(worst, key=lambda one: (-one.later_s, one.seed, one.job))[:_WORST_JOBS]),
    )


def _worst_jobs(
    seed: int,
    who: pl.DataFrame,
    before: npt.NDArray[np.int64],
    after: npt.NDArray[np.int64],
    worse: npt.NDArray[np.bool_],
) -> list[WorseJob]:
    by = np.where(after == NOT_FINISHED, np.iinfo(np.int64).max, after - before)
    numbers = np.flatnonzero(worse)
    numbers = numbers[np.argsort(-by[numbers], kind="stable")][:_WORST_JOBS]
    found = []
    for job in numbers.tolist():
        name, queue, user = who.select("name", "queue", "user").row(job)
        took = None if after[job] == NOT_FINISHED else float(after[job]) / 1000
        found.append(WorseJob(seed, job, name, queue, user, float(before[job]) / 1000, took))
    return found


def _groups(tables: list[pl.DataFrame], by: str, sampling: Sampling) -> tuple[Group, ...]:
    if not tables:
        return ()
    per_seed = (
        pl.concat(tables)
        .group_by(by, "seed")
        .agg(pl.len().alias("jobs"), pl.col("before").mean() / 1000, pl.col("after").mean() / 1000)
        .sort(by, "seed")
    )
    found = []
    for (name,), rows in per_seed.group_by(by, maintain_order=True):
        known = rows.filter(pl.col("before") > 0)
        changes = dict(zip(known["seed"], 100.0 * (known["after"] / known["before"] - 1.0), strict=True))
        change, interval = sampling.estimate(changes)
        jobs, before, after = (
            sampling.estimate(dict(rows.select("seed", column).iter_rows()))[0]
            for column in ("jobs", "before", "after")
        )
        if jobs is not None and before is not None and after is not None:
            found.append(Group(str(name), jobs, before, after, change, interval))
    return tuple(sorted(found, key=lambda one: (one.change_pct is None, -(one.change_pct or 0.0), one.name)))
