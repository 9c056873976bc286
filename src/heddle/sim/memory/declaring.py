"""How the engine's memory is declared, each table and each column once: type, how many, initial value, fixed or not.

Memory, its growth (making.py) and what compiled code sees of it (numba/handle.py) follow from the declarations.
A table is a class of columns (`Row`) and a line in tables.py that says how many rows it has:

    class Slot(Row):
        use: Vector  # zero, like all that has no value here
        host: Int32 = -1
        speed_permille: Int64 = of_run(lambda run: run.speeds)

    slot: Array = rows(Slot, lambda n: n.slots)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import numpy as np

if TYPE_CHECKING:
    from heddle.sim.memory.run_inputs import RunInputs
    from heddle.sim.memory.sizes import Sizes

Array = Any  # a NumPy array; in compiled code, what policy/columns.py makes of it

PER_RESOURCE: Final = -1


@dataclass(frozen=True)
class Kind:
    """What a column holds in each row: a number or, with a length, so many."""

    scalar: type[np.integer[Any]]
    length: int | None = None


Int8 = Annotated[Any, Kind(np.int8)]
Int16 = Annotated[Any, Kind(np.int16)]
UInt16 = Annotated[Any, Kind(np.uint16)]
Int32 = Annotated[Any, Kind(np.int32)]
Int64 = Annotated[Any, Kind(np.int64)]
Vector = Annotated[Any, Kind(np.int64, PER_RESOURCE)]


@dataclass(frozen=True)
class OfRun:
    """Initial values that follow from what the run is given; the table does not grow."""

    value: Callable[[RunInputs], Any]


@dataclass(frozen=True)
class OfSizes:
    """A value that follows from the sizes of the engine's memory, and is computed anew when they change."""

    value: Callable[[Sizes], int]


@dataclass(frozen=True)
class FreeChain:
    """Each free row has the number of the next one. Of `control`: the first, and how many there are."""

    first: str
    count: str


def of_run(value: Callable[[RunInputs], Any]) -> Any:
    return OfRun(value)


def of_sizes(value: Callable[[Sizes], int]) -> Any:
    return OfSizes(value)


def free_chain(first: str, count: str) -> Any:
    return FreeChain(first, count)


class Row:
    """Columns of a table, in their order in memory: wide ones first, or there are gaps. packed: no gaps in any case."""

    _packed = False

    def __init_subclass__(cls, *, packed: bool = False) -> None:
        cls._packed = packed


def _kinds(row: type[Row]) -> Mapping[str, Kind]:
    hints = get_type_hints(row, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def dtype_of(row: type[Row], n_resources: int) -> np.dtype[Any]:
    """The dtype of its rows, for this many resources."""

    def column(name: str, kind: Kind) -> tuple[Any, ...]:
        if kind.length is None:
            return name, kind.scalar
        return name, kind.scalar, (n_resources if kind.length == PER_RESOURCE else kind.length,)

    return np.dtype([column(name, kind) for name, kind in _kinds(row).items()], align=not row._packed)


def _dtype(row: type[Row]) -> Callable[[int], np.dtype[Any]]:
    return cache(lambda n_resources: dtype_of(row, n_resources))


def _initial(row: type[Row]) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in _kinds(row) if hasattr(row, name)}


@dataclass(frozen=True)
class Table:
    """A declared table or plain array."""

    dtype: Callable[[int], np.dtype[Any]]  # for this many resources
    per: Callable[[Sizes], int] | None = None  # how many rows: it grows when that does; None: as `whole` has them
    width: Callable[[Sizes], int] | None = None  # length of the second axis, where there is one
    initial: Mapping[str, Any] = field(default_factory=dict)  # what is not 0, by column; "": of a plain array
    fill: Callable[[RunInputs, Array], None] | None = None  # initial values that columns alone cannot say
    whole: Callable[[RunInputs], Array] | None = None  # all of it, as the run is given it
    axes: int = 1
    fixed: bool = False  # the engine never writes it: compiled code may read it once and keep it

    @property
    def one_row(self) -> bool:
        return self.per is one


def rows(row: type[Row], per: Callable[[Sizes], int]) -> Any:
    """A table that the engine writes."""
    return Table(_dtype(row), per, initial=_initial(row))


def one_row(row: type[Row], fixed: bool = False) -> Any:
    """A table of one row: the engine's scalars."""
    return Table(_dtype(row), one, initial=_initial(row), fixed=fixed)


def array(
    scalar: type[np.integer[Any]],
    per: Callable[[Sizes], int],
    initial: int = 0,
    width: Callable[[Sizes], int] | None = None,
) -> Any:
    """A plain array that the engine writes."""
    return Table(lambda _: np.dtype(scalar), per, width, {"": initial}, axes=1 if width is None else 2)


def fixed(
    dtype: type[np.integer[Any]] | np.dtype[Any] | Callable[[int], np.dtype[Any]],
    whole: Callable[[RunInputs], Array],
    axes: int = 1,
) -> Any:
    """A table or array that is computed before the run, or comes with the workload, and that the engine only reads."""
    if isinstance(dtype, type | np.dtype):
        known = np.dtype(dtype)
        return Table(lambda _: known, whole=whole, axes=axes, fixed=True)
    return Table(dtype, whole=whole, axes=axes, fixed=True)


def one(_: Sizes) -> int:
    return 1
