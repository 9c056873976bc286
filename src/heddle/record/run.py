"""One run: everything that analysis may look at."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Any, Generic, TypeVar

import polars as pl

Frame = TypeVar("Frame", pl.DataFrame, pl.DataFrame | None)


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
        if isinstance(held, pl.LazyFrame):
            held = vars(run)[self._name] = held.collect()
        return held  # type: ignore[no-any-return]

    def __set__(self, run: Run, table: Frame | pl.LazyFrame) -> None:
        vars(run)[self._name] = table


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run was, and what came of it. `record/schema.py` says what each column and manifest field means.

    Of a run that has just been written to disk the long tables are there: `scan_attempts` is for
    queries that need not hold all of one.
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

    def scan_attempts(self) -> pl.LazyFrame:
        """The attempts for a query that needs only a part of them."""
        held: pl.DataFrame | pl.LazyFrame = vars(self)["attempts"]
        return held.lazy()

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
