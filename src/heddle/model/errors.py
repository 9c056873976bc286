"""Errors a user can act on.

    HeddleError
    ├── BadInput        one or more problems in a file, a flag or a policy string (exit code 2)
    ├── RunRefused      a valid configuration that cannot be run as asked (exit code 2)
    └── CheckFailed     a run broke a rule that must always hold: a defect of heddle or of a lever (exit code 1)

Everything else that escapes is a defect of heddle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class HeddleError(Exception):
    """The root of all errors that heddle raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    where: str  # file, or the flag that was given
    what: str
    row: int | None = None  # 1-based line of a text file, or row of a table
    field: str | None = None

    def __str__(self) -> str:
        place = self.where
        if self.row is not None:
            place += f":{self.row}"
        if self.field is not None:
            place += f": {self.field}"
        return f"{place}: {self.what}"


class BadInput(HeddleError):
    """All problems of an input at once, so that the user mends them in one go."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[BadInput], tuple[tuple[Problem, ...]]]:
        return BadInput, (self.problems,)  # so that it survives the way back from another process

    @classmethod
    def of(cls, where: str, what: str, *, row: int | None = None, field: str | None = None) -> BadInput:
        return cls([Problem(where, what, row, field)])


class RunRefused(HeddleError):
    """The configuration is well-formed, but these parts of it cannot run together."""


class CheckFailed(HeddleError):
    """What `check` found: a run that cannot be right."""

    def __init__(self, found: Iterable[str]) -> None:
        self.found = tuple(found)
        super().__init__("\n".join(self.found))

    def __reduce__(self) -> tuple[type[CheckFailed], tuple[tuple[str, ...]]]:
        return CheckFailed, (self.found,)
