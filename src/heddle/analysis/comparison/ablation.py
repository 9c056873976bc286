"""The rows of an ablation: what each part does and where, which combination to take, how that one does elsewhere.

A workload cannot show a part of which it records nothing: it is left out of that part's mean, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from heddle.analysis.comparison.factorial import Effect, Factorial, Setting, pooled
from heddle.analysis.comparison.sweep_axes import PARAMETER, sampling_in

NATIVE: Final = "native"
ACTING: Final = "acting"  # by knobs, and with the bridge where those do not suffice: what an operator gets
MOST_WORSE_PCT: Final = 1.0  # of mean completion, on any workload
MOST_CRASHES_PCT: Final = 0.1  # of tasks
NOTHING: Final[Setting] = frozenset()


@dataclass(frozen=True)
class Place:
    """Where runs can be compared with each other."""

    workload: str
    load: float
    host: str = NATIVE


@dataclass(frozen=True)
class Here:
    """What happened at one place."""

    by_metric: Mapping[str, Factorial]  # of the settings of all factors
    stock: Mapping[str, Mapping[str, Mapping[int, float]]]  # metric -> policy -> seed -> value
    crashes_pct: Mapping[Setting, float]
    stalled: Mapping[Setting, int]


class Ablation:
    """`shown`: the factors that a workload can show."""

    def __init__(self, rows: pl.DataFrame, factors: tuple[str, ...], shown: Mapping[str, set[str]]) -> None:
        self.factors, self.shown = factors, shown
        self.rows = rows
        self.at: dict[Place, Here] = {}
        native = pl.when(pl.col("executor") == NATIVE).then(pl.lit(NATIVE)).otherwise(pl.lit(ACTING))
        by_place = rows.with_columns(host=native).group_by("workload_template", "load", "host", maintain_order=True)
        for (workload, load, host), some in by_place:
            self.at[Place(str(workload), float(str(load)), str(host))] = _here(some, factors)

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

    def main_effect(self, factor: str, places: Iterable[Place], metric: str = "jct_s_mean") -> Effect:
        """Over the places that can show it."""
        return pooled(
            self.at[place].by_metric[metric].main_effect(factor)
            for place in places
            if factor in self.shown[place.workload]
        )

    def interactions(self, places: Iterable[Place]) -> dict[tuple[str, str], Effect]:
        found: dict[tuple[str, str], list[Effect]] = {}
        for place in places:
            for pair, effect in self.at[place].by_metric["jct_s_mean"].interactions().items():
                if self.shown[place.workload] >= set(pair):
                    found.setdefault(pair, []).append(effect)
        return {pair: pooled(effects) for pair, effects in found.items()}

    def change(self, setting: Setting, place: Place, base: Setting = NOTHING, metric: str = "jct_s_mean") -> Effect:
        return self.at[place].by_metric[metric].change(setting, base)

    def against_stock(self, setting: Setting, policy: str, place: Place, metric: str = "jct_s_mean") -> Effect:
        """Against another stock scheduler than the one that the combinations stand behind."""
        here = self.at[place].by_metric[metric]
        settings = {(setting, seed): s for (one, seed), s in here.completion_s.items() if one == setting}
        others = {(NOTHING, seed): s for seed, s in self.at[place].stock[metric].get(policy, {}).items()}
        return Factorial((), {**settings, **others}, here.sampling).change(setting)

    def faults(self, setting: Setting, places: Iterable[Place]) -> list[str]:
        """Why it is not to be recommended, by these places."""
        why = []
        for place in places:
            change, here = self.change(setting, place), self.at[place]
            where = f"{place.workload} at load {place.load:g}"
            if here.stalled.get(setting, 0) > here.stalled.get(NOTHING, 0):
                why.append(f"stalls on {where}")
            elif change.interval is not None and change.interval[0] > MOST_WORSE_PCT:
                why.append(f"{change.pct:+.1f} % on {where}")
            if here.crashes_pct.get(setting, 0.0) > MOST_CRASHES_PCT + here.crashes_pct.get(NOTHING, 0.0):
                why.append(f"{here.crashes_pct[setting]:.2f} % of tasks crash on {where}")
        return why

    def ranked(self, settings: Iterable[Setting], places: list[Place]) -> list[tuple[Setting, Effect, list[str]]]:
        """The largest gain first; those with faults last."""
        found = []
        for setting in settings:
            gain = pooled(self.change(setting, place) for place in places)
            found.append((setting, gain, self.faults(setting, places)))
        return sorted(found, key=lambda one: (bool(one[2]), one[1].pct if one[1].pct is not None else 0.0))


def _here(some: pl.DataFrame, factors: tuple[str, ...]) -> Here:
    is_stock = pl.col(PARAMETER + factors[0]).is_null()
    of_factors, others = some.filter(~is_stock), some.filter(is_stock)
    completion: dict[str, dict[tuple[Setting, int], float]] = {"jct_s_mean": {}, "jct_s_p95": {}, "makespan_s": {}}
    crashed: dict[Setting, list[tuple[float, float]]] = {}
    stalled: dict[Setting, int] = {}
    for row in of_factors.iter_rows(named=True):
        setting = frozenset(factor for factor in factors if row[PARAMETER + factor])
        crashed.setdefault(setting, []).append((row["crashed_tasks"] or 0.0, row["tasks"]))
        if row["outcome"] == "stalled":
            stalled[setting] = stalled.get(setting, 0) + 1
            continue
        for metric, found in completion.items():
            if row[metric] is not None:
                found[setting, row["seed"]] = row[metric]
    sampling = sampling_in(some)
    stock: dict[str, dict[str, dict[int, float]]] = {metric: {} for metric in completion}
    for row in others.filter(pl.col("outcome") != "stalled").iter_rows(named=True):
        for metric in completion:
            stock[metric].setdefault(row["policy"], {})[row["seed"]] = row[metric]
    return Here(
        {metric: Factorial(factors, found, sampling) for metric, found in completion.items()},
        stock,
        {setting: _crashes_pct(runs) for setting, runs in crashed.items()},
        stalled,
    )


def _crashes_pct(runs: Sequence[tuple[float, float]]) -> float:
    """Of all tasks; `runs`: how many crashed, of how many."""
    return 100 * sum(crashed for crashed, _ in runs) / max(1.0, sum(tasks for _, tasks in runs))
