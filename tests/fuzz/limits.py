"""What a reader may take for one input, and what it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CPU_S: Final = 10.0  # for an input of up to 1 MB; of CPU time, so that a busy machine is no hang
MEMORY_TIMES: Final = 400  # bytes for each byte of the input
MEMORY_BASE: Final = 64 << 20  # bytes for any input: modules that are loaded when they are first needed, pools
_PEAK, _NOW = "VmHWM:", "VmRSS:"


@dataclass(frozen=True)
class Took:
    """By one input of so many bytes. Memory is all that the process came to hold, in native code, too."""

    length: int
    cpu_s: float
    memory: int

    @property
    def is_too_much(self) -> bool:
        return self.cpu_s > CPU_S or self.memory > MEMORY_BASE + MEMORY_TIMES * self.length

    def __str__(self) -> str:
        return f"{self.length:,} bytes: {self.cpu_s:.1f} s of CPU time, {self.memory >> 20:,} MB"


def took(read: Callable[[bytes], object], data: bytes) -> Took:
    """Linux only. What an allocator has kept from earlier inputs may be used again, and is not seen then."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak is now what there is now
    before, began_s = _memory(_NOW), time.process_time()
    read(data)
    return Took(len(data), time.process_time() - began_s, max(0, _memory(_PEAK) - before))


def _memory(which: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(which))
    return int(line.split()[1]) << 10
