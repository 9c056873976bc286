"""The HTML report of one job: its life as a bar, where the time went, and every span in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape

from heddle.analysis.waiting.explain import STATES, Explained, Span
from heddle.report.gantt import key_of, lives_chart, reason_colours
from heddle.report.page import page
from heddle.report.wording import write_s


def explained_html(lives: Sequence[Explained], detail: Callable[[Span], str], command: str) -> str:
    """The first life is the record's; a second one is the same job under another policy. `detail` is of the first."""
    first = lives[0]
    colours = reason_colours(lives)
    title = f"Why {first.name} took {write_s(first.taken_ms / 1000)}"
    waited = first.main_wait.partition(": ")[2] or first.main_wait or "it never waited"
    alone = write_s(first.alone_ms / 1000)
    bars = [replace(life, name=f"under {life.policy}") for life in lives]
    body = (
        f'<p class="quiet">Queue {escape(first.queue)}, user {escape(first.user)}, under {escape(first.policy)}.</p>'
        f'<p class="verdict">Alone on the cluster it would take {alone} at least. '
        f"Most of its wait: {escape(waited)}.</p>"
        f'<figure><h3>Its life</h3><p class="key">{key_of(lives, colours)}</p>{lives_chart(title, bars, colours)}'
        "<figcaption>From submission to end. Fainter colour: part of it was running.</figcaption></figure>"
        + f"<h2>Where the time went</h2>{_causes(lives)}<h2>Span by span, under {escape(first.policy)}</h2>"
        + _spans(first, detail)
        + f"<h2>How to get this again</h2><pre>{escape(command)}</pre>"
    )
    return page(title, body, 0)


def _causes(lives: Sequence[Explained]) -> str:
    causes = dict.fromkeys(cause for life in lives for cause in life.causes_ms)
    rows = [[cause, *(write_s(life.causes_ms.get(cause, 0) / 1000) for life in lives)] for cause in causes] + [
        ["all", *(write_s(life.taken_ms / 1000) for life in lives)]
    ]
    return _table(["", *(life.policy for life in lives)], rows)


def _spans(life: Explained, detail: Callable[[Span], str]) -> str:
    rows: list[list[str | tuple[str, str]]] = []
    for span in life.spans:
        begin = write_s((span.from_ms - life.submit_at_ms) / 1000)
        rows.append(
            [f"after {begin}", write_s(span.length_ms / 1000), (span.cause, detail(span) or STATES[span.state])]
        )
    return _table(["", "for", "what happened"], rows, "said")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str | tuple[str, str]]], css: str = "") -> str:
    """A cell may have a second line, in small print."""

    def inside(cell: str | tuple[str, str]) -> str:
        return escape(cell) if isinstance(cell, str) else f"{escape(cell[0])}<small>{escape(cell[1])}</small>"

    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{inside(row[0])}</th>{"".join(f"<td>{inside(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="times"><table class="{css}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
