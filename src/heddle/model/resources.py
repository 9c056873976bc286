"""Resources are a vector of integers; the first two are always memory and vcores.

Memory is counted in MB, vcores in millicores, every further declared type in its own whole units. How a
resource behaves when it is oversold is its *kind*: a compressible one slows tasks down, an incompressible
one crashes them, an exclusive one is never oversold.
"""

from __future__ import annotations

from typing import Final

MEMORY: Final = 0
VCORES: Final = 1

MEMORY_MB: Final = "memory_mb"
VCORES_MILLI: Final = "vcores_milli"
BASE_RESOURCES: Final = (MEMORY_MB, VCORES_MILLI)

# Fixed-point one: shares, ratios and rates are integers in units of 2**-20, so that every machine agrees.
ONE_BITS: Final = 20
ONE: Final = 1 << ONE_BITS

MILLI: Final = 1000

MAX_RESOURCES: Final = 8  # of one cluster; levers keep so many columns


def display_name(resource: str) -> str:
    """The name people read: `memory_mb` is memory, `vcores_milli` is vcores."""
    return {MEMORY_MB: "memory", VCORES_MILLI: "vcores"}.get(resource, resource)
