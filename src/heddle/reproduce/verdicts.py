"""When a claim counts as reproduced: one rule for each kind of claim, and every rule can fail.

    effect    sooner by x %: `direction` if the paired 95 % interval excludes 0 the paper's way, `reproduced` if
              moreover the effect is from half to twice the paper's in more than half of an ensemble of workloads
    point     begins at x, x of 20: the interval lies within 25 % of the paper's number, which is also so of the mean of
              more than half of the ensemble; `direction` if it lies within half and twice the number
    best      of several: the paired interval of the difference to each other policy excludes 0
    order     ahead of, higher than: as `best`; `direction` where it is so on average, but not in most of an ensemble
    limit     0 failed, <= 0.5 %, in more than half: the 95 % bound is on the right side; of what never happens, none
    sameness  the interval lies inside +-3 %; where there is an ensemble, also in more than half of it

Everything else is `not reproduced`. Where neither the paper nor we gave a number or an order before the run, whatever
comes out would do: that is `not judged`, and stands outside the denominator.

An ensemble is what was not published and had to be chosen: its members are fixed, seeds are chance. So the interval is
over seeds, of each seed's mean over all members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean
from typing import Any, Final, Literal

from heddle.analysis.certainty.student import t_interval

Seeds = Mapping[int, float]  # a value of each seed
Ensemble = Mapping[str, Seeds]  # of each member
Interval = tuple[float, float]

SAME_PCT: Final = 3.0
PART_OF_EFFECT: Final = 0.5  # and no more than 1 / this of it
PART_OF_ENSEMBLE: Final = 0.5
NEAR_POINT: Final = 0.25  # of the paper's number, to either side
# With none of many seen, their mean number is below this with 95 % confidence (Poisson; "rule of three").
NONE_SEEN: Final = -math.log(0.05)


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction"
    NOT_REPRODUCED = "not reproduced"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Judgement:
    """A verdict and the number it rests on."""

    kind: Literal["effect", "point", "best", "order", "limit", "sameness", "none"]
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
    alike = [like_the_effect(seeds, paper) for seeds in values.values()]
    return Judgement("effect", Verdict.REPRODUCED if _most(alike) else Verdict.DIRECTION, measured, interval)


def like_the_effect(seeds: Seeds, paper: float) -> bool:
    """Whether the mean effect is from half to twice the paper's."""
    part = fmean(seeds.values()) / paper
    return PART_OF_EFFECT <= part <= 1 / PART_OF_EFFECT


def point(values: Ensemble, paper: float) -> Judgement:
    """Whether each seed's own number comes out where the paper's lies; numbers above 0."""
    measured, interval = over_seeds(values)
    near = paper * (1 - NEAR_POINT), paper * (1 + NEAR_POINT)
    alike = [near[0] <= fmean(seeds.values()) <= near[1] for seeds in values.values() if seeds]
    if interval is None or not _between(interval, paper * PART_OF_EFFECT, paper / PART_OF_EFFECT):
        verdict = Verdict.NOT_REPRODUCED
    else:
        verdict = Verdict.REPRODUCED if _between(interval, *near) and _most(alike) else Verdict.DIRECTION
    return Judgement("point", verdict, measured, interval)


def order(leads: Mapping[str, Ensemble]) -> Judgement:
    """Whether all of these leads are above 0; the number is that of the one that is furthest from being so."""
    found = {name: over_seeds(values) for name, values in leads.items()}
    known = {name: (mean, span) for name, (mean, span) in found.items() if mean is not None and span is not None}
    if not known or len(known) < len(found):
        return Judgement("order", Verdict.NOT_REPRODUCED, None, None)
    weakest = min(known, key=lambda name: (known[name][1][0], name))
    if known[weakest][1][0] <= 0:
        return Judgement("order", Verdict.NOT_REPRODUCED, *known[weakest])
    in_most = all(_most([_above(seeds, 0.0) for seeds in values.values()]) for values in leads.values())
    return Judgement("order", Verdict.REPRODUCED if in_most else Verdict.DIRECTION, *known[weakest])


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


def never(counts: Seeds) -> Judgement:
    """Whether what must not happen did not, on any seed; with too few seeds that shows nothing."""
    judged = limit(counts, 1.0, 1.0)
    return only_if(judged, not any(counts.values()))


def more_than(values: Ensemble, least: float) -> Judgement:
    """Whether the lower bound is above a limit, also in more than half of the ensemble."""
    measured, interval = over_seeds(values)
    above = interval is not None and interval[0] > least
    enough = above and _most([_above(seeds, least) for seeds in values.values()])
    return Judgement("limit", Verdict.REPRODUCED if enough else Verdict.NOT_REPRODUCED, measured, interval)


def sameness(changes_pct: Ensemble, within_pct: float = SAME_PCT) -> Judgement:
    """Whether something stays as it was."""
    measured, interval = over_seeds(changes_pct)
    members = [over_seeds({"": seeds})[1] for seeds in changes_pct.values()]
    inside = [_inside(one, within_pct) for one in members]
    same = _inside(interval, within_pct) and _most(inside)
    return Judgement("sameness", Verdict.REPRODUCED if same else Verdict.NOT_REPRODUCED, measured, interval)


def not_judged(values: Ensemble) -> Judgement:
    """What was measured, where nothing says what it should have been."""
    return Judgement("none", Verdict.NOT_JUDGED, *over_seeds(values))


def only_if(judged: Judgement, holds: bool) -> Judgement:
    """The judgement, where what it rests on holds: else not reproduced."""
    return judged if holds else replace(judged, verdict=Verdict.NOT_REPRODUCED)


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


def _between(interval: Interval, low: float, high: float) -> bool:
    return interval[0] >= low and interval[1] <= high


def _above(seeds: Seeds, least: float) -> bool:
    interval = over_seeds({"": seeds})[1]
    return interval is not None and interval[0] > least


def _most(members: Sequence[bool]) -> bool:
    return sum(members) > PART_OF_ENSEMBLE * len(members)
