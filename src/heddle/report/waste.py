"""The HTML report on waste: how much of what was reserved was used, by whom not, and where the capacity went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import numpy as np
import polars as pl

from heddle.analysis.waste.efficiency import Efficiency
from heddle.analysis.waste.ledger import Ledger
from heddle.analysis.waste.run_waste import Waste
from heddle.analysis.waste.yarn_accounts import YarnAccounts, off_by
from heddle.model.resources import MEMORY, display_name
from heddle.report.amounts import hours, hours_unit, in_hours
from heddle.report.charts import Axis, Line, figure, line_chart, nice_top
from heddle.report.page import page
from heddle.report.set_aside import set_aside_section
from heddle.report.style import N_COLOURS
from heddle.report.tables import Cell, sortable_table
from heddle.report.waste_figures import ledger_figures, node_figures
from heddle.report.wording import write_s

_MARKED: Final = (0.5, 0.9)  # quantiles with a line of their own


@dataclass(frozen=True)
class WasteReport:
    """What a report on waste is made of."""

    name: str  # of the trace or run
    by: str  # what the efficiency is about first: job, user, ...
    efficiency: Mapping[str, Sequence[Efficiency]]  # for each grouping one per resource; `container` among them
    waste: Waste | None  # of a record; a trace has none
    account: Mapping[str, Any] | None  # of an import
    command: str


def waste_html(report: WasteReport) -> str:
    """The text of the report."""
    chosen = report.efficiency[report.by]
    body = (
        f'<p class="verdict">{escape(_verdict(chosen))}</p><div class="tiles">{_tiles(chosen)}</div>'
        + "".join(f"<p><small>{escape(note)}</small></p>" for note in _unrecorded(chosen))
        + (waste_section(report.waste) if report.waste is not None else "")
        + efficiency_section(report.efficiency, report.by)
        + set_aside_section(report.account)
        + f"<h2>How to reproduce this</h2><pre>{escape(report.command)}</pre>"
    )
    return page(f"Reserved and used: {report.name}", body, N_COLOURS)


def waste_section(waste: Waste) -> str:
    """The ledger and the nodes of one run."""
    return (
        _group("Where the capacity went", ledger_figures({"": waste.over_time}))
        + ledger_table(waste.ledger)
        + (yarn_table(waste.ledger.yarn) if waste.ledger.yarn is not None else "")
        + _group("Reserved and used on the nodes", node_figures(waste.nodes))
    )


def efficiency_section(efficiency: Mapping[str, Sequence[Efficiency]], by: str) -> str:
    """Distributions, and who wasted most in every grouping; containers only where they are what it is about."""
    tables = "".join(
        _wasters_table(name, found) for name, found in efficiency.items() if name != "container" or by == "container"
    )
    figures = _group("How efficient they are", _cdf_figures(efficiency, by))
    return figures + (f"<h2>Who wasted most</h2>{tables}" if tables else "")


def _group(title: str, figures: str) -> str:
    return f'<h2>{escape(title)}</h2><div class="figures">{figures}</div>' if figures else ""


def _verdict(chosen: Sequence[Efficiency]) -> str:
    known = [one for one in chosen if one.ratio is not None]
    if not known:
        return "No container has recorded use, so waste is unknown."
    first, *others = known
    said = f"Of the {display_name(first.resource)} that was reserved, {_pct(first.ratio)} was used"
    said += "".join(f"; of the {display_name(one.resource)}, {_pct(one.ratio)}" for one in others)
    return f"{said}. {in_hours(first.reserved - first.used, first.resource)} sat idle in reservations."


def _pct(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def _tiles(chosen: Sequence[Efficiency]) -> str:
    return "".join(
        f'<div class="tile"><span>{escape(display_name(one.resource).capitalize())} used of reserved</span>'
        f"<b>{_pct(one.ratio)}</b><span>{escape(in_hours(one.used, one.resource))} of "
        f"{escape(in_hours(one.reserved, one.resource))}</span></div>"
        for one in chosen
        if one.reserved
    )


def _unrecorded(chosen: Sequence[Efficiency]) -> list[str]:
    return [
        f"{one.unrecorded_containers:,} containers ({in_hours(one.unrecorded_reserved, one.resource)}) have no "
        "recorded use and are not in these figures."
        for one in chosen
        if one.unrecorded_containers
    ]


def _cdf_figures(efficiency: Mapping[str, Sequence[Efficiency]], by: str) -> str:
    """One figure per resource: the chosen grouping with its quantiles, and containers beside it."""
    found = []
    for place, one in enumerate(efficiency[by]):
        if not one.groups.height:
            continue
        name = display_name(one.resource)
        drawn = {by: one, "container": efficiency["container"][place]}
        top = max(1.0, *(float(np.quantile(each.cdf["efficiency"].to_numpy(), 0.99)) for each in drawn.values()))
        lines, key = [], []
        for slot, (name_of, each) in enumerate(drawn.items()):
            x, y = (100 * each.cdf[column].to_numpy() for column in ("efficiency", "share"))
            lines.append(Line(f"{name_of}s", slot, x, y, kind="p"))
            key.append(f'<span class="p{slot}"><i></i>{name_of}s ({each.count:,})</span>')
        for q in _MARKED:
            at = 100 * one.quantiles[q]
            marks = np.array([at, at]), np.array([0.0, 100 * q])
            lines.append(Line(f"{100 * q:.0f} % of {by}s below", 0, *marks, dashed=True, kind="p"))
        said = "; ".join(f"{100 * q:.0f} % of {by}s below {100 * v:.1f} %" for q, v in one.quantiles.items())
        title = f"{name.capitalize()}: used of reserved"
        x_axis = Axis("used of reserved (%)", 0.0, nice_top(100 * top))
        chart = line_chart(title, x_axis, Axis("share of them (%)", 0.0, 100.0), lines)
        found.append(figure(title, f'<p class="key">{"".join(key)}</p>{chart}', f"Dashed: 50 and 90 %. {said}."))
    return "".join(found)


def _wasters_table(by: str, found: Sequence[Efficiency]) -> str:
    """All resources beside each other, the largest wasters of the first resource first."""
    known = [one for one in found if one.groups.height]
    if not known:
        return ""
    heads = [by.capitalize(), "Containers"]
    joined = known[0].groups.select("group", "containers")
    for r, one in enumerate(known):
        unit, name = hours_unit(one.resource), display_name(one.resource).capitalize()
        heads += [f"{name} wasted ({unit})", f"reserved ({unit})", f"used ({unit})", f"{name} used (%)"]
        columns = {f"{column}_{r}": pl.col(column) for column in ("wasted", "reserved", "used", "efficiency")}
        joined = joined.join(one.groups.select("group", **columns), on="group", how="left", maintain_order="left")
    rows: list[list[Cell]] = []
    for row in joined.iter_rows(named=True):
        cells = [Cell(str(row["group"]), str(row["group"])), Cell(f"{row['containers']:,}", row["containers"])]
        for r, one in enumerate(known):
            cells += [_amount_cell(row[f"{column}_{r}"], one.resource) for column in ("wasted", "reserved", "used")]
            share = row[f"efficiency_{r}"]
            cells.append(Cell("–", "") if share is None else Cell(f"{100 * share:.1f}", share))
        rows.append(cells)
    more = known[0].count - len(rows)
    note = f"<p><small>{more:,} more that wasted less are left out.</small></p>" if more > 0 else ""
    return sortable_table(f"By {by}", heads, rows, f"wasters by {by}") + note


def _amount_cell(amount_ms: int | None, resource: str) -> Cell:
    if amount_ms is None:
        return Cell("–", "")
    return Cell(f"{hours(amount_ms, resource):,.2f}", hours(amount_ms, resource))


def ledger_table(ledger: Ledger, price: float | None = None) -> str:
    """Every line with something in it; they add up to the last row. `price`: of a GB-hour."""
    heads = ["Where it went"]
    shown = [(r, name) for r, name in enumerate(ledger.resources) if ledger.total[r]]
    for _, name in shown:
        heads += [hours_unit(name), f"% of {display_name(name)}"]
    if price is not None:
        heads.append(f"at {price:g} per GB-h")
    rows: list[list[Cell]] = []
    everything = [(line.what + (" *" if line.inferred else ""), line.amounts) for line in ledger.lines]
    beside = [(f"(beside it: {memo.what})", memo.amounts) for memo in ledger.memos]
    for what, amounts in [*everything, ("all", ledger.total), *beside]:
        if not any(amounts):
            continue
        cells = [Cell(what, what)]
        for r, name in shown:
            share = 100 * amounts[r] / ledger.total[r]
            cells += [_amount_cell(amounts[r], name), Cell(f"{share:.1f}", share)]
        if price is not None:
            money = price * hours(amounts[MEMORY], ledger.resources[MEMORY])
            cells.append(Cell(f"{money:,.2f}", money))
        rows.append(cells)
    inferred = any(line.inferred and any(line.amounts) for line in ledger.lines)
    note = "* inferred: the record does not say which stages hold containers early. " if inferred else ""
    return sortable_table("The ledger", heads, rows, "the ledger") + (
        f"<p><small>{note}The rows add up to the hardware over {write_s((ledger.end_ms - ledger.begin_ms) / 1000)}."
        "</small></p>"
    )


def yarn_table(accounts: YarnAccounts) -> str:
    """What the record adds up to beside YARN's own memorySeconds and vcoreSeconds; the furthest off first."""
    heads = ["Application"]
    for name in accounts.resources:
        unit = hours_unit(name)
        heads += [f"{display_name(name).capitalize()} here ({unit})", f"by YARN ({unit})", "off (%)"]
    jobs = sorted(accounts.jobs, key=lambda one: one.furthest_off, reverse=True)
    rows: list[list[Cell]] = []
    for title, amounts in [("all", accounts.total), *((one.name, one.amounts) for one in jobs)]:
        cells = [Cell(title, title)]
        for name, pair in zip(accounts.resources, amounts, strict=True):
            off = off_by(pair)
            cells += [Cell(f"{hours(amount, name):,.4f}", hours(amount, name)) for amount in pair]
            cells.append(Cell("–", "") if off is None else Cell(f"{100 * off:+.2f}", 100 * off))
        rows.append(cells)
    unseen = (
        f"<p><small>Nobody saw the containers of {escape(accounts.unseen)}: in the ledger, what they held is "
        "free.</small></p>"
        if accounts.unseen
        else ""
    )
    return sortable_table("Against YARN's own accounts", heads, rows, "the record and YARN's own accounts") + unseen
