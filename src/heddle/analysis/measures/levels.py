"""Levels over time, made of many intervals: how much stood, on average, in each bin of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.record.run import Run

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Placed(NamedTuple):
    """Instants among the edges of bins: looked up once, for all levels that change then."""

    bin: Ints
    since_ms: Floats  # the first edge: keeps sums small and precise


def placed(edges_ms: Floats, instants_ms: Ints) -> Placed:
    return Placed(np.searchsorted(edges_ms, instants_ms), instants_ms - edges_ms[0])


class Levels:
    """Several levels, one row each, over the same bins. A short spike is flattened, but its area is kept."""

    def __init__(self, edges_ms: Floats, rows: int = 1) -> None:
        self._edges = edges_ms
        self._width = len(edges_ms) + 1
        # For each edge, what begins (or, negative, ends) in the bin before it: amounts, and amounts times instants.
        self._amount = np.zeros((rows, self._width))
        self._moment = np.zeros((rows, self._width))

    def add(self, start: Placed, end: Placed, amount: Floats, row: Ints | int = 0) -> None:
        """Intervals with what each of them adds, to one row or each to its own."""
        first = self._width * np.asarray(row, np.int64)
        for instants, sign in ((start, 1), (end, -1)):
            place = instants.bin + first
            for sums, weights in ((self._amount, amount), (self._moment, amount * instants.since_ms)):
                sums += sign * np.bincount(place, weights, sums.size).reshape(sums.shape)

    def means(self) -> Floats:
        """[row, bin]: exact means."""
        offsets = self._edges - self._edges[0]
        so_far = offsets * np.cumsum(self._amount, axis=1)[:, :-1] - np.cumsum(self._moment, axis=1)[:, :-1]
        means: Floats = np.maximum(0.0, np.diff(so_far, axis=1) / np.diff(self._edges))  # rounding may dip below 0
        return means


def horizon_ms(run: Run) -> tuple[int, int]:
    """From the first submission, or when somebody began to look, to the last thing known."""
    ended = pl.col("ended_at_ms").max()
    first, last = run.scan("jobs").select(pl.col("submit_at_ms").min(), ended).collect(engine="streaming").row(0)
    begin = 0 if first is None else max(0, first)
    instants = [pl.col(f"{name}_at_ms").max() for name in ("asked", "allocated", "started")]
    found = run.scan("attempts").select(*instants, ended).collect(engine="streaming").row(0)
    return begin, max([begin, *(int(instant) for instant in (last, *found) if instant is not None)])
