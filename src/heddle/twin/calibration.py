"""Intervals as wide as earlier forecasts of the same cluster should have been.

What the twin does not model - retries, stragglers, how an AM really asks - makes its draws too sure of themselves. So
each side of an interval is stretched until nine in ten of the forecasts whose outcome is known by now would have held
on that side: those that looked about as far ahead. While few are known, a stretch counts too that was usual elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from heddle.twin.eta import Eta, quantile

USUAL: Final = 1.6  # a guess for the first forecasts; unstretched intervals hold too rarely
FEWEST: Final = 20  # outcomes that weigh as much as what was usual
LATEST: Final = 100  # outcomes that count
ABOUT: Final = 3.0  # a forecast that looked as many times as far ahead, or so much less far, is no guide
LEAST_MS: Final = 1000.0  # nobody is surer than this: heartbeats alone take as long
SIDE: Final = 0.9


@dataclass(frozen=True)
class Outcome:
    """What was told, before any stretching, and what came of it.

    Of one that is overdue, the time that has passed: those that ended early must not be all that counts.
    """

    told: Eta
    truth_ms: float


class Calibration:
    """`outcomes`: all that are known, in the order in which they became known."""

    def __init__(self, outcomes: Sequence[Outcome] = ()) -> None:
        self._outcomes = [one for one in outcomes if isfinite(one.told.high_ms)]

    def stretched(self, eta: Eta) -> Eta:
        """What lies beyond the horizon stays there."""
        if not isfinite(eta.median_ms):
            return eta
        low, high = self.stretch(eta.median_ms)
        least = max(0.0, eta.median_ms - low * _low(eta))
        return Eta(least, eta.median_ms, eta.median_ms + high * _high(eta))

    def stretch(self, ahead_ms: float) -> tuple[float, float]:
        """Of the lower and the upper half of an interval whose median is so far ahead."""
        like = [
            one
            for one in self._outcomes
            if max(one.told.median_ms, LEAST_MS) / max(ahead_ms, LEAST_MS) < ABOUT
            and max(ahead_ms, LEAST_MS) / max(one.told.median_ms, LEAST_MS) < ABOUT
        ][-LATEST:]
        if not like:
            return USUAL, USUAL
        weight = len(like) / (len(like) + FEWEST)
        low = quantile([(one.told.median_ms - one.truth_ms) / _low(one.told) for one in like], SIDE)
        high = quantile([(one.truth_ms - one.told.median_ms) / _high(one.told) for one in like], SIDE)
        low, high = (weight * max(0.0, found) + (1 - weight) * USUAL for found in (low, high))
        return low, high


def _low(eta: Eta) -> float:
    return max(LEAST_MS, eta.median_ms - eta.low_ms)


def _high(eta: Eta) -> float:
    return max(LEAST_MS, eta.high_ms - eta.median_ms)
