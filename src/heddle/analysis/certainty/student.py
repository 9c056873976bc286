"""Student's t: the quantile that confidence intervals need, without a statistics library.

For whole degrees of freedom the distribution is a finite sum of powers of a cosine (Abramowitz and Stegun 26.7.3-4),
so that bisection gives the quantile to the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean, stdev

_NORMAL_FROM = 10_000  # degrees of freedom from which the difference to the limit is below 3e-4


def t_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval of the mean of independent values; None for fewer than two."""
    if len(values) < 2:
        return None
    middle = fmean(values)
    half = t_quantile(confidence, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return middle - half, middle + half


@lru_cache(maxsize=1024)
def t_quantile(confidence: float, degrees: int) -> float:
    """The t such that a Student variable lies in [-t, t] with this probability."""
    if not 0.0 < confidence < 1.0 or degrees < 1:
        raise ValueError(f"no t quantile for confidence {confidence} and {degrees} degrees of freedom")
    degrees = min(degrees, _NORMAL_FROM)
    low, high = 0.0, 1.0
    while _inside(high, degrees) < confidence:
        low, high = high, 2.0 * high
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return middle
        if _inside(middle, degrees) < confidence:
            low = middle
        else:
            high = middle


def _inside(t: float, degrees: int) -> float:
    """The probability of [-t, t]."""
    angle = math.atan2(t, math.sqrt(degrees))
    cosine, square = math.cos(angle), math.cos(angle) ** 2
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if odd:
        return 2.0 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
