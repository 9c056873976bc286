"""Random numbers by position, not by order: draw(seed, stream, index) is a pure function.

Two policies that make different decisions still see the same heartbeat phases and the same faults, because
nothing is consumed. Streams keep the purposes apart (common random numbers).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from heddle.model.compilable import callable_too, mark

STREAM_NODE_HEARTBEAT: Final = 1
STREAM_AM_HEARTBEAT: Final = 2
STREAM_USAGE_REPORT: Final = 3
STREAM_NODE_FAULT: Final = 4
STREAM_TASK_FAULT: Final = 5
STREAM_SLOW_NODE: Final = 6
STREAM_POLICY: Final = 7
STREAM_OBSERVATION: Final = 8
STREAM_TRAFFIC: Final = 9


_ALL_BITS: Final = (1 << 64) - 1


def _mixed(x: int) -> int:
    """SplitMix64's finaliser."""
    z = x + 0x9E3779B97F4A7C15 & _ALL_BITS
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _ALL_BITS
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _ALL_BITS
    return z ^ (z >> 31)


def draw(seed: int, stream: int, index: int) -> int:
    """A non-negative 53-bit integer that depends on nothing but its arguments."""
    mixed = _mixed(_mixed(_mixed(int(seed) & _ALL_BITS) ^ int(stream)) ^ (int(index) & _ALL_BITS))
    return mixed >> 11


# The same for compiled code, whose integers have 64 bits anyway.


@callable_too
def _mix(x: np.uint64) -> np.uint64:
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _draw(seed: int, stream: int, index: int) -> int:
    mixed = _mix(_mix(_mix(np.uint64(seed)) ^ np.uint64(stream)) ^ np.uint64(index))
    return np.int64(mixed >> np.uint64(11))  # type: ignore[return-value]  # int() of Numba would keep it unsigned


mark(draw, compiled_as=_draw)
