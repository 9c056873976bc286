"""From rows to columns: what the engine keeps row by row, as tables want it.

A row of an attempt is a hundred bytes and more, so that taking one column after another out of a million of them reads
all of that memory once a column. In blocks that fit into a processor's cache it is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]

_WORD: Final = 8  # bytes
_ROWS_PER_BLOCK: Final = 2048


def columns_of(pieces: Sequence[Rows], dtype: np.dtype[Any]) -> dict[str, Rows]:
    """Every field of the rows, piece after piece, as an array of its own; [length, rows] where it has a length."""
    columns = _room_for(sum(map(len, pieces)), dtype)
    end = 0
    for piece in pieces:
        words = _words(piece)
        for first in range(0, len(piece), _ROWS_PER_BLOCK):
            block = words[first : first + _ROWS_PER_BLOCK]
            columns[:, end : end + len(block)] = block.T
            end += len(block)
    return _fields(columns, dtype)


def _words(rows: Rows) -> npt.NDArray[np.int64]:
    return rows.view(np.int64).reshape(len(rows), rows.dtype.itemsize // _WORD)


def _room_for(count: int, dtype: np.dtype[Any]) -> npt.NDArray[np.int64]:
    return np.empty((dtype.itemsize // _WORD, count), np.int64)


def _fields(columns: npt.NDArray[np.int64], dtype: np.dtype[Any]) -> dict[str, Rows]:
    return {name: _field(columns, *place[:2]) for name, place in (dtype.fields or {}).items()}


def _field(columns: npt.NDArray[np.int64], kind: np.dtype[Any], offset: int) -> npt.NDArray[Any]:
    word, byte = divmod(offset, _WORD)
    if kind.base.itemsize == _WORD:
        return columns[word : word + kind.shape[0]] if kind.shape else columns[word]
    narrow = columns[word].view(kind)[byte // kind.itemsize :: _WORD // kind.itemsize]
    return np.ascontiguousarray(narrow)
