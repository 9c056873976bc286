"""Sums and exact quantiles of numbers of which there may be more than fit into memory.

Where there are too many to be held, they are counted between a few thousand marks, and the stretches in which the
wanted ones lie are cut again, until what is in them can be held: a few passes over the numbers, and nothing is sorted
but what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_HELD = 1 << 22
_MARKS: Final = 1 << 12  # they fit into the cache, in which every number looks for its place


class NumbersInPieces:
    """Whole numbers, or fractions that are not negative. `read` goes through all of them whenever it is called."""

    def __init__(self, read: Callable[[], Iterable[Values]]) -> None:
        self.read = read

    def __len__(self) -> int:
        return self._sums.count

    @property
    def mean(self) -> float:
        """There must be a number."""
        return self._sums.total / self._sums.count

    @property
    def total(self) -> float:
        return self._sums.total

    @property
    def squares(self) -> float:
        """The sum of their squares."""
        return self._sums.squares

    def quantiles(self, at: Sequence[float] | Floats) -> Floats:
        """Exact, as numpy's: the q-th of n numbers lies at place (n - 1) * q of the sorted ones. There must be one."""
        place = (len(self) - 1) * np.asarray(at, np.float64)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, len(self) - 1)
        wanted = np.unique(np.concatenate([below, above]))
        values = self._at_places(wanted)
        low, high = (values[np.searchsorted(wanted, places)] for places in (below, above))
        part, apart = place - below, high - low
        # From the nearer end, as numpy does it, so that rounding falls alike.
        return np.where(part >= 0.5, high - apart * (1 - part), low + apart * part)

    def _at_places(self, places: Ints) -> Values:
        """What stands at these places of all in order."""
        sums = self._sums
        if sums.held is not None:
            return sums.held[places]
        cells = _Cells.one(sums.least_key, sums.most_key, sums.count)
        while cells.to_be_held > MOST_HELD:
            cells = cells.cut(map(_key, self.read()), places)
        keys = cells.keys_at(map(_key, self.read()), places)
        return keys.view(np.float64) if sums.are_fractions else keys

    @cached_property
    def _sums(self) -> _Sums:
        count, total, squares, are_fractions = 0, 0.0, 0.0, False
        least, most = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        held: list[Values] = []
        for piece in self.read():
            if not len(piece):
                continue
            count += len(piece)
            held = [*held, piece] if count <= MOST_HELD else []
            total += float(piece.sum(dtype=np.float64))
            squares += float(np.square(piece, dtype=np.float64).sum())  # not np.dot: BLAS may add up in another order
            are_fractions = piece.dtype.kind == "f"
            keys = _key(piece)
            least, most = min(least, int(keys.min())), max(most, int(keys.max()))
        in_order = np.sort(np.concatenate(held)) if held else None
        return _Sums(in_order, count, total, squares, are_fractions, least, most)


@dataclass(frozen=True)
class _Sums:
    held: Values | None  # all of them in order, unless they are too many
    count: int
    total: float
    squares: float
    are_fractions: bool
    least_key: int
    most_key: int


def _key(values: Values) -> Ints:
    """Whole numbers in the same order: the bits of a fraction that is not negative are one."""
    return np.ascontiguousarray(values).view(np.int64) if values.dtype.kind == "f" else values.astype(np.int64)


@dataclass(frozen=True)
class _Cells:
    """Stretches of keys that lie apart, in order: from `first` to `last`, both included."""

    first: Ints
    last: Ints
    below: Ints  # how many of all numbers lie below it
    count: Ints  # and how many in it

    @classmethod
    def one(cls, first: int, last: int, count: int) -> _Cells:
        return cls(*(np.array([number], np.int64) for number in (first, last, 0, count)))

    @property
    def to_be_held(self) -> int:
        """How many must be looked at to know them: those of one key are known."""
        return int(self.count[self.first < self.last].sum())

    def cut(self, keys: Iterable[Ints], places: Ints) -> _Cells:
        """Each into smaller ones; those in which one of the places lies are left."""
        each = max(2, _MARKS // len(self.first))
        steps = -(-(self.last - self.first + 1) // each)
        begins = [
            np.arange(first, last + 1, step, dtype=np.int64)
            for first, last, step in zip(self.first.tolist(), self.last.tolist(), steps.tolist(), strict=True)
        ]
        of_cell = np.repeat(np.arange(len(begins)), [len(one) for one in begins])
        first = np.concatenate(begins)
        last = np.minimum(first + steps[of_cell] - 1, self.last[of_cell])
        smaller = _Cells(first, last, np.zeros_like(first), np.zeros_like(first))
        count = np.zeros(len(first), np.int64)
        for piece in keys:
            cell, inside = smaller._cell_of(piece)
            count += np.bincount(cell[inside], minlength=len(first))
        before = np.cumsum(count) - count
        starts = np.searchsorted(of_cell, np.arange(len(begins)))
        below = self.below[of_cell] + before - before[starts][of_cell]
        kept = np.unique(np.searchsorted(below + count, places, side="right"))
        return _Cells(first[kept], last[kept], below[kept], count[kept])

    def keys_at(self, keys: Iterable[Ints], places: Ints) -> Ints:
        """The keys at these places of all in order; each place lies in a cell."""
        held = np.sort(np.concatenate([piece[self._is_held(piece)] for piece in keys]))
        cell = np.searchsorted(self.below + self.count, places, side="right")
        begins = np.searchsorted(held, self.first)
        within = np.minimum(begins[cell] + places - self.below[cell], max(0, len(held) - 1))
        single = self.first[cell] == self.last[cell]
        return np.where(single, self.first[cell], held[within] if len(held) else 0)

    def _is_held(self, keys: Ints) -> npt.NDArray[np.bool_]:
        cell, inside = self._cell_of(keys)
        held: npt.NDArray[np.bool_] = inside & (self.first < self.last)[cell]
        return held

    def _cell_of(self, keys: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The cell that begins last before each key, and whether the key is in it."""
        cell = np.searchsorted(self.first, keys, side="right") - 1
        return np.maximum(cell, 0), (cell >= 0) & (keys <= self.last[cell])
