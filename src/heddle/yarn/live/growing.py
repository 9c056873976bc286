"""Arrays that grow by rows while their rows keep their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FIRST_ROOM = 64


class Growing:
    """Zeroed rows of one dtype. `rows` is the part in use: contiguous, and now and then replaced by a copy."""

    def __init__(self, dtype: np.dtype[Any] | type, columns: int | None = None) -> None:
        """`columns`: a second axis of this length; None for an array of one axis."""
        self._tail: tuple[int, ...] = () if columns is None else (columns,)
        self._room = np.zeros((FIRST_ROOM, *self._tail), dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def rows(self) -> npt.NDArray[Any]:
        return self._room[: self._used]

    def add(self, count: int = 1) -> int:
        """Takes so many more rows; returns the number of the first."""
        first, self._used = self._used, self._used + count
        if self._used > len(self._room):
            bigger = np.zeros((2 * self._used, *self._tail), self._room.dtype)
            bigger[:first] = self._room[:first]
            self._room = bigger
        return first

    def grow_to(self, count: int) -> None:
        if count > self._used:
            self.add(count - self._used)
