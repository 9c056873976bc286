"""A plain table that fits a terminal: cells are broken between words or the parts of a name, never inside a word."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from heddle.model.visible_text import visible, visible_lines

_GAP: Final = 3  # columns that stand between two columns of text
_UNIT: Final = r"(?:%|(?:s|ms|min|h|MB|GB|GB-h|vcore-h|vcores?)(?![A-Za-z]))"
_SPACE: Final = re.compile(rf"(?<!\d) | (?!{_UNIT})")  # not between a number and its unit
_PARTS: Final = re.compile(r"(?<=[+,/:])|(?=\()")  # of policies and paths
_JOINTS: Final = re.compile(r"(?<==)|(?<=[A-Za-z_][.-])(?=[A-Za-z_])")  # of a part that is too long as a whole


def fitted_table(
    headings: Sequence[str], rows: Sequence[Sequence[str | Text]], title: str, width: int, right: Collection[str] = ()
) -> Table:
    """Without a row of headings where all are empty. What is too wide even so has a line for each heading of a row.

    A cell is one line, whatever a name in it holds; one that has lines of its own is a Text.

    `right`: headings of the columns that are aligned at the right.
    """
    headings, rows = [visible_lines(one) for one in headings], [[_visible(cell) for cell in row] for row in rows]
    cells = [headings, *([str(cell) for cell in row] for row in rows)]
    widths = _widths(cells, width - _GAP * (len(headings) - 1))
    if widths is None:
        return _stacked(headings, rows, title, width)
    made = _plain(title)
    made.show_header = any(headings)
    for heading, wide in zip(headings, widths, strict=True):
        made.add_column(_text(heading, wide), justify="right" if heading in right else "left", no_wrap=True)
    for row in rows:
        made.add_row(*(_text(cell, wide) for cell, wide in zip(row, widths, strict=True)))
    return made


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width`, if no part of a word is longer; what a line is indented by its rest is, too."""
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = line[: len(line) - len(words)]
        lines += [indent + one for one in _filled(words, max(1, width - len(indent)))]
    return lines


def _filled(words: str, width: int) -> list[str]:
    lines = [""]
    for word in _SPACE.split(words):
        glue = " " if lines[-1] else ""
        if len(lines[-1]) + len(glue) + len(word) <= width:
            lines[-1] += glue + word
            continue
        if lines[-1]:
            lines.append("")
        for part in _parts(word, width):
            if lines[-1] and len(lines[-1]) + len(part) > width:
                lines.append("")
            lines[-1] += part
    return lines


def _parts(word: str, width: int) -> list[str]:
    """What may stand on lines of their own; broken no finer than this width asks for."""
    if len(word) <= width:
        return [word]
    return [piece for part in _PARTS.split(word) for piece in ([part] if len(part) <= width else _JOINTS.split(part))]


def _widths(cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Of each column, together at most `room`; none where a word would have to be broken."""
    columns = list(zip(*cells, strict=True))
    wanted = [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]
    if sum(wanted) <= room:
        return wanted
    for least in (_longest_word, _longest_part):
        widths = [max(least(cell) for cell in column) for column in columns]
        if sum(widths) <= room:
            for _ in range(room - sum(widths)):
                neediest = max(range(len(widths)), key=lambda at: wanted[at] / max(1, widths[at]))
                widths[neediest] += 1
            return widths
    return None


def _longest_word(cell: str) -> int:
    return max(_indent(line) + len(word) for line in cell.split("\n") for word in _SPACE.split(line.lstrip(" ")))


def _longest_part(cell: str) -> int:
    return max(
        _indent(line) + len(part)
        for line in cell.split("\n")
        for word in _SPACE.split(line.lstrip(" "))
        for part in _parts(word, 0)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _stacked(headings: Sequence[str], rows: Sequence[Sequence[str | Text]], title: str, width: int) -> Table:
    left = min(max(map(len, headings)), width // 3)
    made = _plain(title)
    made.show_header = False
    made.add_column(overflow="fold", width=left)
    made.add_column(overflow="fold")
    for number, row in enumerate(rows):
        if number:
            made.add_row("", "")
        for heading, cell in zip(headings, row, strict=True):
            if str(cell):
                made.add_row(_text(heading, left), _text(cell, width - _GAP - left))
    return made


def _visible(cell: str | Text) -> str | Text:
    return visible(cell) if isinstance(cell, str) else Text(visible_lines(cell.plain), style=cell.style)


def _text(cell: str | Text, width: int) -> Text:
    style = cell.style if isinstance(cell, Text) else ""
    return Text("\n".join(wrapped(str(cell), width)), style=style)


def _plain(title: str) -> Table:
    from rich.table import Table

    made = Table(title=Text(visible(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD)
    made.pad_edge, made.show_edge = False, False
    return made
