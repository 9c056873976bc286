"""What Numba found out about a user's hook as it compiled it: which columns it reads, what each `return` gives.

Of the hook's own code only: what a function that it calls reads, is seen when `heddle certify` runs it.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import Any

from heddle.model.numba_internals import numba_ir as ir
from heddle.policy.declaration import Hook
from heddle.policy.declared_reads import Read
from heddle.policy.handle_types import ViewType


def columns_read(typed: Any, view: ViewType) -> dict[Read, int]:
    """Columns of the view, each with the line that reads it first. `typed`: of a compiled overload."""
    tables = {kind: table for table, kind in view.parts.items()}
    found: dict[Read, int] = {}
    for one in _assigned(typed):
        if isinstance(one.value, ir.Expr) and one.value.op == "static_getitem" and isinstance(one.value.index, str):
            table = tables.get(typed.typemap[one.value.value.name])
            if table is not None:
                read = Read(table, one.value.index)
                found[read] = min(one.loc.line, found.get(read, one.loc.line))
    return found


def line_that_returns(function: Hook, typed: Any, kind: type[Any]) -> int:
    """The first `return` of this type; where it stands in no `return` (the end of the hook), the line of its `def`."""
    casts = {one.target.name: one.value for one in _assigned(typed) if _is_cast(one.value)}
    lines = []
    for block in typed.blocks.values():
        for end in block.find_insts(ir.Return):
            cast = casts.get(end.value.name)
            returned = typed.typemap[cast.value.name if cast else end.value.name]
            if isinstance(returned, kind) and _line(function, end.loc.line).startswith("return"):
                lines.append(end.loc.line)
    return min(lines, default=defined_at(function))


def defined_at(function: Hook) -> int:
    """The line of its `def`, below its decorators."""
    first = function.__code__.co_firstlineno
    last = max((line for *_, line in function.__code__.co_lines() if line), default=first)
    return next((row for row in range(first, last + 1) if _line(function, row).startswith("def ")), first)


def _line(function: Hook, row: int) -> str:
    linecache.checkcache(function.__code__.co_filename)
    return linecache.getline(function.__code__.co_filename, row).strip()


def _assigned(typed: Any) -> Iterator[Any]:
    for block in typed.blocks.values():
        yield from block.find_insts(ir.Assign)


def _is_cast(value: Any) -> bool:
    return isinstance(value, ir.Expr) and value.op == "cast"
