"""Where the files lie that a run names: where the name says or, on another machine, where they were put for this run.

Names stay what the user wrote, so that results are the same wherever they are computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


class NamesFiles(ABC):
    """A part of a run's configuration that names files which the run reads."""

    @property
    @abstractmethod
    def files(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Elsewhere:
    """Where files lie that were brought along, by their names. `key` changes whenever one of their contents does."""

    key: str = ""
    places: Mapping[str, Path] = field(default_factory=dict)


_in_force = Elsewhere()


def lies_at(name: str | Path) -> Path:
    """Where the file of this name is to be opened."""
    return _in_force.places.get(str(name), Path(name))


def brought_by() -> str:
    """What must be part of the key of anything that is kept in memory by the name of a file."""
    return _in_force.key


@contextmanager
def files_lying(elsewhere: Elsewhere) -> Iterator[None]:
    """For the process: one run at a time."""
    global _in_force
    before, _in_force = _in_force, elsewhere
    try:
        yield
    finally:
        _in_force = before
