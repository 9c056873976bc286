"""Who will come: blocks of the recent past, drawn anew; those of the same hour of the day where it was long enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from heddle.twin.known import Application

BLOCKS: Final = 6  # that a horizon is put together from
PAST: Final = 4  # so many horizons of the past are drawn from, unless hours count
DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
FEWEST_DAYS: Final = 3


@dataclass(frozen=True)
class Arrival:
    """One like this application comes then."""

    like: Application
    at_ms: int


def arrivals(
    apps: Sequence[Application], watched_ms: int, horizon_ms: int, random: np.random.Generator
) -> list[Arrival]:
    """Of one future. Nobody comes where nobody has been watched."""
    block_ms = max(1, horizon_ms // BLOCKS)
    came = sorted((app.submitted_at_ms, number) for number, app in enumerate(apps) if app.submitted_at_ms > -watched_ms)
    times = np.array([at_ms for at_ms, _ in came])
    found: list[Arrival] = []
    for block in range(BLOCKS):
        begins = _begins(watched_ms, horizon_ms, block_ms, block)
        if not len(begins):
            return []
        begin_ms = int(random.choice(begins))
        first, last = np.searchsorted(times, (begin_ms, begin_ms + block_ms)).tolist()
        found += [Arrival(apps[number], block * block_ms + at_ms - begin_ms) for at_ms, number in came[first:last]]
    return [one for one in found if one.at_ms > 0]


def _begins(watched_ms: int, horizon_ms: int, block_ms: int, block: int) -> list[int]:
    """Where blocks of the past begin that could stand for this one of the future."""
    if watched_ms >= FEWEST_DAYS * DAY_MS:
        days = range(1, watched_ms // DAY_MS + 1)
        near = range(-HOUR_MS // 2, HOUR_MS // 2 + 1, block_ms)
        begins = [block * block_ms - day * DAY_MS + off for day in days for off in near]
        return [begin for begin in begins if -watched_ms <= begin <= -block_ms]
    span_ms = min(watched_ms, PAST * horizon_ms)
    return [-block_ms * (number + 1) for number in range(span_ms // block_ms)]
