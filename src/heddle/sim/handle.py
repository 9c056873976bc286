"""The engine's memory as compiled code sees it: one address.

`SimHandle` is the address of a table that holds, for each array of Sim, where its data are and how long it
is. Functions get it instead of sixty arrays, so they stay small, compile fast and cost nothing to call.

In compiled code a handle has as attributes every table of Sim and of its View by name (policy/columns.py), and what
each lever remembers of containers as `<question>_container`: rows of numbers, to be cleared. `shown` is the handle
itself, so that `sim.shown.node` reads like what it is: something that levers see (numba/sim_type.py).
Levers' hooks are called by numba/hooks.py, the engine's own units by numba/units.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from heddle.policy.handles import WORDS_PER_ARRAY, array_entry, array_table
from heddle.policy.question import ALL_HOOKS, Question
from heddle.policy.state import as_words
from heddle.sim.memory.lever_memory import CONTAINERS
from heddle.sim.memory.shown import SHOWN
from heddle.sim.memory.tables import OWN, Sim


class Entry(NamedTuple):
    """What compiled code knows of an array."""

    number: int  # in the table
    dtype: np.dtype[Any]
    axes: int
    fixed: bool  # a run never writes it
    one_row: bool


@cache
def entries(n_resources: int) -> dict[str, Entry]:
    """Every array. First the view: as a handle of its own it points into this table."""
    levers = {f"{question}_container": CONTAINERS for question in Question}
    return {
        name: Entry(number, table.dtype(n_resources), table.axes, table.fixed, table.one_row)
        for number, (name, table) in enumerate((SHOWN | levers | OWN).items())
    }


def state_word(question: Question) -> int:
    """Which word has the address of the table of a lever's state. Words before: addresses of its hooks."""
    return len(ALL_HOOKS) + 2 * list(Question).index(question)


def params_word(question: Question) -> int:
    """Which word has the address of its parameters."""
    return state_word(question) + 1


_HEADER: Final = len(ALL_HOOKS) + 2 * len(Question)


class Layout(NamedTuple):
    """Tables of one row lie behind the table of entries, one add from its address; behind them addresses of units."""

    entries: dict[str, int]  # the word where each begins
    beside: dict[str, int]  # the word where each table of one row begins
    units: int  # the word of the first


@cache
def layout(n_resources: int) -> Layout:
    known = entries(n_resources)
    at = _HEADER + WORDS_PER_ARRAY * len(known)
    beside = {}
    for name, entry in known.items():
        if entry.one_row:
            beside[name] = at
            at += -(-entry.dtype.itemsize // 8)
    return Layout({name: _HEADER + WORDS_PER_ARRAY * entry.number for name, entry in known.items()}, beside, at)


class SimHandle:
    """Keeps the arrays alive and knows the address of their table."""

    def __init__(self, sim: Sim, hooks: Sequence[int], units: Sequence[int]) -> None:
        self.n_resources = sim.shown.shape["demand"].shape[1]
        self._hooks, self._units = hooks, units  # addresses of the policy's code, and of the engine's own
        first_unit = layout(self.n_resources).units
        self._table = np.zeros(first_unit + len(units), np.int64)
        self._table[first_unit:] = units
        shown = sim.shown._replace(**self._moved_beside(sim.shown._asdict()))
        self.sim = Sim(shown, sim.levers, sim.own | self._moved_beside(sim.own))
        given = self.sim.own | shown._asdict()
        table = list(hooks)
        self._states = []
        for question in Question:
            kept = sim.levers[question]
            given[f"{question}_container"] = as_words(kept.containers)
            self._states.append(array_table(kept.arrays(self.sim.truth)))
            table += [self._states[-1].ctypes.data, kept.params.ctypes.data]
        for name, entry in entries(self.n_resources).items():
            array = given[name]
            if array.dtype != entry.dtype or array.ndim != entry.axes or not array.flags.c_contiguous:
                raise TypeError(f"{name}: {array.dtype}, {array.ndim} axes; the engine wants {entry.dtype}")
            table.extend(array_entry(array))
        self._table[: len(table)] = table
        self.address = int(self._table.ctypes.data)

    def _moved_beside(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Copies of tables of one row, in their places behind the table of entries."""
        moved = {}
        for name, word in layout(self.n_resources).beside.items():
            if name in arrays:
                before = arrays[name]
                moved[name] = self._table[word:].view(np.uint8)[: before.dtype.itemsize].view(before.dtype)
                moved[name][:] = before
        return moved

    @cached_property
    def _numba_type_(self) -> Any:
        from heddle.sim.numba.sim_type import SimType

        return SimType(self.n_resources)

    def moved_to(self, sim: Sim) -> SimHandle:
        """A handle to other arrays that goes on with the same policy."""
        return SimHandle(sim, self._hooks, self._units)
