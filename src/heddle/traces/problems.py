"""Collecting everything that is wrong with an input, so that the user sees it all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.errors import BadInput, Problem

# A column that is wrong throughout says so in twenty lines, not in a million.
SHOWN_PER_KIND: Final = 20


class Problems:
    """The problems of one file, in the order in which they were found."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.found: list[Problem] = []

    def add(self, what: str, *, row: int | None = None, field: str | None = None) -> None:
        self.found.append(Problem(self.where, what, row, field))

    def add_rows(
        self,
        places: npt.NDArray[Any],
        what: str | Callable[[int], str],
        *,
        field: str | None = None,
        first_row: int = 0,
    ) -> None:
        """The same kind of problem at each of these positions; `first_row` is the row number of position 0."""
        for place in places[:SHOWN_PER_KIND].tolist():
            self.add(what if isinstance(what, str) else what(place), row=place + first_row, field=field)
        if len(places) > SHOWN_PER_KIND:
            self.add(f"and {len(places) - SHOWN_PER_KIND} more rows like these", field=field)

    def add_where(
        self,
        wrong: npt.NDArray[np.bool_],
        what: str | Callable[[int], str],
        *,
        field: str | None = None,
        first_row: int = 0,
    ) -> None:
        """Like `add_rows`, for a mask over all positions."""
        if wrong.any():
            self.add_rows(np.flatnonzero(wrong), what, field=field, first_row=first_row)

    def raise_if_any(self) -> None:
        if self.found:
            raise BadInput(self.found)
