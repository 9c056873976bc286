"""Rows that come in the order of time and are wanted job by job: on disk, those of neighbouring jobs together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]


class RowsByBlock:
    """A file, and where in it are the rows of each block of jobs."""

    def __init__(self, file: IO[bytes], first_jobs: Sequence[int], row: np.dtype[Any]) -> None:
        """`first_jobs`: the number of the first job of each block, in order."""
        self._file, self._row = file, row
        self._first_jobs = np.asarray(first_jobs)
        self._stretches: list[list[tuple[int, int]]] = [[] for _ in first_jobs]  # first byte, bytes

    def add(self, rows: Rows) -> None:
        block = np.searchsorted(self._first_jobs, rows["job"], side="right") - 1
        order = np.argsort(block, kind="stable")
        rows, block = rows[order], block[order]
        place = self._file.tell()
        self._file.write(rows.tobytes())
        begins = np.flatnonzero(np.diff(block, prepend=-1))
        for begin, end in pairwise([*begins.tolist(), len(rows)]):
            size = self._row.itemsize
            self._stretches[block[begin]].append((place + begin * size, (end - begin) * size))

    def of_block(self, number: int) -> Rows:
        """In the order in which they came."""
        pieces = []
        for place, size in self._stretches[number]:
            self._file.seek(place)
            pieces.append(self._file.read(size))
        return np.frombuffer(b"".join(pieces), self._row)
