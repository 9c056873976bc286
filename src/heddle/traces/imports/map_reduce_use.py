"""True use of a MapReduce attempt: by Hadoop's twelve splits of its progress, or constant from its counters."""

from __future__ import annotations

from typing import Any, Final

from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD
from heddle.traces.build import Profile, constant
from heddle.traces.imports.json_items import items

_BYTES_PER_MB: Final = 1 << 20
_KB_PER_MB: Final = 1024
_MOST_VCORES_MILLI: Final = 1024 * MILLI  # a CPU time beyond this for its duration is a damaged counter


def use_by_splits(attempt: Any) -> Profile | None:
    """Memory and CPU over the attempt; None where the splits are missing or make no sense."""
    clocks, cpu, memory = (items(attempt, key) for key in ("clockSplits", "cpuUsages", "physMemKbytes"))
    if not clocks or not len(clocks) == len(cpu) == len(memory):
        return None
    if not all(isinstance(value, int) and 0 <= value < 1 << 40 for part in (clocks, cpu, memory) for value in part):
        return None
    if not sum(clocks) or not any(memory):
        return None
    levels: list[tuple[int, tuple[int, ...]]] = []
    done = 0
    for clock, busy, kb in zip(clocks, cpu, memory, strict=True):
        done += clock
        until = PERMYRIAD * done // sum(clocks)
        if clock and until > (levels[-1][0] if levels else 0):
            levels.append((until, (-(-kb // _KB_PER_MB), min(busy * MILLI // clock, _MOST_VCORES_MILLI))))
    return tuple(levels)


def use_by_counters(peak_bytes: int | None, cpu_ms: int | None, duration_ms: int) -> Profile | None:
    """The same use throughout: the peak of memory, the mean of CPU."""
    if not peak_bytes or peak_bytes < 0 or cpu_ms is None or cpu_ms < 0 or duration_ms <= 0:
        return None
    return constant(-(-peak_bytes // _BYTES_PER_MB), min(cpu_ms * MILLI // duration_ms, _MOST_VCORES_MILLI))
