"""When a claim of a paper counts as reproduced: the rules, fixed before the first run.

    effect    sooner by x %: `direction` if the paired 95 % interval excludes 0 the paper's way, `reproduced` if
              moreover the effect is at least half of the paper's in more than half of an ensemble of workloads
    best      of several: the paired interval of the difference to each other policy excludes 0
    limit     0 failed, <= 0.5 %: the upper 95 % bound is below the limit
    sameness  the interval lies inside +-3 %; where there is an ensemble, also in more than half of it
    shape     begins at, stops falling at: never more than `direction`

Everything else is `not reproduced`. An ensemble is what was not published and had to be chosen: its members are fixed,
seeds are chance. So the interval is over seeds, of each seed's mean over all members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any, Final, Literal

from heddle.analysis.certainty.student import t_interval

Seeds = Mapping[int, float]  # a value of each seed
Ensemble = Mapping[str, Seeds]  # of each member
Interval = tuple[float, float]

SAME_PCT: Final = 3.0
PART_OF_EFFECT: Final = 0.5
PART_OF_ENSEMBLE: Final = 0.5
# With none of many seen, their mean number is below this with 95 % confidence (Poisson; "rule of three").
NONE_SEEN: Final = -math.log(0.05)


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction"
    NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Judgement:
    """A verdict and the number it rests on."""

    kind: Literal["effect", "best", "limit", "sameness", "shape"]
    verdict: Verdict
    measured: float | None
    ci95: Interval | None


def effect(values: Ensemble, paper: float) -> Judgement:
    """From the paired effect of each member and seed, in the units and with the sign of the paper's."""
    if paper == 0:
        raise ValueError("an effect of 0 has no direction: that is sameness")
    sign = math.copysign(1.0, paper)
    measured, interval = over_seeds(values)
    if interval is None or min(sign * bound for bound in interval) <= 0:
        return Judgement("effect", Verdict.NOT_REPRODUCED, measured, interval)
    enough = [sign * fmean(seeds.values()) >= PART_OF_EFFECT * abs(paper) for seeds in values.values()]
    strong = sum(enough) > PART_OF_ENSEMBLE * len(enough)
    return Judgement("effect", Verdict.REPRODUCED if strong else Verdict.DIRECTION, measured, interval)


def best(own: Seeds, others: Mapping[str, Seeds], better: Literal["lower", "higher"] = "lower") -> Judgement:
    """Whether `own` beats each of the others. The number is its lead over the nearest of them in percent of that one.

    All must be beaten, so that no correction for their number is needed.
    """
    sign = 1.0 if better == "lower" else -1.0
    leads = {name: _lead_pct(own, other, sign) for name, other in others.items()}
    means = {name: fmean(lead.values()) for name, lead in leads.items() if lead}
    if not means or len(means) < len(others):
        return Judgement("best", Verdict.NOT_REPRODUCED, None, None)
    nearest = min(means, key=lambda name: (means[name], name))
    intervals = {name: t_interval(list(lead.values())) for name, lead in leads.items()}
    beaten = all(interval is not None and interval[0] > 0 for interval in intervals.values())
    verdict = Verdict.REPRODUCED if beaten else Verdict.NOT_REPRODUCED
    return Judgement("best", verdict, means[nearest], intervals[nearest])


def limit(values: Seeds, highest: float, one: float) -> Judgement:
    """Whether the mean stays below a limit; `one` is what one event adds to a value: 1, or 100/n of a percentage."""
    measured, interval = over_seeds({"": values})
    if interval is None or measured is None:
        return Judgement("limit", Verdict.NOT_REPRODUCED, measured, interval)
    low = min(0.0, *values.values())  # a count or a rate is never below 0, a change may be
    bounds = (max(low, interval[0]), interval[1])
    if not any(values.values()):
        bounds = (0.0, NONE_SEEN * one / len(values))
    below = bounds[1] < highest
    return Judgement("limit", Verdict.REPRODUCED if below else Verdict.NOT_REPRODUCED, measured, bounds)


def limit_everywhere(values: Mapping[Any, Ensemble], highest: float) -> Judgement:
    """Whether the upper bound is below the limit in every setting; the number is that of the worst."""
    found = {setting: over_seeds(ensemble) for setting, ensemble in values.items()}
    known = [(mean, interval) for mean, interval in found.values() if mean is not None and interval is not None]
    below = len(known) == len(found) and all(interval[1] < highest for _, interval in known)
    worst = max(known, default=(None, None), key=lambda one: one[0])
    return Judgement("limit", Verdict.REPRODUCED if below else Verdict.NOT_REPRODUCED, *worst)


def limit_mostly(values: Mapping[Any, Ensemble], highest: float) -> Judgement:
    """Whether it is below in more than half of the settings; the number is how many."""
    bounds = [over_seeds(ensemble)[1] for ensemble in values.values()]
    below = sum(interval is not None and interval[1] < highest for interval in bounds)
    enough = below > len(bounds) / 2
    return Judgement("limit", Verdict.REPRODUCED if enough else Verdict.NOT_REPRODUCED, float(below), None)


def sameness(changes_pct: Ensemble, within_pct: float = SAME_PCT) -> Judgement:
    """Whether something stays as it was."""
    measured, interval = over_seeds(changes_pct)
    members = [over_seeds({"": seeds})[1] for seeds in changes_pct.values()]
    inside = [_inside(one, within_pct) for one in members]
    same = _inside(interval, within_pct) and sum(inside) > PART_OF_ENSEMBLE * len(inside)
    return Judgement("sameness", Verdict.REPRODUCED if same else Verdict.NOT_REPRODUCED, measured, interval)


def shape(alike: bool, measured: float | None, ci95: Interval | None = None) -> Judgement:
    """A curve beside the paper's point: `alike` is whether it bends the way the paper says."""
    return Judgement("shape", Verdict.DIRECTION if alike else Verdict.NOT_REPRODUCED, measured, ci95)


def over_seeds(values: Ensemble) -> tuple[float | None, Interval | None]:
    """The mean, and its interval over the seeds that every member has."""
    shared = set.intersection(*(set(seeds) for seeds in values.values())) if values else set()
    each = [fmean(seeds[seed] for seeds in values.values()) for seed in sorted(shared)]
    return (fmean(each), t_interval(each)) if each else (None, None)


def change_pct(before: Seeds, after: Seeds) -> dict[int, float]:
    """What became more, in percent, of each seed that both have."""
    return {seed: 100.0 * (after[seed] / before[seed] - 1.0) for seed in before if seed in after and before[seed]}


def sooner_pct(before: Seeds, after: Seeds) -> dict[int, float]:
    """By how much the time became shorter: the papers' "x % faster", read as 1 - after/before."""
    return {seed: -change for seed, change in change_pct(before, after).items()}


def _lead_pct(own: Seeds, other: Seeds, sign: float) -> dict[int, float]:
    return {seed: -sign * change for seed, change in change_pct(other, own).items()}


def _inside(interval: Interval | None, within: float) -> bool:
    return interval is not None and interval[0] > -within and interval[1] < within
