"""What the commands print: one document or tables on stdout, everything else on stderr.

All of it goes through here, because much of it is names and answers from outside: whatever a terminal would obey is
shown instead.
"""

from __future__ import annotations

import json
import sys
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from heddle.model.errors import BadInput, CheckFailed, HeddleError, Problem
from heddle.model.own_sources import own_version
from heddle.model.visible_text import visible, visible_json, visible_lines

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

ErrorKind = Literal["bad-input", "refused", "check-failed", "usage", "disk-full", "interrupted"]
_PREFIX: Final = {"bad-input": "error: ", "refused": "error: ", "check-failed": "check failed: "}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout instead of tables.")]


SCHEMA_VERSION: Final = 1  # of all documents together; docs/json.md says when it changes


class _Loudness:
    """What every message depends on: --quiet, and whether a machine reads what is wrong (--json)."""

    quiet = False
    errors_as_json = False


def be_quiet(wanted: bool) -> None:
    """With --quiet only results and errors are printed."""
    _Loudness.quiet = wanted


def tell_errors_as_json(wanted: bool) -> None:
    """With --json errors are one line of JSON on stderr, the last one."""
    _Loudness.errors_as_json = wanted


def is_quiet() -> bool:
    return _Loudness.quiet


def say(text: str) -> None:
    """A message for people; never part of the result, and left out with --quiet."""
    if not _Loudness.quiet:
        complain(text)


def say_wrapped(text: str) -> None:
    """The same for whole sentences, broken between words."""
    for line in textwrap.wrap(visible(text), terminal_width(), break_on_hyphens=False):
        say(line)


def complain(text: str) -> None:
    """An error or a warning, as one line: shown even with --quiet."""
    print(visible(text), file=sys.stderr, flush=True)


def versioned(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document that others read says what wrote it and by which schema."""
    return {"heddle_version": own_version(), "schema_version": SCHEMA_VERSION, **document}


def print_json(document: Mapping[str, Any]) -> None:
    print(visible_json(json.dumps(versioned(document), indent=1, allow_nan=False, ensure_ascii=False)))


def print_line(text: str) -> None:
    """A line of the result."""
    print(visible(text), flush=True)


def print_lines(text: str) -> None:
    """What has lines of its own, such as a log."""
    print(visible_lines(text), flush=True)


def print_json_line(document: Mapping[str, Any]) -> None:
    """One of many documents, of which each is a line."""
    print(json.dumps(versioned(document), allow_nan=False), flush=True)


def print_tables(tables: Iterable[RenderableType], *, to_stderr: bool = False) -> None:
    from rich.console import Console

    console = Console(stderr=to_stderr)
    for table in tables:
        console.print(table)
        console.print()


def print_paragraphs(paragraphs: Iterable[str]) -> None:
    """Sentences of the result, broken between words."""
    for paragraph in paragraphs:
        print(textwrap.fill(visible(paragraph), terminal_width(), break_on_hyphens=False))
    print()


def terminal_width() -> int:
    """80 where there is no terminal."""
    from rich.console import Console

    return Console().width


def table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], title: str = "") -> Table:
    """A plain table for this terminal; what the cells hold is text, not markup."""
    from heddle.report.fitted_table import fitted_table

    return fitted_table(headings, list(rows), title, terminal_width())


def counted(count: int, noun: str) -> str:
    """`1 job`, `2,000 jobs`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def report(error: HeddleError) -> int:
    """Say what was wrong; the exit code that it means."""
    if isinstance(error, BadInput):
        return fail("bad-input", error.problems, BAD_INPUT)
    if isinstance(error, CheckFailed):
        return fail("check-failed", [Problem("", found) for found in error.found], FAILED)
    return fail("refused", [Problem("", str(error))], BAD_INPUT)


def fail(kind: ErrorKind, problems: Sequence[Problem], exit_code: int) -> int:
    """Tell a person, or a machine, what was wrong; gives the exit code back."""
    if _Loudness.errors_as_json:
        listed = [{name: value for name, value in asdict(one).items() if value not in ("", None)} for one in problems]
        error = {"kind": kind, "exit_code": exit_code, "problems": listed}
        complain(visible_json(json.dumps(versioned({"error": error}), ensure_ascii=False)))
        return exit_code
    for problem in problems:
        first, *rest = (str(problem) if problem.where else problem.what).split("\n")
        complain(_PREFIX.get(kind, "") + first)
        for line in rest:  # such as the end of a log; none of them can pass for a message
            complain(f"  {line}")
    return exit_code


def show_warnings_briefly() -> None:
    """A warning is one line for the user, without the place in our sources."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        complain(f"warning: {message}")

    warnings.showwarning = show
