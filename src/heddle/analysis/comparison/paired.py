"""How one candidate changes a metric against another on the same seeds: `compare` and `sweep` both ask here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heddle.analysis.certainty.sampling import Interval, Sampling

Seeds = Mapping[int, float]


@dataclass(frozen=True)
class Change:
    """A change in percent, over the seeds that both have."""

    pct: float | None  # None: it cannot be said
    interval: Interval | None
    pairs: int


def paired_change(own: Seeds, base: Seeds, sampling: Sampling, confidence: float = 0.95) -> Change:
    """The change from `base` to `own`, seed by seed."""
    changes = {seed: _change_pct(own[seed], base[seed]) for seed in own if seed in base}
    known = {seed: change for seed, change in changes.items() if change is not None}
    if len(known) < len(changes):  # a change from 0 has no percentage, and leaving it out would flatter
        return Change(None, None, len(changes))
    return Change(*sampling.estimate(known, confidence), len(changes))


def _change_pct(value: float, base: float) -> float | None:
    if value == base:
        return 0.0
    return None if base == 0 else 100.0 * (value - base) / base
