"""Hooks that run as plain Python: called from compiled code by address, as compiled ones are.

What Numba cannot compile runs this way, far slower, and so does whoever wants to watch what a hook reads
(experiments/watching.py). Compiled code cannot be left by an exception, so the first one is kept, and raised when the
run is over.
"""

from __future__ import annotations

import ctypes
from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.view import View
from heddle.policy.answers import Legal
from heddle.policy.handles import WORDS_PER_ARRAY, view_columns
from heddle.policy.state import StateLayout, lever_state, read_only

Arrays = dict[str, npt.NDArray[Any]]


class SteppingOut:
    """A plain hook with an address. Keep it as long as the address is used."""

    def __init__(
        self,
        hook: Callable[..., Any],
        layout: StateLayout,
        names: tuple[str, ...],
        about: tuple[str, ...],
        legal: Legal,
    ) -> None:
        self.hook, self.raised = hook, list[Exception]()
        self._about, self._legal = about, legal
        self._layout, self._view_columns = layout, view_columns(layout.n_resources)
        self._params = _named(names)
        self._callback = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * (3 + len(about)))(self._called)
        self.address = int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def _called(self, view: int, state: int, params: int, *integers: int) -> int:
        if not self.raised:
            try:
                return self._answer(view, state, params, integers)
            except Exception as error:
                self.raised.append(error)
        return 0

    def _answer(self, view: int, state: int, params: int, integers: tuple[int, ...]) -> int:
        seen = View(**{name: read_only(one) for name, one in _arrays(view, self._view_columns).items()})
        kept = lever_state(_arrays(state, self._layout.dtypes))
        values = self._params._make((ctypes.c_int64 * len(self._params._fields)).from_address(params))
        answer = self.hook(seen, kept, values, *integers)
        if not isinstance(answer, int | np.integer | np.bool_):
            raise TypeError(f"it returned {answer!r}, not a whole number")
        if not self._legal.low <= answer <= self._legal.high:
            asked = ", ".join(f"{name}={number}" for name, number in zip(self._about, integers, strict=True))
            raise ValueError(f"asked with {asked}, it answered {answer}, which is not {self._legal.meaning}")
        return int(answer)


def _named(names: tuple[str, ...]) -> Any:
    return namedtuple("Params", names)


def _arrays(address: int, dtypes: dict[str, np.dtype[Any]]) -> Arrays:
    """The arrays whose table is at this address."""
    words = tuple((ctypes.c_int64 * (WORDS_PER_ARRAY * len(dtypes))).from_address(address))
    return {
        name: _array(words[WORDS_PER_ARRAY * i], words[WORDS_PER_ARRAY * i + 1], dtype)
        for i, (name, dtype) in enumerate(dtypes.items())
    }


@lru_cache(maxsize=1024)
def _array(data: int, length: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if length == 0:
        return np.zeros(0, dtype)
    memory: Any = (ctypes.c_char * (length * dtype.itemsize)).from_address(data)
    found: npt.NDArray[Any] = np.frombuffer(memory, dtype)
    return found
