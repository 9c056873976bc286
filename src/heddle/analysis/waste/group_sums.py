"""Sums by group, of which there may be more than fit into memory: then they lie on disk, in buckets.

All rows of a group are in one bucket, so that one bucket after another can be added up.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

import polars as pl

MOST_HELD = 1 << 20  # groups
_BUCKETS: Final = 64
GROUP: Final = "group"


class GroupSums:
    """Rows of sums of pieces: a column `group`, and beside it nothing but what adds up. To be used in a `with`."""

    def __init__(self) -> None:
        self._held: list[pl.DataFrame] = []
        self._rows = 0
        self._spills = 0
        self._folder: Path | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, sums: pl.DataFrame) -> None:
        self._held.append(sums)
        self._rows += sums.height
        if self._rows > MOST_HELD:
            self._held = [_together(self._held)]
            self._rows = self._held[0].height
            if self._rows > MOST_HELD // 2:  # they are many, and not the same again and again
                self._spill()

    def close(self) -> None:
        """Nothing else is to come."""
        self._held = [_together(self._held)] if self._held else []
        if self._folder is None:
            return
        self._spill()
        for bucket in range(_BUCKETS):
            files = sorted(self._folder.glob(f"{bucket}-*.parquet"))
            if files:
                _together([pl.read_parquet(file) for file in files]).write_parquet(self._folder / f"{bucket}.parquet")
            for file in files:
                file.unlink()

    def read(self) -> Iterator[pl.DataFrame]:
        """Some groups after others, each once."""
        if self._folder is None:
            yield from self._held
            return
        for file in sorted(self._folder.glob("*.parquet")):
            yield pl.read_parquet(file)

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="heddle-")))
        for sums in self._held:
            for (bucket,), rows in sums.group_by(pl.col(GROUP).hash(0) % _BUCKETS):
                rows.write_parquet(self._folder / f"{bucket}-{self._spills:05d}.parquet")
        self._held, self._rows, self._spills = [], 0, self._spills + 1


def _together(pieces: list[pl.DataFrame]) -> pl.DataFrame:
    whole = pl.concat(pieces)
    return whole.group_by(GROUP, maintain_order=True).agg(pl.all().sum()) if whole.height else whole
