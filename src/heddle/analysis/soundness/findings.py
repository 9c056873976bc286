"""What was found wrong with a run: of each kind its earliest example, and how often. So it does not matter in which
pieces, or in which order, the run was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]
AT_THE_END: Final = np.iinfo(np.int64).max  # the place of what no row shows


@dataclass
class _Kind:
    place: int
    example: str
    count: int


class Findings:
    """None, for a good run."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def add_rows(self, what: str, rows: Rows, detail: str = "") -> None:
        """`rows`: all that show it, if any; `detail`: about the first of them."""
        if len(rows):
            row = rows[0]
            where = f"{detail}, at {row['at_ms']} ms: node {row['node']}, job {row['job']}, task {row['task']}"
            self._add(what, _Kind(int(row["place"]), where, len(rows)))

    def add_at_the_end(self, what: str, example: str, count: int) -> None:
        """What only the whole run shows; the first example that is added stays."""
        if count:
            self._add(what, _Kind(AT_THE_END, example, count))

    def forget(self, what: str) -> None:
        self._kinds.pop(what, None)

    def texts(self) -> list[str]:
        """What went wrong first comes first."""
        found = sorted(self._kinds.items(), key=lambda one: (one[1].place, one[0]))
        return [what + one.example + (f" (and {one.count - 1} more)" if one.count > 1 else "") for what, one in found]

    def _add(self, what: str, new: _Kind) -> None:
        known = self._kinds.setdefault(what, new)
        if known is new:
            return
        if new.place < known.place:
            known.place, known.example = new.place, new.example
        known.count += new.count
