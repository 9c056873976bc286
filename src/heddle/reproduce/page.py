"""The HTML report of reproductions: for each paper its claims, its figures and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heddle.report.charts import figure
from heddle.report.page import page
from heddle.report.style import N_COLOURS
from heddle.reproduce.claims import Claim, Drawing, Reproduction, Source, Table, headline
from heddle.reproduce.verdicts import Verdict

_CSS = {Verdict.REPRODUCED.value: "better", Verdict.NOT_REPRODUCED.value: "worse"}


def reproductions_html(reproductions: Sequence[Reproduction], command: str) -> str:
    """One page for all of them."""
    sections = "".join(_section(one) for one in reproductions)
    body = (
        '<p class="quiet">Each claim is judged by the rule of its kind. An interval is 95 %, paired over seeds. Where '
        "nothing said beforehand what should come out, a claim is not judged and not counted.</p>"
        f"{sections}<h2>How to reproduce this</h2><pre>{escape(command)}</pre>"
    )
    return page("The papers' experiments, run again", body, N_COLOURS)


def measured_text(claim: Claim) -> str:
    """The number with its unit."""
    return "-" if claim.measured is None else f"{_short(claim.measured)} {claim.unit}".strip()


def interval_text(claim: Claim) -> str:
    return "" if claim.ci95 is None else f"{_short(claim.ci95[0])} to {_short(claim.ci95[1])}"


def _section(one: Reproduction) -> str:
    size = ", reduced (--quick)" if one.quick else ""
    remarks = "".join(f"<p>{escape(remark)}</p>" for remark in one.remarks)
    return (
        f'<section><h2 id="{one.paper}">{escape(one.title)}</h2>'
        f'<p class="verdict">{escape(headline(one.claims))}</p>'
        f'<p class="quiet">{one.runs:,} runs in {one.wall_s:,.0f} s{size}; constants {one.constants_hash}.</p>{remarks}'
        f"{_claims(one.claims)}"
        f'<div class="figures">{"".join(_drawing(drawing) for drawing in one.drawings)}</div>'
        f"{''.join(_table(table) for table in one.tables)}</section>"
    )


def _claims(claims: Sequence[Claim]) -> str:
    """Below each claim a row with its note: beside it there is no room for a sentence."""
    heads = ("Claim", "Paper", "Measured", "Verdict")
    rows = []
    for claim in claims:
        interval = f"<small>{escape(interval_text(claim))}</small>" if claim.ci95 else ""
        css = _CSS.get(claim.verdict, "")
        name = claim.id if claim.source is Source.PAPER else f"{claim.id}, {claim.source}"
        rows.append(
            f'<tr><th scope="row">{escape(claim.statement)}<small> {escape(name)}</small></th>'
            f"<td>{escape(claim.paper)}</td><td>{escape(measured_text(claim))}{interval}</td>"
            f'<td class="{css}">{escape(claim.verdict)}</td></tr>'
        )
        if claim.note:
            rows.append(f'<tr><td colspan="{len(heads)}">{escape(claim.note)}</td></tr>')
    return _frame("claims", heads, "".join(rows), "said")


def _drawing(drawing: Drawing) -> str:
    key = "".join(f'<span class="p{slot}"><i></i>{escape(label)}</span>' for slot, label in drawing.key)
    return figure(drawing.title, (f'<p class="key">{key}</p>' if key else "") + drawing.svg, drawing.caption)


def _table(table: Table) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    caption = f"<p><small>{escape(table.caption)}</small></p>" if table.caption else ""
    return f"<h3>{escape(table.title)}</h3>{_frame(table.title, table.headings, rows, '')}{caption}"


def _frame(label: str, headings: Sequence[str], rows: str, css: str) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label, quote=True)}">'
        f'<table class="{css}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _short(value: float) -> str:
    digits = 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}".replace("-", "−")
