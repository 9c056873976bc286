"""Who will come: at the present pace for a while, if it has changed lately; then blocks of the recent past, drawn anew.

Blocks are those of the same hour of the day where the past is long enough. Where it is shorter than a horizon, it does
not tell how often that happens which happened once: the blocks that are missing bring what is usual, without bursts.

A change of pace is the arrival from which on the rate differs most from the one before, as likelihoods tell (Poisson).
How long it lasts nobody knows: what has lasted for some time lasts as long again in half of the futures (P(longer than
x) = age / (age + x)). A burst sets no pace: that is the median over fifths of the time since the change, of which a
burst fills two at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.twin.known import Application

BLOCKS: Final = 6  # that a horizon is put together from
PAST: Final = 4  # so many horizons of the past are drawn from, unless hours count
DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
FEWEST_DAYS: Final = 3
SURE: Final = 5.0  # logarithm of how much likelier a change must be than none
YOUNGEST_MS: Final = 60_000  # a pace that is younger may be one burst
PARTS: Final = 5  # of the time since the pace has changed
MINUTE_MS: Final = 60_000


@dataclass(frozen=True)
class Arrival:
    """One like this application comes then."""

    like: Application
    at_ms: int


@dataclass(frozen=True)
class Pace:
    """`like`: numbers of applications that have come at it, with how likely the next is like each of them."""

    age_ms: int
    per_ms: float
    like: tuple[int, ...]
    chances: tuple[float, ...]

    def draw(self, begin_ms: int, lasts_ms: int, random: np.random.Generator) -> list[tuple[int, int]]:
        """When somebody comes, from then on, and like whom; not in order."""
        count = random.poisson(self.per_ms * lasts_ms)
        if not count:
            return []
        at_ms = begin_ms + random.integers(1, lasts_ms + 1, count)
        return list(zip(at_ms.tolist(), random.choice(self.like, count, p=self.chances).tolist(), strict=True))


class Arrivals:
    """`apps`: all that are known; `watched_ms`: nobody comes where nobody has been watched."""

    def __init__(self, apps: Sequence[Application], watched_ms: int, horizon_ms: int) -> None:
        self._apps, self._watched_ms, self._horizon_ms = apps, watched_ms, horizon_ms
        came = sorted((app.submitted_at_ms, number) for number, app in enumerate(apps))
        self._came = [one for one in came if one[0] > -watched_ms]
        self._times = np.array([at_ms for at_ms, _ in self._came], np.int64)
        self.pace = self._present_pace()
        self._usual = self._usual_pace()

    def draw(self, random: np.random.Generator) -> list[Arrival]:
        """Of one future, in order."""
        lasts_ms = 0
        found: list[tuple[int, int]] = []
        if self.pace is not None:
            lasts_ms = round(min(self._horizon_ms, self.pace.age_ms * (1 / random.random() - 1)))
            found = self.pace.draw(0, lasts_ms, random)
        found += [one for one in self._in_blocks(random) if one[0] > lasts_ms]
        return [Arrival(self._apps[number], at_ms) for at_ms, number in sorted(found)]

    def _in_blocks(self, random: np.random.Generator) -> list[tuple[int, int]]:
        block_ms = max(1, self._horizon_ms // BLOCKS)
        found: list[tuple[int, int]] = []
        for block in range(BLOCKS):
            begins = _begins(self._watched_ms, self._horizon_ms, block_ms, block)
            if not len(begins):
                return []
            chosen = int(random.integers(max(BLOCKS, len(begins))))
            if chosen >= len(begins):
                found += self._usual.draw(block * block_ms, block_ms, random) if self._usual else []
                continue
            first, last = np.searchsorted(self._times, (begins[chosen], begins[chosen] + block_ms)).tolist()
            shift_ms = block * block_ms - begins[chosen]
            found += [(at_ms + shift_ms, number) for at_ms, number in self._came[first:last]]
        return found

    def _usual_pace(self) -> Pace | None:
        """All along, without bursts: no minute counts for more than the median. None: nobody has come."""
        if not len(self._times):
            return None
        minute = -self._times // MINUTE_MS
        counts = np.bincount(minute, minlength=self._watched_ms // MINUTE_MS)
        most = max(1.0, float(np.median(counts)))
        return self._pace(self._watched_ms, np.minimum(1.0, most / counts[minute]), 0)

    def _pace(self, age_ms: int, weights: npt.NDArray[np.float64], first: int) -> Pace:
        """`weights`: of those that came, from the first on: how much each counts."""
        like = tuple(number for _, number in self._came[first:])
        return Pace(age_ms, float(weights.sum()) / age_ms, like, tuple((weights / weights.sum()).tolist()))

    def _present_pace(self) -> Pace | None:
        """None: it is what it has been all along, or only a burst has come."""
        age_ms = change_of_pace_ms(self._times, self._watched_ms, self._horizon_ms)
        if age_ms is None:
            return None
        first = int(np.searchsorted(self._times, -age_ms))
        part = np.minimum((self._times[first:] + age_ms) * PARTS // age_ms, PARTS - 1)
        counts = np.bincount(part, minlength=PARTS)
        most = float(np.median(counts))
        if not most:
            return None
        found = self._pace(age_ms, np.minimum(1.0, most / counts[part]), first)
        return replace(found, per_ms=most * PARTS / age_ms)


def change_of_pace_ms(times: npt.NDArray[np.int64], watched_ms: int, horizon_ms: int) -> int | None:
    """How long ago the rate rose, within a horizon; None: no rise is likely enough. `times`: ascending, negative."""
    n = len(times)
    whole = n * math.log(n / watched_ms) if n else 0.0
    best, found = SURE, None
    first, last = np.searchsorted(times, (-horizon_ms, -YOUNGEST_MS), side="right").tolist()
    for before in range(first, last):
        since_ms, since = -int(times[before]), n - before
        before_ms = watched_ms - since_ms
        if before_ms <= 0 or since * before_ms <= before * since_ms:
            continue
        apart = since * math.log(since / since_ms) + (before * math.log(before / before_ms) if before else 0.0)
        if apart - whole > best:
            best, found = apart - whole, since_ms
    return found


def _begins(watched_ms: int, horizon_ms: int, block_ms: int, block: int) -> list[int]:
    """Where blocks of the past begin that could stand for this one of the future."""
    if watched_ms >= FEWEST_DAYS * DAY_MS:
        days = range(1, watched_ms // DAY_MS + 1)
        near = range(-HOUR_MS // 2, HOUR_MS // 2 + 1, block_ms)
        begins = [block * block_ms - day * DAY_MS + off for day in days for off in near]
        return [begin for begin in begins if -watched_ms <= begin <= -block_ms]
    span_ms = min(watched_ms, PAST * horizon_ms)
    return [-block_ms * (number + 1) for number in range(span_ms // block_ms)]
