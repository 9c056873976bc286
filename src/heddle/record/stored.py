"""A table of a record that stays on disk: it is read part by part, or only where it tells of some jobs or of some time.

Attempts stand in the order of their ends and jobs in that of submission, so that a few neighbouring parts tell of
neighbouring jobs. Which ones do is looked up once, in the columns that say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

_FOREVER: Final = 2**63 - 1


class Extent(NamedTuple):
    """From the least to the largest of a part; nothing is in it where it has no such rows."""

    first: int
    last: int

    def meets(self, first: int, last: int) -> bool:
        return self.first <= last and first <= self.last


class StoredTable:
    """The files of its parts, in order. `read`: what the rows of a file mean, where they are not rows of the table."""

    def __init__(self, files: Sequence[Path], read: Callable[[Path], pl.LazyFrame] | None = None) -> None:
        self._files, self._read = list(files), read

    def whole(self) -> pl.DataFrame:
        return pl.concat(self.pieces())

    def held(self) -> pl.DataFrame | StoredTable:
        """A table of a single part is short enough to be in memory."""
        return self if len(self._files) > 1 else self.whole()

    def scan(self) -> pl.LazyFrame:
        """For queries that Polars can work out without holding all of it."""
        return pl.scan_parquet(self._files) if self._read is None else pl.concat(map(self._read, self._files))

    def pieces(self) -> Iterator[pl.DataFrame]:
        return map(self._rows, self._files)

    def of_jobs(self, first: int, last: int) -> pl.DataFrame:
        """The rows of the jobs from one number to another, both included, in order."""
        return pl.concat(self._meeting(self._jobs, first, last, of_jobs(first, last)))

    def of_these_jobs(self, numbers: pl.Series) -> pl.DataFrame:
        """The rows of the jobs with these numbers, which are in order."""
        sought = numbers.to_numpy()
        files = [
            file
            for file, one in zip(self._files, self._jobs, strict=True)
            if np.searchsorted(sought, one.first) < np.searchsorted(sought, one.last, side="right")
        ]
        which = pl.col("job").is_in(numbers.implode())
        return pl.concat([self._rows(file).filter(which) for file in files or self._files[:1]])

    def events_between(self, first_ms: int, last_ms: int, kinds: Sequence[str]) -> pl.DataFrame:
        """Events of these kinds from one instant to another, both included: most events are sizes of nodes."""
        return pl.concat(self._meeting(self._times, first_ms, last_ms, happened(first_ms, last_ms, kinds)))

    def last_ends(self) -> list[int]:
        """Of each part, the last instant at which an attempt ended."""
        return [one.last for one in self._extents(pl.col("ended_at_ms").min(), pl.col("ended_at_ms").max())]

    def attempts_around(self, first_ms: int, last_ms: int) -> Iterator[pl.DataFrame]:
        """Attempts that were asked for, or held a container, at any time from one instant to another, both included."""
        return self._meeting(self._lives, first_ms, last_ms, lived_around(first_ms, last_ms))

    def events_back_from(self, last_ms: int) -> Iterator[pl.DataFrame]:
        """Events up to an instant; the latest part comes first, but the rows of each are in order."""
        for file, one in zip(reversed(self._files), reversed(self._times), strict=True):
            if one.first <= last_ms:
                yield self._rows(file).filter(pl.col("at_ms") <= last_ms)

    @cached_property
    def _jobs(self) -> list[Extent]:
        job = pl.col("job").filter(pl.col("job") >= 0)
        return self._extents(job.min(), job.max())

    @cached_property
    def _times(self) -> list[Extent]:
        return self._extents(pl.col("at_ms").min(), pl.col("at_ms").max())

    @cached_property
    def _lives(self) -> list[Extent]:
        return self._extents(BEGAN.min(), ENDED.max())

    def _extents(self, least: pl.Expr, most: pl.Expr) -> list[Extent]:
        found = []
        for file in self._files:
            rows = pl.scan_parquet(file) if self._read is None else self._read(file)
            first, last = rows.select(first=least, last=most).collect().row(0)
            found.append(Extent(_FOREVER, -_FOREVER) if first is None else Extent(first, last))
        return found

    def _meeting(self, extents: list[Extent], first: int, last: int, which: pl.Expr) -> Iterator[pl.DataFrame]:
        """The rows of the parts that may have some; at least one frame, which may be empty."""
        files = [file for file, one in zip(self._files, extents, strict=True) if one.meets(first, last)]
        return (self._rows(file).filter(which) for file in files or self._files[:1])

    def _rows(self, file: Path) -> pl.DataFrame:
        return pl.read_parquet(file) if self._read is None else self._read(file).collect()


BEGAN: Final = pl.min_horizontal("asked_at_ms", "allocated_at_ms")
ENDED: Final = pl.max_horizontal(pl.col("ended_at_ms").fill_null(_FOREVER), "allocated_at_ms")


def of_jobs(first: int, last: int) -> pl.Expr:
    return pl.col("job").is_between(first, last)


def happened(first_ms: int, last_ms: int, kinds: Sequence[str]) -> pl.Expr:
    return pl.col("at_ms").is_between(first_ms, last_ms) & pl.any_horizontal(pl.col("kind") == one for one in kinds)


def lived_around(first_ms: int, last_ms: int) -> pl.Expr:
    return (last_ms >= BEGAN) & (first_ms <= ENDED)
