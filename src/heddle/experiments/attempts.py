"""One run, tried: its result or, where it has none, why. An error is a value: one bad run does not end the others."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from heddle.model.errors import HeddleError, RunRefused

C = TypeVar("C")
R = TypeVar("R")


@dataclass(frozen=True)
class Failed:
    """A run without a result."""

    error: Exception
    trace: str = ""  # where it was raised, for somebody who looks for a defect

    @property
    def says(self) -> str:
        """In one line."""
        text = " ".join(str(self.error).split())
        return text if isinstance(self.error, HeddleError) else f"{type(self.error).__name__}: {text}"


class WorkerDied(RunRefused):
    """A run whose worker ended under it, again and again."""


@dataclass(frozen=True)
class Attempt(Generic[C, R]):
    """The function of a run, with its errors as values; pickled like the function."""

    function: Callable[[C], R]

    def __call__(self, configuration: C) -> R | Failed:
        try:
            return self.function(configuration)
        except Exception as error:  # whatever a run raises is recorded with it
            return Failed(_that_travels(error), traceback.format_exc())


def results_or_raise(attempts: Iterator[tuple[int, R | Failed]]) -> Iterator[tuple[int, R]]:
    """For whoever needs them all: the first error ends it."""
    for number, found in attempts:
        if isinstance(found, Failed):
            raise found.error from (_RaisedThere(found.trace) if found.trace else None)
        yield number, found


class _RaisedThere(Exception):
    """Shows the lines of another process above those of this one."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _that_travels(error: Exception) -> Exception:
    """The error itself, if it survives being sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # pickling runs code of whoever wrote the error
        return RunRefused(f"{type(error).__name__}: {error}")
    return error
