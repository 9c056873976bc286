"""Tables of a page: they sort by a click on a heading, and long ones can be filtered by what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from html import escape
from typing import Final, NamedTuple

from heddle.report.wording import NO_DIFFERENCE


class Says(StrEnum):
    """What a change means: the second line of its cell, and with a colour of its own the class of that line."""

    BETTER = "better"
    WORSE = "worse"
    NOTHING = NO_DIFFERENCE

    @property
    def css(self) -> str:
        return "" if self is Says.NOTHING else self.value


class Cell(NamedTuple):
    """`text` may be a name that anybody chose; `value` is what the table sorts by."""

    text: str
    value: float | str
    says: Says | None = None


_FILTERED_FROM: Final = 16  # rows: fewer can be read at once


def sortable_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]], label: str, css: str = "") -> str:
    """A table below its title; nothing where it would have no rows. `label` is what a screen reader calls it."""
    if not rows:
        return ""
    words = {place for row in rows for place, cell in enumerate(row) if isinstance(cell.value, str) and cell.value}
    head = "".join(
        f'<th scope="col"{_aligned(place in words)}><button>{escape(text)}</button></th>'
        for place, text in enumerate(heads)
    )
    body = "".join(
        f"<tr>{''.join(_cell(place, place in words, cell) for place, cell in enumerate(row))}</tr>" for row in rows
    )
    name = escape(label, quote=True)
    classes = f' class="{css}"' if css else ""
    long = len(rows) >= _FILTERED_FROM
    ask = f'<input class="filter" type="search" placeholder="filter rows" aria-label="filter {name}">' if long else ""
    return (
        f'<div class="titled"><h3>{escape(title)}</h3>{ask}</div><div class="scroll{" tall" if long else ""}" '
        f'tabindex="0" role="region" aria-label="{name}"><table{classes}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _aligned(words: bool) -> str:
    """Words are read from the left, numbers are compared at their right end."""
    return ' class="words"' if words else ""


def _cell(place: int, words: bool, cell: Cell) -> str:
    key = escape(cell.value if isinstance(cell.value, str) else repr(float(cell.value)), quote=True)
    tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
    below = "" if cell.says is None else f'<small class="{cell.says.css}">{escape(cell.says)}</small>'
    return f'<{tag}{scope}{_aligned(words)} data-v="{key}">{escape(cell.text)}{below}</{tag}>'
