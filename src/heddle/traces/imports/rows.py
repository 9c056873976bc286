"""What became of every row of a file: a task, merged into one, metadata, or set aside with a reason.

A format cannot lose a row. Rows are announced as they are read, each must get exactly one fate, a second fate is a
defect, and so is a row that is left without one when the import ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from heddle.model.errors import CheckFailed

FateKind = Literal["task", "merged", "metadata", "set_aside"]
KINDS: Final[tuple[FateKind, ...]] = ("task", "merged", "metadata", "set_aside")
Which = npt.NDArray[Any] | Sequence[int] | int  # row numbers of a file, or a mask over all of them

_UNDECIDED: Final = 0
_FIRST_ROOM: Final = 1024


@dataclass(frozen=True)
class Fate:
    """One thing that can become of a row; `why` says into what it was merged, or for what reason it was set aside."""

    kind: FateKind
    why: str = ""


class Rows:
    """The rows of one file in the order in which they were read, each with its fate."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self._decisions = 0
        self._lines = np.zeros(_FIRST_ROOM, np.int64)
        self._fate = np.zeros(_FIRST_ROOM, np.int16)
        self._fates: list[Fate] = []  # fate n + 1 of the column above
        self._number: dict[Fate, int] = {}
        self._shown: dict[int, str] = {}

    def add(self, lines: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Announce rows that begin on these lines; their numbers."""
        end = self.count + len(lines)
        if end > len(self._lines):
            room = max(end, 2 * len(self._lines))
            self._lines = np.resize(self._lines, room)
            grown = np.zeros(room, np.int16)
            grown[: self.count] = self._fate[: self.count]
            self._fate = grown
        self._lines[self.count : end] = lines
        numbers = np.arange(self.count, end)
        self.count = end
        return numbers

    def add_one(self, line: int, shown: str | None = None) -> int:
        """Announce one row; `shown` is its text where the line of the file alone would not tell."""
        number = int(self.add(np.array([line], np.int64))[0])
        if shown is not None:
            self._shown[number] = shown
        return number

    def tasks(self, which: Which) -> None:
        """These rows became tasks."""
        self._decide(which, Fate("task"))

    def merged(self, which: Which, into: str) -> None:
        """These rows (events, samples, attempts) are parts of tasks that other rows stand for."""
        self._decide(which, Fate("merged", into))

    def metadata(self, which: Which, what: str) -> None:
        """These rows say something about the whole: headers, comments, machines, jobs."""
        self._decide(which, Fate("metadata", what))

    def set_aside(self, which: Which, reason: str) -> None:
        """These rows cannot be used."""
        self._decide(which, Fate("set_aside", reason))

    def _decide(self, which: Which, fate: Fate) -> None:
        rows = np.atleast_1d(np.asarray(which))
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        if not len(rows):
            return
        if fate not in self._number:
            self._fates.append(fate)
            self._number[fate] = len(self._fates)
        self._must(self._fate[rows] == _UNDECIDED, rows, f"decided twice, now as {fate.kind} {fate.why}")
        self._fate[rows] = self._number[fate]
        self._decisions += len(rows)

    def undecided(self) -> npt.NDArray[np.bool_]:
        """A mask of the rows that have no fate yet."""
        open_rows: npt.NDArray[np.bool_] = self._fate[: self.count] == _UNDECIDED
        return open_rows

    def close(self) -> None:
        """Raise CheckFailed unless every row has its fate."""
        fate = self._fate[: self.count]
        self._must(fate != _UNDECIDED, np.arange(self.count), "read, but not accounted for")
        if self._decisions != self.count:  # one row named twice in one call
            raise CheckFailed([f"{self.name}: {self._decisions} decisions on {self.count} rows"])

    def _must(self, holds: npt.NDArray[np.bool_], rows: npt.NDArray[Any], what: str) -> None:
        if not holds.all():
            first = int(rows[int(np.argmin(holds))])
            raise CheckFailed([f"{self.name}:{self.line(first)}: {what} ({int((~holds).sum())} rows)"])

    def line(self, row: int) -> int:
        return int(self._lines[row])

    def counts(self) -> dict[Fate, int]:
        """How many rows met each fate, in the order in which the fates first occurred."""
        found = np.bincount(self._fate[: self.count], minlength=len(self._fates) + 1)
        return {fate: int(found[number]) for fate, number in self._number.items() if found[number]}

    def set_aside_rows(self) -> dict[str, npt.NDArray[np.int64]]:
        """The row numbers by reason."""
        fate = self._fate[: self.count]
        return {
            one.why: np.flatnonzero(fate == number)
            for one, number in self._number.items()
            if one.kind == "set_aside" and (fate == number).any()
        }

    def shown(self, row: int) -> str | None:
        return self._shown.get(row)


@dataclass(frozen=True)
class Reconciliation:
    """The account of an import: every row that was read, exactly once."""

    files: tuple[Rows, ...]
    not_read: tuple[tuple[str, str], ...]  # files that were named but not read, and why

    @classmethod
    def close(cls, files: Iterable[Rows], not_read: Iterable[tuple[str, str]]) -> Reconciliation:
        """The account, after checking that no row is missing in it."""
        closed = tuple(files)
        for rows in closed:
            rows.close()
        return cls(closed, tuple(not_read))

    @property
    def rows(self) -> int:
        return sum(rows.count for rows in self.files)

    def counts(self) -> dict[Fate, int]:
        total: Counter[Fate] = Counter()
        for rows in self.files:
            total.update(rows.counts())
        return dict(total)

    def of_kind(self, kind: FateKind) -> dict[str, int]:
        """By what or why, how many rows."""
        return {fate.why: count for fate, count in self.counts().items() if fate.kind == kind}

    def examples(self, reason: str, most: int = 3) -> list[str]:
        """`file:line` of the first rows that were set aside for this reason."""
        found: list[str] = []
        for rows in self.files:
            places = rows.set_aside_rows().get(reason)
            if places is not None:
                found += [f"{rows.name}:{rows.line(int(row))}" for row in places[: most - len(found)]]
            if len(found) >= most:
                break
        return found

    def document(self) -> dict[str, Any]:
        """For JSON: counts by fate, and per file."""
        return {
            "rows": self.rows,
            "task_rows": sum(self.of_kind("task").values()),
            "merged": self.of_kind("merged"),
            "metadata": self.of_kind("metadata"),
            "set_aside": self.of_kind("set_aside"),
            "examples": {reason: self.examples(reason) for reason in self.of_kind("set_aside")},
            "files": [
                {
                    "file": rows.name,
                    "rows": rows.count,
                    **{kind: sum(n for fate, n in rows.counts().items() if fate.kind == kind) for kind in KINDS},
                }
                for rows in self.files
            ],
            "not_read": [{"file": name, "why": why} for name, why in self.not_read],
        }
