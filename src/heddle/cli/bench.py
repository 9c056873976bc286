"""`heddle bench`: heddle's speed and memory beside its rivals."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.inputs import compile_with_message
from heddle.cli.output import DONE, FAILED, Json, print_json, print_lines, print_tables, say, table
from heddle.model.errors import RunRefused


def bench(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Smaller sizes, one repetition, a few minutes; exits with 0 even if targets are missed."
        ),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table for docs/performance.md.")] = False,
    json: Json = False,
) -> int:
    """Measure heddle against a heapq script, SimPy and AccaSim, in one run on this machine.

    The full table takes about half an hour. It needs the source checkout, where the rivals are (benchmarks/).
    Exit code 1 means that a target was missed.

    \b
    Examples:
      heddle bench --quick
      heddle bench --json > bench.json
    """
    from heddle.policy.parse import parse_policy

    checkout = Path(__file__).resolve().parents[3]
    if not (checkout / "benchmarks" / "table.py").is_file():
        raise RunRefused(
            "bench needs heddle's source checkout (git clone; pip install -e .): the simulators it compares "
            "with are not installed"
        )
    sys.path.insert(0, str(checkout))
    measured = importlib.import_module("benchmarks.table")
    compile_with_message([parse_policy("fifo")], 2)
    rows = measured.measure_all(quick=quick, say=say)
    missed = [row for row in rows if row.met is False]
    if json:
        print_json({"quick": quick, "machine": measured.machine(), "rows": [row.as_json() for row in rows]})
    elif markdown:
        lines = [measured.HEADINGS, ("---",) * len(measured.HEADINGS), *(row.cells() for row in rows)]
        print_lines(f"{measured.machine()}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print_tables([table(measured.HEADINGS, [row.cells() for row in rows], title=measured.machine())])
    return FAILED if missed and not quick else DONE
