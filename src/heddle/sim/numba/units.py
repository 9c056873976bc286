"""Units: functions of the engine that are compiled apart and called through a table of addresses.

Numba optimises a function together with all it calls, again at each level; without these borders the engine takes ten
times as long to compile.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from numba import njit, types

from heddle.model.compiled import ENGINE
from heddle.policy.compile import HOOKS
from heddle.policy.handles import load_word
from heddle.policy.native import address_of, call_address, intrinsic_of
from heddle.sim.numba.handle import UNITS, SimType

_FUNCTIONS: Final[dict[str, Any]] = {}


def unit(function: Any) -> Any:
    """Declares a function of the engine as a unit: f(sim, integers...) -> integer, called from compiled functions."""
    name = function.__name__
    _FUNCTIONS[name] = function
    word = len(HOOKS) + UNITS.index(name)
    n_integers = function.__code__.co_argcount - 1

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return call_address(context, builder, load_word(builder, args[0], word), sig.args, args)

    def call(typingctx: Any, sim: Any, *integers: Any) -> Any:
        return types.int64(sim, *(types.int64,) * n_integers), codegen

    return intrinsic_of(call, name, "sim", n_integers)


@cache
def unit_addresses(n_resources: int) -> list[int]:
    """Compiles all units for this many resources (or takes them from the cache)."""
    return [compile_unit(name, n_resources) for name in UNITS]


def compile_unit(name: str, n_resources: int) -> int:
    """The address of one unit."""
    function = _FUNCTIONS[name]
    integers = (types.int64,) * (function.__code__.co_argcount - 1)
    wanted = types.int64(SimType(n_resources), *integers)
    return address_of(njit(wanted, **ENGINE)(function), wanted)
