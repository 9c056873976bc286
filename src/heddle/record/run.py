"""One run: everything that analysis may look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass
from itertools import pairwise
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import polars as pl

from heddle.record import stored
from heddle.record.stored import StoredTable

Frame = TypeVar("Frame", pl.DataFrame, pl.DataFrame | None)
LongTable = Literal["jobs", "attempts", "stages", "events"]
PIECE_ROWS = 1 << 18  # as many as a part on disk has


class _Table(Generic[Frame]):
    """A table that may still be on disk: read on first full access, and kept from then on."""

    def __init__(self, default: Any = MISSING) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, run: Run | None, owner: type) -> Frame:
        if run is None:  # a dataclass asks for the default
            if self._default is MISSING:
                raise AttributeError(self._name)
            return self._default  # type: ignore[no-any-return]
        held = vars(run)[self._name]
        if isinstance(held, StoredTable):
            held = vars(run)[self._name] = held.whole()
        return held  # type: ignore[no-any-return]

    def __set__(self, run: Run, table: Frame | StoredTable) -> None:
        vars(run)[self._name] = table


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run was, and what came of it. `record/schema.py` says what each column and manifest field means.

    The long tables may be on disk, larger than memory: `jobs`, `attempts`, `stages` and `events` are whole, and what
    need not hold one reads parts of it: the methods do so, of tables in memory, too.
    """

    manifest: dict[str, Any]
    jobs: _Table[pl.DataFrame] = _Table()
    attempts: _Table[pl.DataFrame] = _Table()
    shapes: pl.DataFrame
    stages: _Table[pl.DataFrame] = _Table()
    nodes: pl.DataFrame
    events: _Table[pl.DataFrame | None] = _Table(None)  # None: the run kept no log of events

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(self.manifest["resources"])

    @property
    def has_events(self) -> bool:
        return vars(self)["events"] is not None

    def pieces(self, table: LongTable) -> Iterator[pl.DataFrame]:
        """All rows in order, so many at a time that memory is bounded."""
        held = self._held(table)
        return held.pieces() if isinstance(held, StoredTable) else held.iter_slices(PIECE_ROWS)

    def scan(self, table: LongTable) -> pl.LazyFrame:
        """For a query that Polars can work out without holding the table: `collect(engine="streaming")`."""
        held = self._held(table)
        return held.scan() if isinstance(held, StoredTable) else held.lazy()

    def job_ranges(self) -> Iterator[tuple[int, int]]:
        """The jobs, cut into stretches of numbers, both ends included: the tasks of one can be held."""
        for jobs in self.pieces("jobs"):
            tasks = jobs["tasks"].to_numpy()
            stretch = np.cumsum(tasks, dtype=np.int64) // PIECE_ROWS
            begins = np.flatnonzero(np.diff(stretch, prepend=-1))
            numbers = jobs["job"].to_numpy()
            for begin, end in pairwise([*begins.tolist(), len(numbers)]):
                yield int(numbers[begin]), int(numbers[end - 1])

    def of_jobs(self, table: LongTable, first: int, last: int) -> pl.DataFrame:
        """The rows of the jobs from one number to another, both included, in order."""
        held = self._held(table)
        return held.of_jobs(first, last) if isinstance(held, StoredTable) else held.filter(stored.of_jobs(first, last))

    def of_these_jobs(self, table: LongTable, numbers: pl.Series) -> pl.DataFrame:
        """The rows of the jobs with these numbers, which are in order."""
        held = self._held(table)
        if isinstance(held, StoredTable):
            return held.of_these_jobs(numbers)
        return held.filter(pl.col("job").is_in(numbers.implode()))

    def events_between(self, first_ms: int, last_ms: int, kinds: Sequence[str]) -> pl.DataFrame:
        """Events of these kinds from one instant to another, both included; the run must have a log of them."""
        held = self._held("events")
        if isinstance(held, StoredTable):
            return held.events_between(first_ms, last_ms, kinds)
        return held.filter(stored.happened(first_ms, last_ms, kinds))

    def time_cuts(self) -> list[int]:
        """Instants, in order, between two of which so few attempts end that they can be held."""
        held = self._held("attempts")
        if isinstance(held, StoredTable):
            return sorted(set(held.last_ends()))
        return held["ended_at_ms"].drop_nulls().sort().gather_every(PIECE_ROWS, PIECE_ROWS).unique().sort().to_list()

    def attempts_around(self, first_ms: int, last_ms: int) -> Iterator[pl.DataFrame]:
        """Attempts that were asked for, or held a container, at any time from one instant to another, both included:
        in pieces, at least one."""
        held = self._held("attempts")
        if isinstance(held, StoredTable):
            return held.attempts_around(first_ms, last_ms)
        return iter([held.filter(stored.lived_around(first_ms, last_ms))])

    def events_back_from(self, last_ms: int) -> Iterator[pl.DataFrame]:
        """Events up to an instant, in pieces: the latest comes first, but the rows of each are in order."""
        held = self._held("events")
        if isinstance(held, StoredTable):
            return held.events_back_from(last_ms)
        return iter([held.filter(pl.col("at_ms") <= last_ms)])

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables that this run has, by their name in the schema."""
        found = {
            "jobs": self.jobs,
            "attempts": self.attempts,
            "shapes": self.shapes,
            "stages": self.stages,
            "nodes": self.nodes,
        }
        return found if self.events is None else found | {"events": self.events}

    def _held(self, table: LongTable) -> pl.DataFrame | StoredTable:
        held: pl.DataFrame | StoredTable = vars(self)[table]
        return held
