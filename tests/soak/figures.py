"""The arithmetic of a soak: from what was looked at, over all pieces, to the figures that have targets."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import mul
from statistics import fmean
from typing import Any

from heddle.analysis.certainty.student import t_quantile
from heddle.yarn.testbed.run_jobs import GAVE_UP

BLOCK_S = 300.0
MOST_GAP_S = 5.0  # between two looks; longer than that nobody knows what was in between
AFTER_FAULT_S = 120.0  # a job may still end of a daemon's death this long after the daemon is back

Sample = tuple[float, ...]  # seconds, value and, if anything, what the value may go along with
Look = dict[str, Any]  # a line of looks.jsonl


@dataclass(frozen=True)
class Slope:
    """`ci95`: None where there is too little for an interval. `blocks`: means that it rests on."""

    per_h: float
    ci95: tuple[float, float] | None
    blocks: int

    def is_at_most(self, per_h: float) -> bool:
        """The target of something that must not grow: a slope this small, or none that can be told from 0."""
        return self.per_h <= per_h or (self.ci95 is not None and self.ci95[0] <= 0 <= self.ci95[1])


def common_slope(lives: Iterable[Sequence[Sample]], block_s: float = BLOCK_S) -> Slope | None:
    """How fast a value grows, the same in all lives; each has a level of its own. Where samples have a third
    value, what goes along with it, the same in all lives, too, does not count as growth.

    By least squares through means of blocks: samples a second apart are nearly one sample, and would feign certainty.
    None: no life has two blocks.
    """
    centred: list[Sample] = []
    counted = 0
    for life in lives:
        blocks = _blocks(life, block_s)
        if len(blocks) < 2:
            continue
        counted += 1
        middle = [fmean(column) for column in zip(*blocks, strict=True)]
        centred += [tuple(value - mean for value, mean in zip(block, middle, strict=True)) for block in blocks]
    if not centred:
        return None
    times, values, *beside = ([*column] for column in zip(*centred, strict=True))
    for other in beside:
        times, values = _without(times, other), _without(values, other)
    spread = _along(times, times)
    per_s = _along(times, values) / spread
    degrees = len(centred) - counted - 1 - len(beside)
    if degrees < 1:
        return Slope(3600 * per_s, None, len(centred))
    left = sum((value - per_s * at_s) ** 2 for at_s, value in zip(times, values, strict=True))
    half = t_quantile(0.95, degrees) * math.sqrt(left / degrees / spread)
    return Slope(3600 * per_s, (3600 * (per_s - half), 3600 * (per_s + half)), len(centred))


def _without(values: list[float], other: list[float]) -> list[float]:
    """What is left of a centred column when its part along another is taken off."""
    share = _along(values, other) / (_along(other, other) or 1.0)
    return [value - share * beside for value, beside in zip(values, other, strict=True)]


def _along(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(map(mul, one, other))


def _blocks(life: Sequence[Sample], block_s: float) -> list[Sample]:
    if not life:
        return []
    first_s = life[0][0]
    grouped = (list(of) for _, of in groupby(life, key=lambda sample: (sample[0] - first_s) // block_s))
    return [tuple(fmean(column) for column in zip(*block, strict=True)) for block in grouped]


def beside_jobs(life: Sequence[Sample], jobs: Iterable[dict[str, Any]]) -> list[Sample]:
    """Each sample with how many jobs were there: planned before, and not yet over."""
    begins, ends = map(sorted, zip(*((job["planned_at_s"], job["ended_at_s"]) for job in jobs), strict=True))
    return [(at_s, value, bisect_right(begins, at_s) - bisect_right(ends, at_s)) for at_s, value in life]


def lives_of(looks: Sequence[Look], what: str, warm_up_s: float) -> list[list[Sample]]:
    """A value of each controller that lived, from when it had lived for `warm_up_s`."""
    lives: dict[int, list[Sample]] = {}
    for look in looks:
        if look["controller"] is not None:
            lives.setdefault(look["controller"]["pid"], []).append((look["at_s"], look["controller"][what]))
    grown = ([sample for sample in life if sample[0] - life[0][0] >= warm_up_s] for life in lives.values())
    return [life for life in grown if life]


def node_minutes(looks: Sequence[Look], own_mb: int, most_gap_s: float = MOST_GAP_S) -> tuple[float, float]:
    """(seen, above): for how long nodes were seen, and for how long their containers held more than the node has.

    What a look saw holds until the next. Where that is further away the ResourceManager did not answer, or nobody
    looked: that time is not seen.
    """
    seen_s = above_s = 0.0
    for look, following in pairwise(looks):
        gap_s = following["at_s"] - look["at_s"]
        if look["nodes"] is None or gap_s > most_gap_s:
            continue
        seen_s += gap_s * len(look["nodes"])
        above_s += gap_s * sum(node["used_mb"] > own_mb for node in look["nodes"].values())
    return seen_s / 60, above_s / 60


def percentile(values: Iterable[float], percent: float) -> float | None:
    """By nearest rank: a value that occurred; of fewer than 100 the 99th is the largest. None: of nothing."""
    ordered = sorted(values)
    return ordered[math.ceil(percent / 100 * len(ordered)) - 1] if ordered else None


def steps_of(looks: Sequence[Look]) -> list[dict[str, float]]:
    """The steps that looks caught, each once."""
    caught = {(look["step"]["session"], look["step"]["steps"]): look["step"] for look in looks if look["step"]}
    return list(caught.values())


def times_begun_anew(looks: Sequence[Look]) -> int:
    """How often the record was another file than at the look before."""
    files = [look["record"]["inode"] for look in looks if look["record"] is not None]
    return sum(one != other for one, other in pairwise(files))


def is_lost_to_us(job: dict[str, Any], faults: Iterable[dict[str, Any]]) -> bool:
    """It did not succeed, and no daemon that it needs was killed in its time; or it never came to an end."""
    if job["outcome"] in ("SUCCEEDED", GAVE_UP):
        return bool(job["outcome"] == GAVE_UP)
    return not any(
        fault["kills_containers"]
        and fault["from_s"] <= job["ended_at_s"]
        and fault["until_s"] + AFTER_FAULT_S >= job["planned_at_s"]
        for fault in faults
    )
