"""From rows to columns: what the engine keeps row by row, as tables want it.

A row of an attempt is a hundred bytes and more, so that taking one column after another out of a million of them reads
all of that memory once a column. In blocks that fit into a processor's cache it is read once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_WORD: Final = 8  # bytes
_ROWS_PER_BLOCK: Final = 2048


def columns_of(rows: npt.NDArray[Any], order: npt.NDArray[np.int64] | None = None) -> dict[str, npt.NDArray[Any]]:
    """Every field of the rows as an array of its own, [length, rows] where it has a length; in this order, if given."""
    words = rows.view(np.int64).reshape(len(rows), rows.dtype.itemsize // _WORD)
    columns = np.empty(words.shape[::-1], np.int64)
    for first in range(0, len(rows), _ROWS_PER_BLOCK):
        block = slice(first, first + _ROWS_PER_BLOCK)
        columns[:, block] = words[block if order is None else order[block]].T
    return {name: _field(columns, *place[:2]) for name, place in (rows.dtype.fields or {}).items()}


def _field(columns: npt.NDArray[np.int64], kind: np.dtype[Any], offset: int) -> npt.NDArray[Any]:
    word, byte = divmod(offset, _WORD)
    if kind.base.itemsize == _WORD:
        return columns[word : word + kind.shape[0]] if kind.shape else columns[word]
    narrow = columns[word].view(kind)[byte // kind.itemsize :: _WORD // kind.itemsize]
    return np.ascontiguousarray(narrow)


def places_in_order(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What sorts these numbers, of which no two are the same: as argsort, without comparing any."""
    row_at = np.full(int(places.max(initial=-1)) + 1, -1, np.int64)
    row_at[places] = np.arange(len(places))
    return row_at[row_at >= 0]
