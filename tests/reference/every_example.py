"""All runs that were worked out by hand: the functions without parameters in worked_*.py that return one.

They are found, not listed, so none is forgotten, by the reference or by the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from .worked_example import Example

RETURNS_ONE = {"return": Example.__name__}  # annotations are text in these modules


def every_example() -> list[Callable[[], Example]]:
    here = Path(__file__).parent
    modules = [import_module(f"{__package__}.{file.stem}") for file in sorted(here.glob("worked_*.py"))]
    return [
        make
        for module in modules
        for make in vars(module).values()
        if getattr(make, "__module__", "") == module.__name__ and getattr(make, "__annotations__", {}) == RETURNS_ONE
    ]
