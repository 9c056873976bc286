"""Amounts gathered line by line: exact sums of integers and, where wanted, the same over time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from heddle.analysis.measures.levels import Floats, Levels, placed
from heddle.analysis.measures.steps import Ints


class LedgerLines:
    """What every line holds of each resource, in resource x ms; with `edges_ms`, also how it lies over time."""

    def __init__(self, names: Iterable[str], n_resources: int, edges_ms: Floats | None = None) -> None:
        self._row = {name: row for row, name in enumerate(names)}
        self.sums = {name: np.zeros(n_resources, np.int64) for name in self._row}
        self._edges_ms = edges_ms
        self._levels = [] if edges_ms is None else [Levels(edges_ms, len(self._row)) for _ in range(n_resources)]

    def add(self, name: str, resource: int, begin_ms: Ints, end_ms: Ints, areas: Ints) -> None:
        """Areas (resource x ms), each of an interval over which it lies evenly."""
        self.sums[name][resource] += int(areas.sum())
        self.draw(name, resource, begin_ms, end_ms, areas)

    def draw(self, name: str, resource: int, begin_ms: Ints, end_ms: Ints, areas: Ints | Floats) -> None:
        """Where areas lie in time, without counting them: for what is counted otherwise."""
        if self._edges_ms is not None:
            end_ms = np.maximum(end_ms, begin_ms + 1)
            begin, end = placed(self._edges_ms, begin_ms), placed(self._edges_ms, end_ms)
            self._levels[resource].add(begin, end, areas / (end_ms - begin_ms), self._row[name])

    def over_time(self, resource: int) -> dict[str, Floats]:
        """For each line its mean amount in each bin."""
        means = self._levels[resource].means()
        return {name: means[row] for name, row in self._row.items()}
