"""The guard before a user's compiled hook: whatever the hook does, its host's memory stays whole.

The hook is compiled with checks of its indices, and what it answers is compared with what the host can use. Compiled
code cannot be left by an exception, so the first fault is written down, the host gets 0, and whoever runs the host
raises it at the end. It also counts how often the hook was entered and left (endless.py). heddle's own levers are
tested instead, and cost nothing here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from heddle.model.numba_internals import cgutils, where_code_for_words_is
from heddle.policy.answers import Legal
from heddle.policy.endless import watch
from heddle.policy.native import address_of, call_with_status

_NONE, _RAISED, _ILLEGAL = 0, 1, 2
_WORD: Final = ir.IntType(64)


class Guard:
    """Stands at `address` and calls the hook. `about`: the names of the whole numbers that the hook gets."""

    def __init__(
        self, hook: Any, signature: Any, legal: Legal, about: tuple[str, ...], options: dict[str, Any]
    ) -> None:
        self._legal, self._about = legal, about
        self._fault = np.zeros(2 + len(about), np.int64)  # which, the answer, and what it was about
        self._passages = np.zeros(1, np.int64)
        self._hook = hook
        code_of_hook = hook.py_func.__code__
        self.name = f"{code_of_hook.co_filename}:{code_of_hook.co_firstlineno}: {code_of_hook.co_qualname}"
        places = int(self._fault.ctypes.data), int(self._passages.ctypes.data)
        self._guard = njit(signature, **options)(_guarding(address_of(hook, signature), *places, legal, len(about)))
        self.address = where_code_for_words_is(self._guard, signature.args)
        watch.add(self)

    def passages(self) -> int:
        """How often the hook was entered and left: odd while it is at work."""
        return int(self._passages[0])

    def take_fault(self) -> str:
        """What went wrong first since it was asked last, in words; empty if nothing did."""
        kind, answer, *about = self._fault.tolist()
        self._fault[:] = 0
        asked = ", ".join(f"{name}={number}" for name, number in zip(self._about, about, strict=True))
        if kind == _RAISED:
            return f"asked with {asked}, it used an index out of bounds"
        return f"asked with {asked}, it answered {answer}, which is not {self._legal.meaning}" if kind else ""


def _guarding(code: int, fault: int, passages: int, legal: Legal, n_integers: int) -> Any:
    """A function of the hook's own signature; these numbers become part of it."""

    def guard(typingctx: Any, *given: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            words = (types.int64,) * len(args)
            counter = builder.inttoptr(_WORD(passages), _WORD.as_pointer())
            entered = builder.add(builder.load(counter), _WORD(1))
            builder.store(entered, counter)
            status, answer = call_with_status(context, builder, _WORD(code), words, args)
            builder.store(builder.add(entered, _WORD(1)), counter)
            raised = cgutils.is_not_null(builder, status)
            low = builder.icmp_signed("<", answer, _WORD(legal.low))
            high = builder.icmp_signed(">", answer, _WORD(legal.high))
            wrong = builder.or_(raised, builder.or_(low, high))
            notes = builder.inttoptr(_WORD(fault), _WORD.as_pointer())
            with builder.if_then(wrong, likely=False):
                first = builder.icmp_signed("==", builder.load(notes), _WORD(_NONE))
                with builder.if_then(first):
                    kind = builder.select(raised, _WORD(_RAISED), _WORD(_ILLEGAL))
                    for i, word in enumerate([kind, answer, *args[3:]]):
                        builder.store(word, builder.gep(notes, [_WORD(i)]))
            return builder.select(wrong, _WORD(0), answer)

        return types.int64(*given), codegen

    names = ", ".join(f"a{i}" for i in range(3 + n_integers))
    scope: dict[str, Any] = {"_typing": guard, "intrinsic": intrinsic}
    exec(f"@intrinsic\ndef _call(typingctx, {names}):\n    return _typing(typingctx, {names})", scope)
    exec(f"def guarded({names}):\n    return _call({names})", scope)
    return scope["guarded"]
