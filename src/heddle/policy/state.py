"""What a lever remembers, by name: columns per node, job and container, single values, and lists.

    State(node=("reports", per_resource("estimate", "age")), table=("n_ams",), lists=("powers",))

The host allocates whole numbers, zeroed, and passes them to every hook, field first as in the view:
`state.node["reports"][n]`, `state.node["estimate"][n, r]`, `state.table["n_ams"][0]`, `state.powers[i]`. A container's
row is cleared when a new container takes it. A list is as long as prepare() makes it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

THINGS: Final = ("node", "job", "container")
FUTURE_PEAK: Final = "future_peak"


@dataclass(frozen=True)
class Column:
    """A number for each thing; `per_resource`: one for each resource; `length`: so many of each."""

    name: str
    per_resource: bool = False
    length: int = 0

    def field(self, n_resources: int) -> tuple[Any, ...]:
        shape = ((n_resources,) if self.per_resource else ()) + ((self.length,) if self.length else ())
        return (self.name, np.int64, shape) if shape else (self.name, np.int64)


def per_resource(*names: str, length: int = 0) -> tuple[Column, ...]:
    """Columns with a number (or `length` of them) for each resource."""
    return tuple(Column(name, True, length) for name in names)


def several(length: int, *names: str) -> tuple[Column, ...]:
    """Columns with so many numbers for each thing."""
    return tuple(Column(name, False, length) for name in names)


def _columns(given: Any) -> tuple[Column, ...]:
    found: list[Column] = []
    for one in (given,) if isinstance(given, str | Column) else given:
        if isinstance(one, str):
            found.append(Column(one))
        else:
            found.extend([one] if isinstance(one, Column) else one)
    return tuple(found)


@dataclass(frozen=True)
class Chain:
    """Jobs that are linked: `first` (and `last`) of the table, `next` (and `previous`) of jobs. Number + 1; 0: none."""

    first: str
    next: str
    previous: str = ""
    last: str = ""


@dataclass(frozen=True)
class State:
    node: Any = ()
    job: Any = ()
    container: Any = ()
    table: Any = ()  # one row: what is of no single thing
    lists: tuple[str, ...] = ()
    # What of this are rows of jobs and stages, for a host where these move (heddle's own levers alone): chains; pairs
    # of the table, the first and the last job of those to look at; values of the table that are a stage + 1, 0: none;
    # of each list that is not the lever's alone: "stage" or "task", of which it has one entry each, or "given": it
    # holds what prepare() found, and nothing else.
    chains: tuple[Chain, ...] = ()
    spans: tuple[tuple[str, str], ...] = ()
    stages: tuple[str, ...] = ()
    list_of: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for part in (*THINGS, "table"):
            object.__setattr__(self, part, _columns(getattr(self, part)))
        object.__setattr__(self, "lists", (self.lists,) if isinstance(self.lists, str) else tuple(self.lists))

    def columns(self, part: str) -> tuple[Column, ...]:
        found: tuple[Column, ...] = getattr(self, part)
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """Those that have columns."""
        return tuple(part for part in (*THINGS, "table") if self.columns(part))

    def dtype(self, part: str, n_resources: int) -> np.dtype[Any]:
        return np.dtype([column.field(n_resources) for column in self.columns(part)], align=True)

    def zeroed(self, part: str, rows: int, n_resources: int) -> npt.NDArray[Any]:
        return np.zeros(rows, self.dtype(part, n_resources))

    @property
    def problems(self) -> list[str]:
        found = []
        for part in (*THINGS, "table"):
            names = [column.name for column in self.columns(part)]
            twice = {name for name in names if names.count(name) > 1}
            found += [f"state.{part} has two columns called {name!r}" for name in sorted(twice)]
        taken = {*THINGS, "table", "truth"}
        found += [f"a list of state cannot be called {name!r}" for name in self.lists if name in taken]
        return found + [f"{name!r} is no name" for name in self.lists if not name.isidentifier()]


@dataclass(frozen=True)
class StateLayout:
    """What a lever's state is for so many resources: the same arrays, in the same order, in both hosts."""

    state: State
    truth: tuple[str, ...]
    n_resources: int

    @cached_property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        found = {part: self.state.dtype(part, self.n_resources) for part in self.state.parts}
        found |= {name: np.dtype(np.int64) for name in self.state.lists}
        return found | ({"truth": truth_dtype(self.n_resources)} if FUTURE_PEAK in self.truth else {})


def truth_dtype(n_resources: int) -> np.dtype[Any]:
    """What a sizing lever is told of each node that no scheduler knows."""
    return np.dtype([(FUTURE_PEAK, np.int64, (n_resources,))], align=True)


def as_words(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Rows of a part of state as plain numbers, [rows, columns]: the same memory."""
    return array.view(np.int64).reshape(len(array), -1) if array.dtype.itemsize else np.zeros((0, 0), np.int64)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory, for those who must not write to it."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


@cache
def _kind_of_state(names: tuple[str, ...]) -> Any:
    return namedtuple("LeverState", names)


def lever_state(arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """What hooks get as `state` where they run as plain Python: these arrays as attributes."""
    return _kind_of_state(tuple(arrays))(**arrays)
