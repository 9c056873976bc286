"""The properties of a capacity-scheduler.xml: numbers are taken out, and what was taken is remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from heddle.traces.cluster_import.imported import Leftovers
from heddle.traces.problems import Problems

PREFIX: Final = "yarn.scheduler.capacity."


class CapacityProperties:
    """Takes numbers out of the properties, and remembers which were taken."""

    def __init__(self, own: Mapping[str, str], taken: set[str], problems: Problems, left: Leftovers) -> None:
        self.own, self.taken, self.problems, self.left = own, taken, problems, left

    def number(self, name: str, convert: Callable[[float], int], low: float = 0.0, high: float = 1e9) -> int | None:
        """What is said under this name, in heddle's unit; None where nothing is."""
        if name not in self.own:
            return None
        self.taken.add(name)
        text = self.own[name]
        try:
            value = float(text)
        except ValueError:
            self.problems.add(f"must be a number, not {text!r}", field=PREFIX + name)
            return None
        if not low <= value <= high:
            self.problems.add(f"must be from {low:g} to {high:g}, not {text}", field=PREFIX + name)
            return None
        return convert(value)


def milli(value: float) -> int:
    return round(1000 * value)
