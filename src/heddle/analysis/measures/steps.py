"""Step functions over time, exact: sums of integers that change at instants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass
class Steps:
    """Changes of several levels, one column each, collected in any order."""

    columns: int
    _at: list[Ints] = field(default_factory=list)
    _change: list[Ints] = field(default_factory=list)

    def add(self, at_ms: Ints, column: Ints | int, change: Ints) -> None:
        """At these instants the level of a column (one, or one for each instant) changes by so much."""
        rows = np.zeros((len(at_ms), self.columns), np.int64)
        rows[np.arange(len(at_ms)), column] = change
        self._at.append(at_ms)
        self._change.append(rows)

    def levels(self, begin_ms: int, end_ms: int, instants: Sequence[Ints] = ()) -> tuple[Ints, Ints]:
        """(instants from `begin` on, level of each column from that instant to the next); the last row ends at `end`.

        Further `instants` are breakpoints too, so that several functions can be laid over each other.
        """
        at = np.concatenate([*self._at, np.zeros(0, np.int64)])
        change = np.concatenate([*self._change, np.zeros((0, self.columns), np.int64)])
        at = np.clip(at, begin_ms, end_ms)
        points = _distinct(np.concatenate([at, *instants, np.array([begin_ms, end_ms])]))
        points = points[(points >= begin_ms) & (points <= end_ms)]
        total = np.zeros((len(points), self.columns), np.int64)
        np.add.at(total, np.searchsorted(points, at), change)
        return points, np.cumsum(total, axis=0)

    def instants(self) -> Ints:
        return np.concatenate([*self._at, np.zeros(0, np.int64)])


def _distinct(values: Ints) -> Ints:
    """In order. np.unique hashes, which takes many times as long on millions of instants."""
    ordered: Ints = np.sort(values)
    distinct: Ints = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return distinct
