"""The rows of an ablation: what each part does and where, which combination to take, how that one does elsewhere.

A workload cannot show a part of which it records nothing: it is left out of that part's mean, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl

from heddle.analysis.comparison.factorial import Effect, Factorial, Setting, pooled
from heddle.analysis.comparison.sweep_axes import PARAMETER, sampling_in

NATIVE: Final = "native"
ACTING: Final = "acting"  # by knobs: what an operator gets
MOST_WORSE_PCT: Final = 1.0  # of mean completion, on any workload
MOST_CRASHES_PCT: Final = 0.1  # of tasks
NOTHING: Final[Setting] = frozenset()


@dataclass(frozen=True)
class Place:
    """Where runs can be compared with each other."""

    workload: str
    load: float
    host: str = NATIVE

    @property
    def words(self) -> str:
        return f"{self.workload} at load {self.load:g}"


@dataclass(frozen=True)
class Here:
    """What happened at one place, by policy."""

    factorial: Factorial  # mean completion in all settings of all factors
    values: Mapping[str, Mapping[str, Mapping[int, float]]]  # metric -> policy -> seed -> value of a run that ended
    crashes_pct: Mapping[str, float]
    stalled: Mapping[str, int]

    def change(self, policy: str, base: str, metric: str) -> Effect:
        runs = {
            (frozenset({name}), seed): value
            for name in (policy, base)
            for seed, value in self.values[metric].get(name, {}).items()
        }
        return Factorial((), runs, self.factorial.sampling).change(frozenset({policy}), frozenset({base}))


class Ablation:
    """`shown`: the factors that a workload can show. Settings of the factors are policies among others: with their
    levels in the rows, where stock schedulers and other forms have none."""

    def __init__(self, rows: pl.DataFrame, factors: tuple[str, ...], shown: Mapping[str, set[str]]) -> None:
        self.factors, self.shown = factors, shown
        self.rows = rows
        self.at: dict[Place, Here] = {}
        native = pl.when(pl.col("executor") == NATIVE).then(pl.lit(NATIVE)).otherwise(pl.lit(ACTING))
        by_place = rows.with_columns(host=native).group_by("workload_template", "load", "host", maintain_order=True)
        for (workload, load, host), some in by_place:
            self.at[Place(str(workload), float(str(load)), str(host))] = _here(some, factors)
        policies = rows.unique("policy", maintain_order=True)  # of two that are equally good, always the same is taken
        self.settings = {row["policy"]: _setting(row, factors) for row in policies.iter_rows(named=True)}
        self.bare = next(policy for policy, setting in self.settings.items() if setting == NOTHING)

    def with_rows(self, more: pl.DataFrame) -> Ablation:
        """With further policies beside the factorial."""
        return Ablation(pl.concat([self.rows, more], how="diagonal"), self.factors, self.shown)

    @cached_property
    def loads(self) -> list[float]:
        return sorted({place.load for place in self.at})

    @cached_property
    def workloads(self) -> list[str]:
        return list(dict.fromkeys(place.workload for place in self.at))

    def places(
        self, load: float | None = None, acting: bool = False, among: Iterable[str] | None = None
    ) -> list[Place]:
        """Of the native executor, or of those that can act on a real YARN."""
        wanted = set(self.workloads if among is None else among)
        return [
            place
            for place in self.at
            if place.workload in wanted and (place.host == ACTING) == acting and (load is None or place.load == load)
        ]

    def main_effect(self, factor: str, places: Iterable[Place]) -> Effect:
        """On mean completion, over the places that can show it."""
        return pooled(
            self.at[place].factorial.main_effect(factor) for place in places if factor in self.shown[place.workload]
        )

    def interactions(self, places: Iterable[Place]) -> dict[tuple[str, str], Effect]:
        found: dict[tuple[str, str], list[Effect]] = {}
        for place in places:
            for pair, effect in self.at[place].factorial.interactions().items():
                if self.shown[place.workload] >= set(pair):
                    found.setdefault(pair, []).append(effect)
        return {pair: pooled(effects) for pair, effects in found.items()}

    def change(self, policy: str, place: Place, base: str | None = None, metric: str = "jct_s_mean") -> Effect:
        """Against the bare queues, or another policy."""
        return self.at[place].change(policy, base or self.bare, metric)

    def gain(self, policy: str, places: Iterable[Place], base: str | None = None) -> Effect:
        """The mean change of mean completion, each place weighing the same."""
        return pooled(self.change(policy, place, base) for place in places)

    def faults(self, policy: str, places: Iterable[Place]) -> list[str]:
        """Why it is not to be recommended, by these places."""
        why = []
        for place in places:
            change, here = self.change(policy, place), self.at[place]
            where = place.words
            if here.stalled.get(policy, 0) > here.stalled.get(self.bare, 0):
                why.append(f"stalls on {where}")
            elif change.is_shown_worse_by(MOST_WORSE_PCT):
                why.append(f"{change.pct:+.1f} % on {where}")
            if here.crashes_pct.get(policy, 0.0) > MOST_CRASHES_PCT + here.crashes_pct.get(self.bare, 0.0):
                why.append(f"{here.crashes_pct[policy]:.2f} % of tasks crash on {where}")
        return why

    def ranked(self, policies: Iterable[str], places: list[Place]) -> list[tuple[str, Effect, list[str]]]:
        """The largest gain first; those with faults last."""
        found = [(policy, self.gain(policy, places), self.faults(policy, places)) for policy in policies]
        return sorted(found, key=lambda one: (bool(one[2]), one[1].pct if one[1].pct is not None else 0.0))


METRICS: Final = ("jct_s_mean", "jct_s_p95", "makespan_s")


def _here(some: pl.DataFrame, factors: tuple[str, ...]) -> Here:
    settings: dict[tuple[Setting, int], float] = {}
    values: dict[str, dict[str, dict[int, float]]] = {metric: {} for metric in METRICS}
    crashed: dict[str, list[tuple[float, float]]] = {}
    stalled: dict[str, int] = {}
    for row in some.iter_rows(named=True):
        policy, seed, setting = row["policy"], row["seed"], _setting(row, factors)
        crashed.setdefault(policy, []).append((row["crashed_tasks"] or 0.0, row["tasks"]))
        if row["outcome"] == "stalled":
            stalled[policy] = stalled.get(policy, 0) + 1
            continue
        for metric in METRICS:
            if row[metric] is not None:
                values[metric].setdefault(policy, {})[seed] = row[metric]
        if setting is not None and row["jct_s_mean"] is not None:
            settings[setting, seed] = row["jct_s_mean"]
    crashes_pct = {policy: _crashes_pct(runs) for policy, runs in crashed.items()}
    return Here(Factorial(factors, settings, sampling_in(some)), values, crashes_pct, stalled)


def _setting(row: Mapping[str, Any], factors: tuple[str, ...]) -> Setting | None:
    """None: not one of the factorial."""
    if row[PARAMETER + factors[0]] is None:
        return None
    return frozenset(factor for factor in factors if row[PARAMETER + factor])


def _crashes_pct(runs: Sequence[tuple[float, float]]) -> float:
    """Of all tasks; `runs`: how many crashed, of how many."""
    return 100 * sum(crashed for crashed, _ in runs) / max(1.0, sum(tasks for _, tasks in runs))
