"""What Numba's errors mean to whoever wrote the hook: a slip is refused with its line, the rest is told in one line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.model.view import View
from heddle.model.workload import TASK
from heddle.policy.declaration import Hook
from heddle.policy.handles import view_columns
from heddle.policy.state import FUTURE_PEAK, StateLayout

_OF_SIZING: Final = f'say truth=("{FUTURE_PEAK}",), depends_on="time"'


def refuse_slips(function: Hook, layout: StateLayout, names: tuple[str, ...], error: str) -> None:
    """What is not declared, is read with other indices, or is not the lever's to write: no slow Python mends that."""
    row = _row(function, error)
    line, what = _source(function, row), ""
    if "Cannot modify readonly array" in error:
        what = "writes to the view or the truth, which belong to the host; a lever may only change its own state"
    elif part := re.search(r"Unknown attribute '(\w+)' of type heddle\.(View|State|Params)", error):
        known = {"View": View._fields, "State": layout.dtypes, "Params": names}[part[2]]
        what = f"{part[2].lower()}.{part[1]} does not exist{_instead(part[1], known)}"
        if part[2] == "State" and part[1] == "truth":
            declares = f"declares truth={layout.truth}, which prepare() gets" if layout.truth else "declares no truth"
            what = f"this lever {declares}; {_OF_SIZING} (sizing levers alone have it)"
    elif column := re.search(r">>> getitem\((?:readonly )?array\(Record\(.*Literal\[str\]\((\w+)\)\)", error):
        what = _no_column(column[1], line, layout)
    elif re.search(r">>> getitem\((?:readonly )?array\(int\d+, 1d[^)]*\), (?:Uni)?Tuple", error):
        what = "a column with one number for each row is read with two indices"
    elif re.search(r"Only accept returning of array|NRT required", error):
        what = 'works on a whole column; name a row, as in view.clock["now_ms"][0]'
    if what:
        raise BadInput.of(function.__code__.co_filename, f"{function.__name__}: {what}", row=row)


def _no_column(column: str, line: str, layout: StateLayout) -> str:
    table = re.search(rf"(view|state)\.(\w+)\[['\"]{column}['\"]\]", line)
    if not table:
        return f"there is no column {column!r}: it is not declared, or misspelt"
    tables = view_columns(layout.n_resources) if table[1] == "view" else layout.dtypes
    what = f"{table[1]}.{table[2]} has no column {column!r}"
    if column == FUTURE_PEAK:
        return f'{what}; {_OF_SIZING} and read state.truth["{FUTURE_PEAK}"][node, r] (sizing levers alone have it)'
    if column in (TASK.names or ()):
        read = f'setup.truth.tasks["{column}"]'
        return f'{what}; no scheduler knows it: say truth=("workload",), and prepare(setup) may read {read}'
    return f"{what}{_instead(column, tables[table[2]].names or ())}"


def _instead(name: str, known: Iterable[str]) -> str:
    names = list(known)
    return f"{did_you_mean(name, names) or ';'} it has: {', '.join(names) or 'nothing'}"


def above_it(member: str) -> str:
    """What to do with a Reason, which compiled code does not know as a number."""
    return f"write {member} = int(Reason.{member}) above it"


def why_not(function: Hook, error: str) -> tuple[str, int]:
    """What of Numba's error says most, in one line, and the line of the user's file that it is about."""
    row = _row(function, error)
    if re.search(r">>> int\(IntEnum", error):
        member = re.search(r"int\(\w+\.(\w+)\)", _source(function, row))
        name = member[1] if member else "X"
        return f"int(Reason.{name}) does not compile inside a hook: {above_it(name)}", row
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    telling = re.compile(r"No implementation|Cannot|Unknown|Untyped|Invalid|Unsupported")
    at = next((i for i, line in enumerate(lines) if telling.match(line)), min(1, len(lines) - 1))
    said = lines[at] if lines else ""
    if said.endswith(":"):  # the next line says of what
        said = f"{said.removesuffix(':')} {lines[at + 1].removeprefix('>>> ')}" if at + 1 < len(lines) else said[:-1]
    return said, row


def _source(function: Hook, row: int) -> str:
    linecache.checkcache(function.__code__.co_filename)
    return linecache.getline(function.__code__.co_filename, row)


def _row(function: Hook, error: str) -> int:
    code = function.__code__
    found = re.findall(r'File "([^"]+)", line (\d+)', error)
    own = [int(row) for file, row in found if Path(file).name == Path(code.co_filename).name]
    return own[-1] if own else code.co_firstlineno
