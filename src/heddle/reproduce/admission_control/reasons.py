"""What the rounds of paper 3 say beyond their mean: how many score high, which lowest, how flat the optimum is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def rounds_above(loss: Mapping[Any, Mapping[int, float]], most: float, seeds: Iterable[int]) -> dict[int, float]:
    """On each seed, in how many rounds the loss is below `most`: a round without a score does not count."""
    return {seed: float(sum(of_round.get(seed, most) < most for of_round in loss.values())) for seed in seeds}


def lowest_round(loss: Mapping[tuple[int, int], Mapping[int, float]]) -> str:
    """The lowest mean score, and where."""
    means = {size: 100 - float(np.mean(list(seeds.values()))) for size, seeds in loss.items() if seeds}
    if not means:
        return "unknown"
    am, task = min(means, key=lambda size: means[size])
    return f"{means[am, task]:.1f} % (AM {am}, tasks {task} vcores)"


def near_best(spans: Mapping[float, float | None]) -> int:
    """How many reserves come within 1 % of the shortest: with many, which of them is best is a matter of luck."""
    known = [span for span in spans.values() if span is not None]
    return sum(span <= 1.01 * min(known) for span in known)
