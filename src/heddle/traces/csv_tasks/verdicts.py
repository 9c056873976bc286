"""What becomes of a row that is wrong: it is refused with the whole file, or set aside and accounted for.

These are the two modes of the reader; everything else about a CSV of tasks is the same in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.suggestion import did_you_mean
from heddle.traces.imports.columns import ROW
from heddle.traces.imports.source import Source
from heddle.traces.problems import SHOWN_PER_KIND, Problems

RowNumbers = npt.NDArray[np.int64]
Said = Callable[[int], str]  # the words for the n-th of the rows


class Verdicts(ABC):
    """Hears what the reader finds wrong in one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems = Problems(source.name)  # of the file as a whole: they refuse it in both modes

    @abstractmethod
    def reject(
        self,
        rows: RowNumbers,
        what: str,
        field: str,
        said: Said | None = None,
        falling_with_them: RowNumbers | None = None,
    ) -> None:
        """These rows cannot be used; `falling_with_them` are sound but mean nothing without them."""

    @abstractmethod
    def mend(self, rows: RowNumbers, what: str, field: str, done: str, said: Said | None = None) -> None:
        """These rows can be used in one sensible way, which `done` names."""

    @abstractmethod
    def unknown_columns(self, unknown: list[str], known: tuple[str, ...]) -> None:
        """The file has columns that are not heddle's."""

    @abstractmethod
    def settle(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that are left; BadInput where the file is refused."""


class Refusing(Verdicts):
    """Strict: whatever is wrong refuses the file, all of it at once."""

    def reject(
        self,
        rows: RowNumbers,
        what: str,
        field: str,
        said: Said | None = None,
        falling_with_them: RowNumbers | None = None,
    ) -> None:
        self._report(rows, what, field, said)

    def mend(self, rows: RowNumbers, what: str, field: str, done: str, said: Said | None = None) -> None:
        self._report(rows, what, field, said)

    def unknown_columns(self, unknown: list[str], known: tuple[str, ...]) -> None:
        for name in unknown:  # usually a misspelt one
            hint = did_you_mean(name, known) or f"; known columns are {', '.join(known)}"
            self.problems.add(f"unknown column{hint}", row=1, field=name)

    def settle(self, frame: pl.DataFrame) -> pl.DataFrame:
        for reason, rows in self.source.rows.set_aside_rows().items():  # by the reader of tables
            self._report(rows, reason, None, None)
        self.problems.raise_if_any()
        return frame

    def _report(self, rows: RowNumbers, what: str, field: str | None, said: Said | None) -> None:
        for n, row in enumerate(rows[:SHOWN_PER_KIND].tolist()):
            self.problems.add(what if said is None else said(n), row=self.source.rows.line(row), field=field)
        if len(rows) > SHOWN_PER_KIND:
            self.problems.add(f"and {len(rows) - SHOWN_PER_KIND} more rows like these", field=field)


class SettingAside(Verdicts):
    """Wrong rows are set aside with their first reason; what was corrected or not used becomes a note."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.notes: list[str] = []

    def reject(
        self,
        rows: RowNumbers,
        what: str,
        field: str,
        said: Said | None = None,
        falling_with_them: RowNumbers | None = None,
    ) -> None:
        every = np.unique(rows if falling_with_them is None else np.concatenate([rows, falling_with_them]))
        self.source.rows.set_aside(every[self.source.rows.undecided()[every]], f"{field}: {what}")

    def mend(self, rows: RowNumbers, what: str, field: str, done: str, said: Said | None = None) -> None:
        if len(rows):
            self.notes.append(f"{self.source.name}: {field}: {what} in {len(rows):,} rows: {done}")

    def unknown_columns(self, unknown: list[str], known: tuple[str, ...]) -> None:
        if unknown:
            self.notes.append(f"{self.source.name}: columns that were not used: {', '.join(unknown)}")

    def settle(self, frame: pl.DataFrame) -> pl.DataFrame:
        self.problems.raise_if_any()
        return frame.filter(pl.Series(self.source.rows.undecided()[frame[ROW].to_numpy()], dtype=pl.Boolean))
