"""The engine's memory as compiled code sees it: one address.

`SimHandle` is the address of a table that holds, for each array of Sim, where its data are and how long it
is. Functions get it instead of sixty arrays, so they stay small, compile fast and cost nothing to call.

In compiled code a handle has as attributes every table of Sim and of its View by name (policy/columns.py), and what
each lever remembers of containers as `<question>_container`: rows of numbers, to be cleared. `shown` is the handle
itself, so that `sim.shown.node` reads like what it is: something that levers see.
Levers' hooks are called by hooks.py, the engine's own units by units.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.extending import lower_getattr_generic, register_model, typeof_impl, unbox

from heddle.model.numba_internals import AttributeTemplate, infer_getattr
from heddle.policy.columns import RowsType, plain_column
from heddle.policy.handles import WORDS_PER_ARRAY, AddressModel, AddressType, array_entry, array_table, unbox_address
from heddle.policy.question import ALL_HOOKS, Question
from heddle.policy.state import as_words
from heddle.sim.memory.lever_memory import CONTAINERS
from heddle.sim.memory.shown import SHOWN
from heddle.sim.memory.tables import OWN, Sim
from heddle.sim.numba.units import unit_names


class Entry(NamedTuple):
    """What compiled code knows of an array."""

    number: int  # in the table
    dtype: np.dtype[Any]
    axes: int
    fixed: bool  # a run never writes it
    one_row: bool


@cache
def _entries(n_resources: int) -> dict[str, Entry]:
    """Every array. First the view: as a handle of its own it points into this table."""
    levers = {f"{question}_container": CONTAINERS for question in Question}
    return {
        name: Entry(number, table.dtype(n_resources), table.axes, table.fixed, table.one_row)
        for number, (name, table) in enumerate((SHOWN | levers | OWN).items())
    }


def _first_of_levers() -> int:
    """Words before: addresses of code."""
    return len(ALL_HOOKS) + len(unit_names())


def state_word(question: Question) -> int:
    """Which word has the address of the table of a lever's state."""
    return _first_of_levers() + 2 * list(Question).index(question)


def params_word(question: Question) -> int:
    """Which word has the address of its parameters."""
    return state_word(question) + 1


def _header() -> int:
    """Words before the entries: addresses of code, of states and parameters."""
    return _first_of_levers() + 2 * len(Question)


class _Layout(NamedTuple):
    """Tables of one row lie behind the table of entries, one add from its address."""

    beside: dict[str, int]  # the word where each begins
    words: int  # of it all


@cache
def _layout(n_resources: int) -> _Layout:
    entries = _entries(n_resources)
    at = _header() + WORDS_PER_ARRAY * len(entries)
    beside = {}
    for name, entry in entries.items():
        if entry.one_row:
            beside[name] = at
            at += -(-entry.dtype.itemsize // 8)
    return _Layout(beside, at)


class SimHandle:
    """Keeps the arrays alive and knows the address of their table."""

    def __init__(self, sim: Sim, code: list[int]) -> None:
        self.n_resources = sim.shown.shape["demand"].shape[1]
        self._numba_type_ = SimType(self.n_resources)  # read at every call, and faster than asking typeof
        self._code = code  # addresses of the policy's hooks, then of the units
        self._table = np.zeros(_layout(self.n_resources).words, np.int64)
        shown = sim.shown._replace(**self._moved_beside(sim.shown._asdict()))
        self.sim = Sim(shown, sim.levers, sim.own | self._moved_beside(sim.own))
        given = self.sim.own | shown._asdict()
        table = list(code)
        self._states = []
        for question in Question:
            kept = sim.levers[question]
            given[f"{question}_container"] = as_words(kept.containers)
            self._states.append(array_table(kept.arrays(self.sim.truth)))
            table += [self._states[-1].ctypes.data, kept.params.ctypes.data]
        for name, entry in _entries(self.n_resources).items():
            array = given[name]
            if array.dtype != entry.dtype or array.ndim != entry.axes or not array.flags.c_contiguous:
                raise TypeError(f"{name}: {array.dtype}, {array.ndim} axes; the engine wants {entry.dtype}")
            table.extend(array_entry(array))
        self._table[: len(table)] = table
        self.address = int(self._table.ctypes.data)

    def _moved_beside(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Copies of tables of one row, in their places behind the table of entries."""
        moved = {}
        for name, word in _layout(self.n_resources).beside.items():
            if name in arrays:
                before = arrays[name]
                moved[name] = self._table[word:].view(np.uint8)[: before.dtype.itemsize].view(before.dtype)
                moved[name][:] = before
        return moved

    def moved_to(self, sim: Sim) -> SimHandle:
        """A handle to other arrays that goes on with the same policy."""
        return SimHandle(sim, self._code)


class SimType(AddressType):
    """Numba's type of a SimHandle."""

    def __init__(self, n_resources: int) -> None:
        self.n_resources = n_resources
        super().__init__(name=f"heddle.SimHandle({n_resources})")

    def word(self, name: str) -> int:
        """Where the entry of an array begins."""
        return _header() + WORDS_PER_ARRAY * _entries(self.n_resources)[name].number


register_model(SimType)(AddressModel)
unbox(SimType)(unbox_address)


@typeof_impl.register(SimHandle)
def _typeof(handle: SimHandle, context: Any) -> SimType:
    return SimType(handle.n_resources)


@infer_getattr
class _SimAttributes(AttributeTemplate):  # type: ignore[misc]
    key = SimType

    def generic_resolve(self, sim: Any, attr: str) -> Any:
        if attr == "shown":
            return sim
        entry = _entries(sim.n_resources).get(attr)
        if entry is None:
            return None
        if entry.dtype.fields is None:
            return plain_column(attr, sim.word(attr), entry.dtype, entry.axes, entry.fixed)
        beside = 8 * _layout(sim.n_resources).beside[attr] if entry.one_row else None
        return RowsType(attr, entry.dtype, sim.word(attr), entry.fixed, beside)


@lower_getattr_generic(SimType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return value
