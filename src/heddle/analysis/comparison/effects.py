"""What combinations of levers do together, from the rows of many runs.

A cell is one policy on one workload, against the bare queues. A combination falls behind if it is worse than the best
of its parts alone (same queues, same workload) by more than the interval of that change, or stalls where that part does
not. Two executors agree if they end alike and mean completion differs by no more than 5 %; they differ if it is more
and the interval of that change does not include 0, and else no difference is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Literal

import polars as pl

from heddle.analysis.certainty.sampling import Interval, Sampling
from heddle.analysis.comparison.paired import Change, paired_change
from heddle.analysis.comparison.sweep_axes import sampling_in

AGREE_PCT: Final = 5.0
NATIVE: Final = "native"
KNOBS: Final = "yarn-knobs"
Agreement = Literal["yes", "no", "no difference shown"]
_NOTHING: Final = Change(None, None, 0)


@dataclass(frozen=True)
class Scored:
    """The runs of one policy under one executor on one workload."""

    workload: str
    policy: str
    executor: str
    completion_s: Mapping[int, float]  # by seed, of runs that ended
    crashes: float  # per run
    failed_jobs: float  # per run
    stalled: tuple[str, ...]  # the reason of each run that stalled
    runs: int

    @property
    def levers(self) -> tuple[str, ...]:
        """What is joined to the queues."""
        return tuple(self.policy.split("+")[1:])


@dataclass(frozen=True)
class Cell:
    """A policy on a workload, against the bare queues."""

    scored: Scored
    mean_s: float | None  # None: it stalled
    change: Change

    @property
    def row(self) -> dict[str, Any]:
        """As a comparison's summary has it, so that the words are the same."""
        return {
            "metric": "jct_s.mean", "vs_baseline_pct": self.change.pct, "vs_ci95": self.change.interval,
            "stalled_runs": len(self.scored.stalled), "all_runs": self.scored.runs,
        }  # fmt: skip


@dataclass(frozen=True)
class Behind:
    """A combination that is worse than one of its parts alone."""

    workload: str
    policy: str
    best_part: str
    change: Change  # against that part; without a percentage where the combination stalled
    stalled_runs: int


@dataclass(frozen=True)
class Beside:
    """One policy decided by itself, and brought about by knobs."""

    workload: str
    policy: str
    native_s: float | None
    knobs_s: float | None
    change: Change  # from native to knobs
    stalled_runs: tuple[int, int]
    crashes: tuple[float, float]  # per run

    @property
    def agreement(self) -> Agreement:
        if any(self.stalled_runs):
            return "yes" if self.stalled_runs[0] == self.stalled_runs[1] else "no"
        if self.change.pct is not None and abs(self.change.pct) <= AGREE_PCT:
            return "yes"
        interval = self.change.interval
        return "no" if interval is None or not interval[0] <= 0 <= interval[1] else "no difference shown"


class Effects:
    """What the runs of a matrix show; `rows` are those of a sweep, and what comes first there is shown first."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._scored: dict[tuple[str, str, str], Scored] = {}
        self.sampling: dict[str, Sampling] = {}
        for key, some in rows.group_by("workload_template", "policy", "executor", maintain_order=True):
            workload, policy, executor = (str(part) for part in key)
            self.sampling.setdefault(workload, sampling_in(some))
            ended = some.filter(pl.col("outcome") != "stalled")
            self._scored[workload, policy, executor] = Scored(
                workload=workload,
                policy=policy,
                executor=executor,
                completion_s=dict(ended.select("seed", "jct_s_mean").drop_nulls().iter_rows()),
                crashes=_mean(some["crashed_tasks"]),
                failed_jobs=_mean(some["failed_jobs"]),
                stalled=tuple(some.filter(pl.col("outcome") == "stalled")["reason"].to_list()),
                runs=some.height,
            )

    def cell(self, workload: str, policy: str, executor: str = NATIVE) -> Cell:
        """Against the bare queues under the same executor; unless said otherwise, the policy itself decides."""
        own = self._scored[workload, policy, executor]
        mean, _ = (None, None) if own.stalled else self.sampling[workload].estimate(own.completion_s)
        bare = policy.partition("+")[0]
        return Cell(own, mean, _NOTHING if policy == bare else self._change(own, workload, bare, executor))

    @cached_property
    def cells(self) -> list[Cell]:
        return [self.cell(workload, policy) for workload, policy, executor in self._scored if executor == NATIVE]

    @cached_property
    def with_knobs(self) -> list[str]:
        """The policies that a stock YARN can be driven by: those that ran so."""
        return list(dict.fromkeys(policy for _, policy, executor in self._scored if executor == KNOBS))

    @cached_property
    def stalling(self) -> list[Scored]:
        """Under either executor."""
        return [one for one in self._scored.values() if one.stalled]

    @property
    def has_intervals(self) -> bool:
        """Whether it can be told from chance that a combination is worse than its best part."""
        return any(cell.change.interval is not None for cell in self.cells)

    @cached_property
    def behind(self) -> list[Behind]:
        """Where policies decide themselves."""
        return self.behind_under(NATIVE)

    def behind_under(self, executor: str) -> list[Behind]:
        found = []
        for one in (scored for scored in self._scored.values() if scored.executor == executor):
            best = self._best_part(one) if len(one.levers) > 1 else None
            if best is None:
                continue
            change = self._change(one, one.workload, best, executor)
            worse = change.interval is not None and change.interval[0] > 0
            if one.stalled or worse:
                found.append(Behind(one.workload, one.policy, best, change, len(one.stalled)))
        return found

    @cached_property
    def beside(self) -> list[Beside]:
        found = []
        for (workload, policy, executor), knobs in self._scored.items():
            if executor == NATIVE:
                continue
            native = self._scored[workload, policy, NATIVE]
            means = [
                None if one.stalled else self.sampling[workload].estimate(one.completion_s)[0]
                for one in (native, knobs)
            ]
            change = self._change(knobs, workload, policy, NATIVE)
            stalled = len(native.stalled), len(knobs.stalled)
            crashes = native.crashes, knobs.crashes
            found.append(Beside(workload, policy, means[0], means[1], change, stalled, crashes))
        return found

    def _best_part(self, one: Scored) -> str | None:
        """The part that completes jobs soonest alone; None where each of them stalls."""
        bare = one.policy.partition("+")[0]
        means = {}
        for lever in one.levers:
            mean = self.cell(one.workload, f"{bare}+{lever}", one.executor).mean_s
            if mean is not None:
                means[f"{bare}+{lever}"] = mean
        return min(means, key=lambda policy: means[policy]) if means else None

    def _change(self, own: Scored, workload: str, policy: str, executor: str) -> Change:
        base = self._scored[workload, policy, executor]
        if own.stalled or base.stalled:
            return _NOTHING
        return paired_change(own.completion_s, base.completion_s, self.sampling[workload])

    def as_json(self) -> dict[str, Any]:
        return {
            "workloads": {name: sampling.as_json() for name, sampling in self.sampling.items()},
            "cells": [
                {
                    "workload": cell.scored.workload, "policy": cell.scored.policy, "mean_s": cell.mean_s,
                    "has_knobs": cell.scored.policy in self.with_knobs, **_change_json(cell.change),
                    "stalled_runs": len(cell.scored.stalled),
                    "all_runs": cell.scored.runs, "stall_reasons": sorted(set(cell.scored.stalled)),
                    "crashes": cell.scored.crashes, "failed_jobs": cell.scored.failed_jobs,
                }
                for cell in self.cells
            ],
            "behind_best_part": [
                {name: value for name, value in asdict(one).items() if name != "change"} | _change_json(one.change)
                for one in self.behind
            ],
            "native_and_knobs": [
                {
                    "workload": one.workload, "policy": one.policy, "native_s": one.native_s, "knobs_s": one.knobs_s,
                    **_change_json(one.change), "stalled_runs": one.stalled_runs, "agree": one.agreement,
                    "crashes": one.crashes,
                }
                for one in self.beside
            ],
        }  # fmt: skip


def _change_json(change: Change) -> dict[str, float | Interval | None]:
    return {"change_pct": change.pct, "ci95": change.interval}


def _mean(column: pl.Series) -> float:
    found = column.mean()
    return float(found) if isinstance(found, int | float) else 0.0
