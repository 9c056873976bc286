"""When something ends, as far as anybody can say: a median and the bounds of an 80 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

LEVELS: Final = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Eta:
    """Milliseconds from now until it ends: 10 %, median, 90 %. inf: later than the horizon."""

    low_ms: float
    median_ms: float
    high_ms: float

    @classmethod
    def of(cls, ends: Sequence[float]) -> Eta:
        return cls(*(quantile(ends, level) for level in LEVELS))

    def as_json(self) -> dict[str, Any]:
        named = {"low_s": self.low_ms, "median_s": self.median_ms, "high_s": self.high_ms}
        return {name: None if math.isinf(ms) else round(ms / 1000, 1) for name, ms in named.items()}


def quantile(values: Sequence[float], level: float) -> float:
    """At place level x (n + 1) in order, so that n draws of the truth's own distribution cover what they should."""
    ordered = sorted(values)
    place = level * (len(ordered) + 1) - 1
    low = min(max(math.floor(place), 0), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1) if place > 0 else low
    share = min(max(place - low, 0.0), 1.0)
    if share == 0.0 or ordered[low] == ordered[high]:
        return ordered[low]
    return ordered[low] + share * (ordered[high] - ordered[low])
