"""What the commands print: one document or tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.model.errors import BadInput, CheckFailed, HeddleError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout instead of tables.")]


class _Loudness:
    """What --quiet sets: the one thing of the command line that every message depends on."""

    quiet = False


def be_quiet(wanted: bool) -> None:
    """With --quiet only results and errors are printed."""
    _Loudness.quiet = wanted


def is_quiet() -> bool:
    return _Loudness.quiet


def say(text: str) -> None:
    """A message for people; never part of the result, and left out with --quiet."""
    if not _Loudness.quiet:
        complain(text)


def complain(text: str) -> None:
    """An error or a warning: shown even with --quiet."""
    print(text, file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    print(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))


def print_tables(tables: Iterable[RenderableType], *, to_stderr: bool = False) -> None:
    from rich.console import Console

    console = Console(stderr=to_stderr)
    for table in tables:
        console.print(table)
        console.print()


def print_paragraphs(paragraphs: Iterable[str]) -> None:
    """Sentences of the result, broken between words."""
    for paragraph in paragraphs:
        print(textwrap.fill(paragraph, terminal_width()))
    print()


def terminal_width() -> int:
    """80 where there is no terminal."""
    from rich.console import Console

    return Console().width


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """A plain table, without a row of headings where all are empty; what the cells hold is text, not markup."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=escape(title) or None, title_justify="left", box=box.SIMPLE_HEAD)
    made.pad_edge, made.show_edge, made.show_header = False, False, any(headings)
    for heading in headings:
        made.add_column(escape(heading), overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell) for cell in row))
    return made


def report(error: HeddleError) -> int:
    """Say what was wrong; the exit code that it means."""
    if isinstance(error, BadInput):
        for problem in error.problems:
            complain(f"error: {problem}")
        return BAD_INPUT
    if isinstance(error, CheckFailed):
        for found in error.found:
            complain(f"check failed: {found}")
        return FAILED
    complain(f"error: {error}")
    return BAD_INPUT


def show_warnings_briefly() -> None:
    """A warning is one line for the user, without the place in our sources."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        complain(f"warning: {message}")

    warnings.showwarning = show
