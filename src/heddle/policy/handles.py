"""The view, a lever's state and its parameters as compiled hooks get them: one address each.

A NamedTuple of eleven arrays is passed to a compiled function by value, as seventy words, and that costs more than most
hooks do. A handle is the address of a table that holds, for each array, where its data are and how long it is;
`view.node` in a hook builds the array from its entry - two loads, which LLVM drops or shares. A hook cannot tell
the difference, and the same compiled hook serves the simulator, whose table holds more than the view, and the
controller of a live cluster.

Here are the tables; what Numba has to know of them, to compile, is in handle_types.py. Numba reads `_numba_type_` at
every call of a handle's, which is faster than asking its typeof.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.view import View, view_dtypes
from heddle.model.workload import JOB, STAGE
from heddle.policy.state import StateLayout

WORDS_PER_ARRAY: Final = 3  # address, length, second axis


def array_entry(array: npt.NDArray[Any]) -> tuple[int, int, int]:
    """What a table holds of an array."""
    return array.ctypes.data, array.shape[0], array.shape[1] if array.ndim == 2 else 1


def array_table(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """The table of these arrays; whoever makes it keeps them alive."""
    return np.array([word for array in arrays for word in array_entry(array)] or [0], np.int64)


class ViewHandle:
    """Keeps a view's arrays alive and knows the address of their table."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.n_resources = view.shape["demand"].shape[1]
        self._table = array_table(view)
        self.address = int(self._table.ctypes.data)

    @cached_property
    def _numba_type_(self) -> Any:
        from heddle.policy.handle_types import ViewType

        return ViewType(self.n_resources)


class StateHandle:
    """The same for what a lever remembers."""

    def __init__(self, layout: StateLayout, state: Any) -> None:
        self.layout, self.state = layout, state
        self._table = array_table(state)
        self.address = int(self._table.ctypes.data)

    @cached_property
    def _numba_type_(self) -> Any:
        from heddle.policy.handle_types import StateType

        return StateType(self.layout)


class ParamsHandle:
    """The same for its parameters, in thousandths; they lie at the address itself."""

    def __init__(self, names: tuple[str, ...], params: npt.NDArray[np.int64]) -> None:
        self.names, self.params = names, params
        self.address = int(params.ctypes.data)

    @cached_property
    def _numba_type_(self) -> Any:
        from heddle.policy.handle_types import ParamsType

        return ParamsType(self.names)


@cache
def short_name(layout: StateLayout) -> str:
    """Of a few characters, because it becomes part of the names of compiled functions."""
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:12]


@cache
def view_columns(n_resources: int) -> dict[str, np.dtype[Any]]:
    """The dtype of each array of a view."""
    dtypes = view_dtypes(n_resources)
    of_workload = {"job_spec": JOB, "stage_spec": STAGE}
    return {name: of_workload.get(name) or getattr(dtypes, name) for name in View._fields}
