"""Calling compiled functions by address, as C does: words in, an int64 out, in registers.

A caller needs only the address, so one compiled engine serves every policy, and a table of numbers says what it calls.
Compiled functions of heddle raise nothing, so they have no status (numba_internals.code_for_words). Those of users
stand behind a guard, which looks at theirs (guarding.py).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from heddle.model.numba_internals import call_status_and_answer, where_code_is


def address_of(compiled: Any, signature: Any) -> int:
    """Where the code of a compiled function is, for this signature, to be called with a status."""
    return where_code_is(compiled, signature.args)


def call_address(builder: Any, address: Any, arguments: Any) -> Any:
    """Emits a call to the function at this address, which returns an int64. Every argument is one word."""
    word = ir.IntType(64)
    kind = ir.FunctionType(word, [word] * len(arguments))
    return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)


def call_with_status(context: Any, builder: Any, address: Any, argument_types: Any, arguments: Any) -> tuple[Any, Any]:
    """The same by Numba's convention, with a status: if it is not 0, the function raised, and gave no answer."""
    return call_status_and_answer(context, builder, address, argument_types, arguments, ir.IntType(64))


def calling(n_words: int) -> Any:
    """A function for compiled code: f(address, n_words words...) -> what the function at this address answers."""

    def call(typingctx: Any, address: Any, *words: Any) -> Any:
        wanted = tuple(types.int64 if isinstance(word, types.Integer) else word for word in words)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return call_address(builder, args[0], args[1:])

        return types.int64(types.int64, *wanted), codegen

    return intrinsic_of(call, "call", "address", n_words)


def intrinsic_of(call: Any, name: str, first: str, n_more: int) -> Any:
    """Numba reads an intrinsic's parameters by name, so one with a variable number of them has to be written out."""
    names = ", ".join([first, *(f"a{i}" for i in range(n_more))])
    scope = {"_typing": call}
    exec(f"def {name}(typingctx, {names}):\n    return _typing(typingctx, {names})", scope)
    return intrinsic(scope[name])
