"""The HTML report of a sweep: the best and how sure that is, lines over every axis, heat maps over every two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
import polars as pl
from rich.text import Text

from heddle.analysis.comparison.best import Best, Standing
from heddle.analysis.comparison.compare import ComparedMetric
from heddle.analysis.comparison.sweep_axes import (
    Drawn,
    HeatMap,
    axis_name,
    best_of,
    heat_maps,
    lines_over,
    numeric_axes,
    sampling_in,
    scenarios,
)
from heddle.report.charts import WIDTH, Axis, Line, figure, line_chart, nice_top, svg
from heddle.report.page import page
from heddle.report.style import N_COLOURS
from heddle.report.wording import NO_DIFFERENCE, Scale, range_pct, signed_pct

_FIGURES: Final = 40  # of each kind: more than anybody looks at
_ROWS: Final = 20


def sweep_html(name: str, table: pl.DataFrame, metric: ComparedMetric, command: str) -> str:
    """The text of the report."""
    values = table[metric.name.replace(".", "_")].drop_nulls().to_list()
    scale = Scale.of(metric, values)
    sections = []
    for where, rows in scenarios(table):
        best, caution = best_of(rows, metric), sampling_in(rows).caution
        sections.append(
            f'<section><h2>{escape(where)}</h2><p class="verdict">{escape(best.sentence())}</p>'
            f"{_standings(best, metric)}<p><small>{escape(caution)}</small></p></section>"
        )
    axes = numeric_axes(table)
    drawn = [one for axis in axes for one in lines_over(table, axis, metric)]
    maps = [one for pair in itertools.combinations(axes, 2) for one in heat_maps(table, *pair, metric)]
    labels = dict.fromkeys(label for one in drawn for label in sorted(one.lines))
    slots = {label: slot for slot, label in enumerate(labels)}  # a policy has the same colour everywhere
    figures = "".join(_lines_figure(one, metric, scale, slots) for one in drawn[:_FIGURES])
    heat = "".join(_map_figure(one, metric, scale) for one in maps[:_FIGURES])
    left = len(drawn[_FIGURES:]) + len(maps[_FIGURES:])
    body = (
        "".join(sections)
        + (f'<h2>Over each axis</h2><div class="figures">{figures}</div>' if figures else "")
        + (f'<h2>Over two axes</h2><div class="figures">{heat}</div>' if heat else "")
        + (f"<p><small>{left} more figures are left out.</small></p>" if left else "")
        + f"<h2>How to reproduce this</h2><pre>{escape(command)}</pre>"
    )
    runs = f"{table.height} runs, {table['policy'].n_unique()} policies, {table['seed'].n_unique()} seeds"
    return page(f"Sweep {name}", f'<p class="quiet">{runs}; {escape(metric.title.lower())}.</p>{body}', N_COLOURS)


def standings_scale(best: Best, metric: ComparedMetric) -> Scale:
    """As in a comparison of the same runs: what the means of one scenario call for, not a single slow run."""
    return Scale.of(metric, [one.mean for one in best.standings])


def _standings(best: Best, metric: ComparedMetric) -> str:
    rows = []
    scale = standings_scale(best, metric)
    for one in best.standings[:_ROWS]:
        behind, says = _behind(one, best)
        name = escape(one.name, quote=True)
        rows.append(
            f'<tr><th scope="row" data-v="{name}">{name}</th>'
            f'<td data-v="{one.mean!r}">{escape(scale.write(one.mean))} '
            f"<span>{escape(scale.half_width(one.interval))}</span></td>"
            f'<td data-v="{"" if one.behind_pct is None else repr(one.behind_pct)}">{escape(behind or "best")}'
            f'<small class="{"worse" if says == "worse" else ""}">{says}</small></td></tr>'
        )
    for left in best.left_out[:_ROWS]:
        name = escape(left.name, quote=True)
        says = f'<small class="{"worse" if left.stalled else ""}">{escape(left.why)}</small>'
        rows.append(
            f'<tr><th scope="row" data-v="{name}">{name}</th><td data-v="">–</td><td data-v="">{says}</td></tr>'
        )
    more = sum(max(0, len(some) - _ROWS) for some in (best.standings, best.left_out))
    notes = [f"{more} more are omitted."] if more > 0 else []
    heads = ("Policy", metric.title, "Against the best")
    head = "".join(f'<th scope="col"><button>{escape(text)}</button></th>' for text in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="policies"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div><p><small>± half of the 95 % interval. Intervals against the "
        f"best are corrected for having looked at {best.pairs} pairs. {escape(' '.join(notes))}</small></p>"
    )


def _lines_figure(one: Drawn, metric: ComparedMetric, scale: Scale, slots: dict[str, int]) -> str:
    places = sorted({point.x for points in one.lines.values() for point in points if not math.isnan(point.x)})
    bands, lines, key, top = [], [], [], 0.0
    for label, points in sorted(one.lines.items(), key=lambda item: slots[item[0]]):
        along = [point for point in points if not math.isnan(point.x)] or list(points) * 2
        x = np.array([point.x for point in along] if len(points) > 1 else [places[0], places[-1]], np.float64)
        if len(x) != len(along):
            along = [points[0]] * len(x)
        y = np.array([point.mean for point in along]) / scale.divisor
        spread = [point.interval or (point.mean, point.mean) for point in along]
        low, high = (np.array([bound[side] for bound in spread]) / scale.divisor for side in (0, 1))
        colour, dashed = slots[label] % N_COLOURS, slots[label] >= N_COLOURS
        bands.append(Line(f"{label}: interval", colour, x, high, down_to=np.maximum(0.0, low), kind="p", edge=False))
        lines.append(Line(label, colour, x, y, dashed=dashed, kind="p"))
        key.append(f'<span class="p{colour}"><i></i>{escape(label)}</span>')
        top = max(top, float(high.max()))
    unit = f" ({scale.unit})" if scale.unit else " (1)"
    y_axis = Axis(metric.title.lower() + unit, 0.0, nice_top(top))
    x_axis = Axis(f"{axis_name(one.axis)} ({'times' if one.axis == 'load' else 'value'})", places[0], places[-1])
    title = f"{metric.title} over {axis_name(one.axis)}" + (f", {one.fixed}" if one.fixed else "")
    caption = (
        "Line: mean over seeds, or the recorded trace itself; band: its 95 % interval. No point where a run stalled."
    )
    return figure(
        title, f'<p class="key">{"".join(key)}</p>{line_chart(title, x_axis, y_axis, bands + lines)}', caption
    )


def _map_figure(one: HeatMap, metric: ComparedMetric, scale: Scale) -> str:
    across, down = sorted({x for x, _ in one.cells}), sorted({y for _, y in one.cells}, reverse=True)
    values = list(one.cells.values())
    low, span = min(values), (max(values) - min(values)) or 1.0
    left, top, height = 60, 24, 26
    width = (WIDTH - left - 6) / len(across)
    parts = [f'<text class="label" x="4" y="14">{escape(axis_name(one.down))} (value)</text>']
    for row, y in enumerate(down):
        middle = top + row * height + height / 2
        parts.append(f'<text x="{left - 6}" y="{middle}" dy=".35em" text-anchor="end">{y:g}</text>')
        for column, x in enumerate(across):
            if (x, y) not in one.cells:
                continue
            value = one.cells[x, y]
            good = (value - low) / span if metric.better != "higher" else (low + span - value) / span
            at = left + column * width
            shade = f"{0.06 + 0.34 * good:.2f}"
            parts.append(
                f'<rect class="heat" opacity="{shade}" x="{at:.1f}" y="{top + row * height}" width="{width - 1:.1f}" '
                f'height="{height - 1}"/><text class="cell" x="{at + width / 2:.1f}" y="{middle}" dy=".35em" '
                f'text-anchor="middle">{escape(scale.write_bare(value))}</text>'
            )
    floor = top + height * len(down)
    for column, x in enumerate(across):
        parts.append(
            f'<text x="{left + (column + 0.5) * width:.1f}" y="{floor + 16}" text-anchor="middle">{x:g}</text>'
        )
    parts.append(
        f'<text class="label" x="{WIDTH - 6}" y="{floor + 34}" text-anchor="end">{escape(axis_name(one.across))} '
        "(value)</text>"
    )
    unit = f" ({scale.unit})" if scale.unit else ""
    title = f"{metric.title}{unit}: {axis_name(one.down)} and {axis_name(one.across)}"
    caption = "Stronger colour is worse; cells where a run stalled are empty." + (f" {one.fixed}." if one.fixed else "")
    return figure(title, svg(title, floor + 40, parts), caption)


def standing_cells(best: Best, scale: Scale, count: int) -> list[Sequence[str | Text]]:
    """The same standings as rows of a terminal table, whose heading has the unit."""
    rows: list[Sequence[str | Text]] = []
    for one in best.standings[:count]:
        behind, says = _behind(one, best)
        mean = f"{scale.write_bare(one.mean)} {scale.half_width(one.interval)}".rstrip()
        rows.append((one.name, mean, behind, says or "best"))
    return rows


def _behind(one: Standing, best: Best) -> tuple[str, str]:
    """How far behind the best, and the verdict; both empty for the best itself."""
    if one is best.best:
        return "", ""
    if one.behind_pct is None:
        return "not known", NO_DIFFERENCE
    spread = f" ({range_pct(one.behind)})" if one.behind is not None else ""
    return signed_pct(one.behind_pct) + spread, "worse" if one.beaten else NO_DIFFERENCE
