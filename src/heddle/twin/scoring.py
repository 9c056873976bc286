"""How good forecasts were: one for each application and bucket of how long before its end it was made.

Held against the naive forecast on the very same cases. Coverage: how often the end lay in the 80 % interval. Pinball
loss: what a quantile forecast costs, averaged over its three quantiles. An end later than the horizon counts as the
horizon, for truth and forecast alike; such cases are counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final

from heddle.twin.eta import LEVELS, Eta

BUCKETS: Final = ((60, "up to 1 min"), (300, "1 to 5 min"), (900, "5 to 15 min"), (1800, "15 to 30 min"))
LATER: Final = "more than 30 min"
ALL: Final = "all"
_Z: Final = 1.96


def bucket_of(ahead_ms: float) -> str:
    return next((name for most_s, name in BUCKETS if ahead_ms <= 1000 * most_s), LATER)


@dataclass(frozen=True)
class Case:
    """One forecast of one application, and what came of it, in ms from the forecast on."""

    source: str
    app: str
    truth_ms: float
    twin: Eta
    naive: Eta

    @property
    def bucket(self) -> str:
        return bucket_of(self.truth_ms)


@dataclass(frozen=True)
class Score:
    """Of some cases; errors in seconds."""

    bucket: str
    cases: int
    coverage: float
    coverage_interval: tuple[float, float]  # 95 %, applications being independent
    naive_coverage: float
    error_s: float  # median absolute error of the median
    naive_error_s: float
    pinball_s: float
    naive_pinball_s: float

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "coverage_interval": list(self.coverage_interval)}


def first_of_each(cases: Iterable[Case]) -> list[Case]:
    """Of each application and bucket the first forecast that was made, as they come."""
    found: dict[tuple[str, str, str], Case] = {}
    for case in cases:
        found.setdefault((case.source, case.app, case.bucket), case)
    return list(found.values())


def scores(cases: Sequence[Case]) -> list[Score]:
    """All together first, then by bucket."""
    names = [*(name for _, name in BUCKETS), LATER]
    parts = [(ALL, list(cases))] + [(name, [case for case in cases if case.bucket == name]) for name in names]
    return [_score(name, some) for name, some in parts if some]


def _score(bucket: str, cases: Sequence[Case]) -> Score:
    held = fmean(_holds(case.twin, case.truth_ms) for case in cases)
    return Score(
        bucket=bucket,
        cases=len(cases),
        coverage=held,
        coverage_interval=_wilson(held, len(cases)),
        naive_coverage=fmean(_holds(case.naive, case.truth_ms) for case in cases),
        error_s=median(abs(case.twin.median_ms - case.truth_ms) for case in cases) / 1000,
        naive_error_s=median(abs(case.naive.median_ms - case.truth_ms) for case in cases) / 1000,
        pinball_s=fmean(_pinball(case.twin, case.truth_ms) for case in cases) / 1000,
        naive_pinball_s=fmean(_pinball(case.naive, case.truth_ms) for case in cases) / 1000,
    )


def _holds(eta: Eta, truth_ms: float) -> bool:
    return eta.low_ms <= truth_ms <= eta.high_ms


def _pinball(eta: Eta, truth_ms: float) -> float:
    """The mean over the quantiles of: above the truth (1 - level), below it level, for each ms."""
    told = zip(LEVELS, (eta.low_ms, eta.median_ms, eta.high_ms), strict=True)
    return fmean(max(level * (truth_ms - ms), (1 - level) * (ms - truth_ms)) for level, ms in told)


def _wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a proportion."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def capped(eta: Eta, horizon_ms: float) -> Eta:
    return Eta(*(min(ms, horizon_ms) for ms in (eta.low_ms, eta.median_ms, eta.high_ms)))
