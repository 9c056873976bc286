"""Amounts of a resource over time as people read them: GB-hours, vcore-hours."""

from __future__ import annotations

from typing import Final

_UNITS: Final = {"memory_mb": ("GB-h", 1024), "vcores_milli": ("vcore-h", 1000)}
_HOUR_MS: Final = 3_600_000


def hours(amount_ms: float, resource: str) -> float:
    """resource x ms in hours of its larger unit."""
    return amount_ms / (_UNITS.get(resource, ("", 1))[1] * _HOUR_MS)


def hours_unit(resource: str) -> str:
    return _UNITS.get(resource, (f"{resource}-h", 1))[0]


def in_hours(amount_ms: float, resource: str) -> str:
    """`12.50 GB-h`."""
    return f"{hours(amount_ms, resource):,.2f} {hours_unit(resource)}"
