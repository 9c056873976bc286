"""Loops over arrays that Python calls, compiled once for each kind of arguments and loaded without Numba.

A loop is called by Numba's own convention: status = f(answer*, raised**, arguments...), where an array is seven words
and more: nobody, nobody, its length, the size of an item, its address, its shape, its strides.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterator
from functools import update_wrapper
from operator import index
from typing import Any, Final, Generic, ParamSpec, TypeVar

import numpy as np

from heddle.model.code_files import SUFFIX, load_code, places_of, write_code
from heddle.model.code_folders import loops_folder

_ANSWERS: Final[dict[str, Any]] = {"int64": ctypes.c_int64, "float64": ctypes.c_double, "none": None}
P = ParamSpec("P")
A = TypeVar("A")


class Loop(Generic[P, A]):
    """Compiled when it is called with arguments of a new kind that no file has; what it calls is callable_too."""

    def __init__(self, function: Callable[P, A]) -> None:
        self._function = function
        self._ready: dict[tuple[Any, ...], Callable[..., Any]] = {}
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> A:
        kinds = tuple(_kind(argument) for argument in arguments)
        call = self._ready.get(kinds)
        if call is None:
            call = self._ready[kinds] = self._load(kinds, arguments)
        answer: A = call(arguments)
        return answer

    def _load(self, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        function = self._function
        places = places_of(loops_folder())
        known_as = hashlib.sha256(repr(kinds).encode()).hexdigest()[:12]
        start = f"{function.__module__}.{function.__qualname__}-{known_as}-"
        found = [file for place in places for file in place.glob(f"{start}*{SUFFIX}")]
        if not found:
            from heddle.model.compiled import compile_loop

            answers, symbol, code = compile_loop(function, arguments)
            found = [places[0] / f"{start}{answers}{SUFFIX}"]
            write_code(found[0], symbol, code)
        answers = found[0].name.removeprefix(start).removesuffix(SUFFIX)
        return _called(load_code(found[:1])[0], _ANSWERS[answers])


def _kind(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.c_contiguous, argument.flags.writeable
    return "float" if isinstance(argument, float) else "int"


def _called(address: int, answers: Any) -> Callable[..., Any]:
    function = ctypes.CFUNCTYPE(ctypes.c_int32)(address)

    def call(arguments: tuple[Any, ...]) -> Any:
        answer, raised = (answers or ctypes.c_void_p)(), ctypes.c_void_p()
        words = [word for argument in arguments for word in _words(argument)]
        function(ctypes.byref(answer), ctypes.byref(raised), *words)
        return answer.value if answers else None

    return call


def _words(argument: Any) -> Iterator[Any]:
    if isinstance(argument, np.ndarray):
        whole = (0, 0, argument.size, argument.itemsize, argument.ctypes.data, *argument.shape, *argument.strides)
        yield from map(ctypes.c_int64, whole)
    elif isinstance(argument, float):
        yield ctypes.c_double(argument)
    else:
        yield ctypes.c_int64(index(argument))
