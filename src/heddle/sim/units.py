"""Units: functions of the engine that are compiled apart and called through a table of addresses.

Numba optimises a function together with all it calls, again at each level; without these borders the engine takes ten
times as long to compile.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from numba import cfunc, types
from numba.extending import intrinsic
from llvmlite import ir

from heddle.policy.handles import WORD, load_word
from heddle.sim.memory import UNITS, SimType

_FUNCTIONS: Final[dict[str, Any]] = {}


def unit(function: Any) -> Any:
    """Declares a function of the engine as a unit: f(sim, integers...) -> integer, called from compiled functions."""
    name = function.__name__
    _FUNCTIONS[name] = function
    word = 1 + UNITS.index(name)
    n_integers = function.__code__.co_argcount - 1

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD] * (1 + n_integers)).as_pointer()
        function_pointer = builder.inttoptr(load_word(builder, args[0], word), kind)
        return builder.call(function_pointer, args)

    def call(typingctx: Any, sim: Any, *integers: Any) -> Any:
        return types.int64(sim, *(types.int64,) * n_integers), codegen

    names = ", ".join(f"a{i}" for i in range(n_integers))
    scope = {"call": call}
    exec(f"def {name}(typingctx, sim, {names}):\n    return call(typingctx, sim, {names})", scope)
    return intrinsic(scope[name])


@cache
def unit_addresses(n_resources: int) -> list[int]:
    """Compiles all units for this many resources (or takes them from the cache)."""
    return [compile_unit(name, n_resources) for name in UNITS]


def compile_unit(name: str, n_resources: int) -> int:
    """The address of one unit."""
    function = _FUNCTIONS[name]
    integers = (types.int64,) * (function.__code__.co_argcount - 1)
    wanted = types.int64(SimType(n_resources), *integers)
    return int(cfunc(wanted, cache=True, _nrt=False, error_model="numpy")(function).address)
