"""The best of many, and how sure that is.

Whoever looks at many candidates finds one that was merely lucky. So a candidate counts as beaten only if its paired
difference to the best holds at a confidence that is shared out over all pairs of candidates (Bonferroni): then all such
statements together are wrong in at most 5 % of sweeps, whichever candidate turns out to be the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from heddle.analysis.certainty.sampling import Interval, Sampling
from heddle.analysis.comparison.paired import paired_change

STALLED: Final = "stalled"
Outcomes = Mapping[int, float | Literal["stalled"] | None]  # by seed; None: not known of this run


@dataclass(frozen=True)
class Standing:
    """One candidate beside the best."""

    name: str
    mean: float
    interval: Interval | None  # 95 %, of its mean alone
    behind_pct: float | None  # how much worse than the best, in percent of it; None: it cannot be said
    behind: Interval | None  # of that, corrected for having looked at all pairs; None: it cannot be said

    @property
    def beaten(self) -> bool:
        return self.behind is not None and self.behind[0] > 0


@dataclass(frozen=True)
class LeftOut:
    """A candidate that cannot be compared with the others on equal terms."""

    name: str
    stalled: int  # runs; 0: it has not run on every seed yet, or the metric is not known of it
    runs: int
    planned: int

    @property
    def why(self) -> str:
        if self.stalled:
            return f"stalled {self.stalled} of {self.runs}"
        return "not known" if self.runs == self.planned else f"{self.runs} of {self.planned} seeds done"


@dataclass(frozen=True)
class Best:
    """Candidates in order, the best first."""

    standings: tuple[Standing, ...]
    left_out: tuple[LeftOut, ...]
    pairs: int  # of candidates, over which the confidence is shared
    seeds: int
    sampling: Sampling

    @property
    def best(self) -> Standing | None:
        return self.standings[0] if self.standings else None

    @property
    def as_good(self) -> tuple[Standing, ...]:
        """Those that cannot be told apart from the best."""
        return tuple(one for one in self.standings[1:] if not one.beaten)

    def sentence(self) -> str:
        if not self.standings:
            return "No candidate finished on every seed."
        first, others = self.standings[0], len(self.standings) - 1
        if not others:
            return f"{first.name} is the only candidate."
        beaten = others - len(self.as_good)
        rivals = "the other" if others == 1 else f"all {others} others" if beaten == others else f"{beaten} of {others}"
        sure = f"it beats {rivals} (95 % confidence{f' over all {self.pairs} pairs' if self.pairs > 1 else ''})"
        alone = " on this one trace" if self.sampling.kind == "chance" else ""  # of other days nothing is known
        if self.seeds < 2:
            return f"{first.name} is best, but a single seed cannot rule out chance."
        if not beaten and all(one.mean == first.mean for one in self.standings):
            return f"All {others + 1} candidates give exactly the same result."
        if not beaten:
            return f"No difference shown between the {others + 1} candidates; {first.name} has the best mean."
        if not self.as_good:
            return f"{first.name} is best{alone}: {sure}."
        names = ", ".join(one.name for one in self.as_good[:3]) + (", ..." if len(self.as_good) > 3 else "")
        return f"{first.name} comes out best{alone}: {sure}; no difference shown from {len(self.as_good)} ({names})."


def find_best(candidates: Mapping[str, Outcomes], better: Literal["lower", "higher"], sampling: Sampling) -> Best:
    """From what came out of each candidate by seed; only those with a value for every seed take part."""
    seeds = {seed for found in candidates.values() for seed in found}
    values = {
        name: {s: one for s, one in found.items() if isinstance(one, float)} for name, found in candidates.items()
    }
    whole = {name: found for name, found in values.items() if seeds and found.keys() == seeds}
    left_out = tuple(
        LeftOut(name, sum(one == STALLED for one in found.values()), len(found), len(seeds))
        for name, found in candidates.items()
        if name not in whole
    )
    sign = 1.0 if better == "lower" else -1.0
    means = {name: sampling.estimate(values)[0] for name, values in whole.items()}
    known = {name: mean for name, mean in means.items() if mean is not None}
    order = sorted(known, key=lambda name: (sign * known[name], name))
    pairs = len(order) * (len(order) - 1) // 2
    confidence = 1 - 0.05 / max(1, pairs)
    standings = []
    for name in order:
        own = sampling.estimate(whole[name])[1]
        if name == order[0]:
            standings.append(Standing(name, known[name], own, 0.0, None))
            continue
        change = paired_change(whole[name], whole[order[0]], sampling, confidence)
        behind = None if change.pct is None else sign * change.pct
        spread = None if change.interval is None else sorted(sign * bound for bound in change.interval)
        standings.append(Standing(name, known[name], own, behind, (spread[0], spread[1]) if spread else None))
    return Best(tuple(standings), left_out, pairs, len(seeds), sampling)
