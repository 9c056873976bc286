"""Which functions each piece of compiled code contains: `python -m tests.mutation.contents` says it as JSON.

A piece is a unit or an entry of the engine, a lever's hook, or a helper in Numba's cache. It contains its function and
all that this calls, up to units, which are called through a table of addresses. A mutant changes only the pieces that
contain it; a function that ran while they were compiled may have left its mark on any.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

SOURCES = Path("src/heddle").resolve()
PACKAGES = ("heddle.sim", "heddle.policy", "heddle.yarn.live", "heddle.stock_yarn")
NAMELESS = ("<lambda>", "<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>", "<module>", "<locals>")


def main() -> None:
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and (name := name_of(frame.f_code)):
            ran.add(name)

    sys.setprofile(note)
    modules = list(import_all())
    from heddle.sim.numba.compile import _ENTRIES, compile_unit
    from heddle.sim.numba.units import unit_names

    with tempfile.TemporaryDirectory() as place:
        compile_unit(min(unit_names()), 2, Path(place))
    sys.setprofile(None)
    print(json.dumps({"ran": sorted(ran), "pieces": dict(pieces(modules, _ENTRIES))}))


def import_all() -> Iterator[ModuleType]:
    for package in map(importlib.import_module, PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def pieces(modules: list[ModuleType], entries: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """As their files are named, without what follows the function's name."""
    from heddle.sim.numba.units import function_of, unit_names

    for name in unit_names():
        yield f"units/{name}", sorted(inside(function_of(name)))
    for name, function in entries.items():
        yield f"entries/{name}", sorted(inside(function))
    for module in modules:
        folder = "_".join(module.__name__.split(".")[1:])
        for function in vars(module).values():
            plain = getattr(function, "py_func", function)
            if isinstance(plain, FunctionType) and plain.__module__ == module.__name__:
                where = module.__name__ if plain is function else f"{folder}/{module.__name__.rpartition('.')[2]}"
                yield f"{where}.{plain.__qualname__}", sorted(inside(plain))


def inside(function: Callable[..., Any]) -> set[str]:
    """The function and what it calls, by file and name."""
    from heddle.model.compilable import _marked

    compiled_as = {id(one): other for one, other in _marked}
    found: set[str] = set()
    ahead: list[Any] = [function]
    while ahead:
        one = ahead.pop()
        plain = getattr(one, "py_func", one)
        if isinstance(one, (tuple, list)):
            ahead += one
        elif isinstance(plain, FunctionType) and (name := name_of(plain.__code__)) and name not in found:
            found.update(filter(None, map(name_of, nested(plain.__code__))))
            ahead += [compiled_as.get(id(plain)), *referred(plain)]
    return found


def referred(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    for code in nested(function.__code__):
        known = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        yield from known
        for module in known:
            if isinstance(module, ModuleType) and module.__name__.startswith("heddle."):
                yield from (vars(module)[name] for name in code.co_names if name in vars(module))


def nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def name_of(code: CodeType) -> str:
    """As `sim/engine.py:advance`, which is how mutants name their functions; empty: not one of ours."""
    file = Path(code.co_filename)
    if not file.is_relative_to(SOURCES):
        return ""
    parts = [part for part in code.co_qualname.split(".") if part not in NAMELESS]
    return f"{file.relative_to(SOURCES)}:{'.'.join(parts)}"


if __name__ == "__main__":
    main()
