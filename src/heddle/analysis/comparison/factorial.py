"""What each factor of a full factorial does, on average over all settings of the others, and what pairs do together.

Numbers are logarithms of mean completion, so that an effect is a factor and effects add up. The main effect of a factor
on one seed is the mean change over all pairs of runs that differ in it alone; the interaction of two is the mean of
how much larger that change is with the other one on. Pairs of which one run did not end are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, hypot, log
from statistics import fmean

from heddle.analysis.certainty.sampling import Interval, Sampling

Setting = frozenset[str]  # factors that are on
Completion = Mapping[tuple[Setting, int], float]  # (setting, seed) -> mean completion of a run that ended


@dataclass(frozen=True)
class Effect:
    """In percent, with its interval; None where nothing can be said."""

    pct: float | None
    interval: Interval | None
    pairs_left_out: int = 0

    @property
    def is_shown(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]

    @property
    def is_shown_better(self) -> bool:
        return self.is_shown and (self.pct or 0.0) < 0

    def is_shown_worse_by(self, pct: float) -> bool:
        """By more than that."""
        return self.interval is not None and self.interval[0] > pct


@dataclass(frozen=True)
class Factorial:
    """The runs of all settings on one workload at one load."""

    factors: tuple[str, ...]
    completion_s: Completion
    sampling: Sampling

    def main_effect(self, factor: str) -> Effect:
        others = [name for name in self.factors if name != factor]
        return self._estimate([(setting, setting | {factor}) for setting in _settings(others)], [])

    def interaction(self, one: str, other: str) -> Effect:
        """By how much the effect of one is larger (worse) with the other on."""
        rest = [name for name in self.factors if name not in (one, other)]
        with_other = [(setting | {other}, setting | {one, other}) for setting in _settings(rest)]
        return self._estimate(with_other, [(setting, setting | {one}) for setting in _settings(rest)])

    def interactions(self) -> dict[tuple[str, str], Effect]:
        return {pair: self.interaction(*pair) for pair in combinations(self.factors, 2)}

    def change(self, setting: Setting, base: Setting = frozenset()) -> Effect:
        """Of one setting against another."""
        return self._estimate([(base, setting)], [])

    def _estimate(self, plus: Sequence[tuple[Setting, Setting]], minus: Sequence[tuple[Setting, Setting]]) -> Effect:
        """The mean logarithm over the pairs, less that over others where there are any, seed by seed."""
        found: dict[int, float] = {}
        left_out = 0
        for seed in sorted({seed for _, seed in self.completion_s}):
            changes = []
            for pairs in (plus, minus):
                known = [change for pair in pairs if (change := self._log_change(pair, seed)) is not None]
                left_out += len(pairs) - len(known)
                changes.append(fmean(known) if known else None if pairs else 0.0)
            if changes[0] is not None and changes[1] is not None:
                found[seed] = changes[0] - changes[1]
        middle, interval = self.sampling.estimate(found)
        if middle is None:
            return Effect(None, None, left_out)
        return Effect(_pct(middle), interval and (_pct(interval[0]), _pct(interval[1])), left_out)

    def _log_change(self, pair: tuple[Setting, Setting], seed: int) -> float | None:
        before, after = (self.completion_s.get((setting, seed)) for setting in pair)
        return None if not before or not after else log(after / before)


def pooled(effects: Iterable[Effect]) -> Effect:
    """The mean over workloads, each weighing the same; their intervals are those of independent estimates."""
    known = [effect for effect in effects if effect.pct is not None]
    if not known:
        return Effect(None, None)
    logs = [log(1 + effect.pct / 100) for effect in known if effect.pct is not None]
    left_out = sum(effect.pairs_left_out for effect in known)
    intervals = [effect.interval for effect in known if effect.interval is not None]
    if len(intervals) < len(known):
        return Effect(_pct(fmean(logs)), None, left_out)
    halves = [(log(1 + high / 100) - log(1 + low / 100)) / 2 for low, high in intervals]
    half, middle = hypot(*halves) / len(halves), fmean(logs)
    return Effect(_pct(middle), (_pct(middle - half), _pct(middle + half)), left_out)


def _settings(factors: Sequence[str]) -> list[Setting]:
    return [frozenset(some) for size in range(len(factors) + 1) for some in combinations(factors, size)]


def _pct(logarithm: float) -> float:
    return 100 * (exp(logarithm) - 1)
