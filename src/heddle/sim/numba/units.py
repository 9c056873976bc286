"""Units: functions of the engine that are compiled apart and called through a table of addresses.

Numba optimises a function together with all it calls, again at each level; without these borders the engine takes ten
times as long to compile.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from numba import types

from heddle.policy.handle_types import load_word
from heddle.policy.native import call_address, intrinsic_of
from heddle.sim.handle import layout

_FUNCTIONS: Final[dict[str, Any]] = {}


@cache
def unit_names() -> tuple[str, ...]:
    """All units, in their order in the table, which is part of compiled code: by name, once all are declared."""
    return tuple(sorted(_FUNCTIONS))


def function_of(name: str) -> Any:
    return _FUNCTIONS[name]


def unit(function: Any) -> Any:
    """Declares a function of the engine as a unit: f(sim, integers...) -> integer, called from compiled functions."""
    name = function.__name__
    if unit_names.cache_info().currsize or name in _FUNCTIONS:
        raise TypeError(f"{name}: declared twice, or after others have been compiled")
    _FUNCTIONS[name] = function
    n_integers = function.__code__.co_argcount - 1

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = layout(sig.args[0].n_resources).units + unit_names().index(name)
        return call_address(builder, load_word(builder, args[0], word), args)

    def call(typingctx: Any, sim: Any, *integers: Any) -> Any:
        return types.int64(sim, *(types.int64,) * n_integers), codegen

    return intrinsic_of(call, name, "sim", n_integers)
