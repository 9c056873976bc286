"""What Numba's errors mean to whoever wrote the hook: a slip is refused with its line, the rest is told in one line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from pathlib import Path

from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.model.view import View
from heddle.policy.declaration import Hook
from heddle.policy.handles import view_columns
from heddle.policy.state import FUTURE_PEAK, StateLayout


def refuse_slips(function: Hook, layout: StateLayout, names: tuple[str, ...], error: str) -> None:
    """What is not declared, is read with other indices, or is not the lever's to write: no slow Python mends that."""
    row = _row(function, error)
    linecache.checkcache(function.__code__.co_filename)
    line = linecache.getline(function.__code__.co_filename, row)
    what = ""
    if "Cannot modify readonly array" in error:
        what = "writes into the view or the truth, which are the host's; what a lever remembers is its own state"
    elif part := re.search(r"Unknown attribute '(\w+)' of type heddle\.(View|State|Params)", error):
        known = {"View": View._fields, "State": layout.dtypes, "Params": names}[part[2]]
        what = f"{part[2].lower()}.{part[1]} does not exist{_instead(part[1], known)}"
        if part[2] == "State" and part[1] == "truth":
            what += f'; say truth=("{FUTURE_PEAK}",)'
    elif column := re.search(r">>> getitem\((?:readonly )?array\(Record\(.*Literal\[str\]\((\w+)\)\)", error):
        what = _no_column(column[1], line, layout)
    elif re.search(r">>> getitem\((?:readonly )?array\(int\d+, 1d[^)]*\), (?:Uni)?Tuple", error):
        what = "a column with one number for each row is read with two indices"
    elif re.search(r"Only accept returning of array|NRT required", error):
        what = 'works on a whole column; say which row, as in view.clock["now_ms"][0]'
    if what:
        raise BadInput.of(function.__code__.co_filename, f"{function.__name__}: {what}", row=row)


def _no_column(column: str, line: str, layout: StateLayout) -> str:
    table = re.search(rf"(view|state)\.(\w+)\[['\"]{column}['\"]\]", line)
    if not table:
        return f"there is no column {column!r}: it is not declared, or spelt otherwise"
    tables = view_columns(layout.n_resources) if table[1] == "view" else layout.dtypes
    return f"{table[1]}.{table[2]} has no column {column!r}{_instead(column, tables[table[2]].names or ())}"


def _instead(name: str, known: Iterable[str]) -> str:
    names = list(known)
    return f"{did_you_mean(name, names) or ';'} it has: {', '.join(names) or 'nothing'}"


def why_not(function: Hook, error: str) -> tuple[str, int]:
    """The one line of Numba's error that says most, and the line of the user's file that it is about."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    telling = [
        line for line in lines if re.match(r"No implementation|Cannot|Unknown|Untyped|Invalid|Unsupported", line)
    ]
    return (telling or lines[1:] or lines or [""])[0], _row(function, error)


def _row(function: Hook, error: str) -> int:
    code = function.__code__
    found = re.findall(r'File "([^"]+)", line (\d+)', error)
    own = [int(row) for file, row in found if Path(file).name == Path(code.co_filename).name]
    return own[-1] if own else code.co_firstlineno
