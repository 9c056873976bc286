"""Functions that compiled code may call and that stay plain Python: what levers share.

They are only marked here. When something is compiled that calls them, Numba is told of them (model/compiled.py); until
then nobody needs Numba, and whoever calls them from Python calls what is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Register = Callable[[Callable[..., Any], Callable[..., Any]], None]

_marked: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
_compilers: list[Register] = []


def callable_too(function: Callable[..., Any]) -> Any:
    """Marks it: compiled where a compiled caller is, plain Python elsewhere."""
    mark(function, function)
    return function


def mark(function: Callable[..., Any], compiled_as: Callable[..., Any]) -> None:
    """Compiled callers of `function` get the other one, which must give the same answers."""
    _marked.append((function, compiled_as))
    for register in _compilers:
        register(function, compiled_as)


def tell_of_marked(register: Register) -> None:
    """A compiler wants to know of all that are marked, now and later."""
    _compilers.append(register)
    for function, compiled_as in _marked:
        register(function, compiled_as)
