"""Where the capacity of a recorded run went: the ledger over time as stacked bars, and nodes over time as heat maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

import numpy as np

from heddle.analysis.waste.ledger import LINES, LedgerOverTime
from heddle.analysis.waste.node_map import NodeMap
from heddle.model.resources import display_name
from heddle.report.charts import (
    WIDTH,
    Axis,
    Floats,
    Line,
    coordinate,
    figure,
    line_chart,
    shortened,
    stairs,
    svg,
    tick_text,
)
from heddle.report.style import N_SHADES
from heddle.report.wording import time_scale

_COLOURED: Final = 7  # lines with a colour of their own; the smaller ones are drawn as one
_OTHERS: Final = "everything else"
_CELL_HEIGHT, _TALL_ENOUGH = 9, 180  # few nodes get higher rows
_LEFT, _RIGHT = 84, 12


def ledger_figures(runs: Mapping[str, LedgerOverTime]) -> str:
    """One figure per run and resource, with one colour for one thing in all of them. Keys: what ends the titles."""
    shown = _coloured(runs.values())
    return "".join(
        _ledger_figure(over_time, resource, of, shown)
        for of, over_time in runs.items()
        for resource in over_time.shares
    )


def _coloured(runs: Iterable[LedgerOverTime]) -> list[str]:
    """The lines that have a colour of their own, used first: those that are largest somewhere."""
    most: dict[str, float] = {}
    for over_time in runs:
        for shares in over_time.shares.values():
            for name, share in shares.items():
                most[name] = max(most.get(name, 0.0), float(share.mean()))
    largest = sorted((name for name in most if most[name] > 0), key=lambda name: -most[name])
    kept = largest if len(largest) <= _COLOURED + 1 else largest[:_COLOURED]
    return sorted(kept, key=lambda name: (name != "used", list(LINES).index(name)))


def _ledger_figure(over_time: LedgerOverTime, resource: str, of: str, shown: list[str]) -> str:
    divisor, unit = time_scale(float(over_time.edges_s[-1]))
    x_axis = Axis(f"time since first submission ({unit})", 0.0, float(over_time.edges_s[-1]) / divisor)
    shares = over_time.shares[resource]
    layers = [(LINES[name], slot, shares[name]) for slot, name in enumerate(shown) if shares[name].any()]
    if rest := [share for name, share in shares.items() if name not in shown and share.any()]:
        layers.append((_OTHERS, _COLOURED, np.sum(rest, axis=0)))
    drawn, key, below = [], [], np.zeros(2 * len(over_time.edges_s) - 2)
    for name, slot, share in layers:
        x, own = stairs(over_time.edges_s / divisor, 100 * share)
        drawn.append(Line(name, slot, x, below + own, down_to=below, kind="q"))
        key.append(f'<span class="q{slot}"><i></i>{escape(name)} {100 * share.mean():.1f} %</span>')
        below = below + own
    title = f"{display_name(resource).capitalize()}: where it went{of}"
    chart = line_chart(title, x_axis, Axis("share of hardware (%)", 0.0, 100.0), drawn[::-1])
    caption = f"Stacked from the bottom in the order of the legend; means of {len(over_time.edges_s) - 1} time steps."
    return figure(title, f'<p class="key">{"".join(key)}</p>{chart}', caption)


def node_figures(nodes: NodeMap) -> str:
    """For each resource what was reserved and, where it is known, what was used, with one scale of colours."""
    found = []
    for resource, reserved in nodes.reserved.items():
        used = None if nodes.used is None else nodes.used[resource]
        top = max(1.0, float(reserved.max(initial=0.0)), 0.0 if used is None else float(used.max(initial=0.0)))
        name = display_name(resource).capitalize()
        steps = "".join(f'<i class="h{shade}"></i>' for shade in range(N_SHADES))
        key = f'<p class="key ramp"><span>0</span><span>{steps}</span><span>{100 * top:.0f} % of hardware</span></p>'
        for what, grid in (("reserved", reserved), ("used", used)):
            if grid is None:
                continue
            title = f"{name} {what}, node by node"
            row = "A row is several nodes" if "…" in nodes.labels[0] else "A row is a node"
            said = f"{row}; the stronger the colour, the more was {what}."
            found.append(figure(title, key + _heat_map(title, nodes, grid / top), said))
    return "".join(found)


def _heat_map(title: str, nodes: NodeMap, grid: Floats) -> str:
    """One path per shade: a map of thousands of cells stays small. Neighbours of one shade are one piece."""
    n_rows, n_bins = grid.shape
    height = max(_CELL_HEIGHT, min(24, _TALL_ENOUGH // n_rows))
    top, width = 22, (WIDTH - _LEFT - _RIGHT) / n_bins
    shade = np.clip(np.ceil(grid * N_SHADES - 1e-9).astype(int), 0, N_SHADES) - 1  # -1: nothing, not drawn
    paths: list[list[str]] = [[] for _ in range(N_SHADES)]
    for row in range(n_rows):
        starts = np.flatnonzero(np.diff(shade[row], prepend=-2))
        for first, last in zip(starts, np.append(starts[1:], n_bins), strict=True):
            if (colour := shade[row, first]) >= 0:
                long = coordinate((last - first) * width)
                at = f"{coordinate(_LEFT + first * width)} {top + row * height}"
                paths[colour].append(f"M{at}h{long}v{height}h-{long}z")
    parts = [f'<path class="h{colour}" d="{"".join(pieces)}"/>' for colour, pieces in enumerate(paths) if pieces]
    floor = top + height * n_rows
    each = -(-12 // height)  # rows from one name to the next
    parts += [
        f'<text class="tick" x="{_LEFT - 5}" y="{top + row * height + min(height, 12) / 2:g}" dy=".35em" '
        f'text-anchor="end">{escape(shortened(nodes.labels[row], 12))}</text>'
        for row in range(0, n_rows, each)
    ]
    divisor, unit = time_scale(float(nodes.edges_s[-1]))
    axis = Axis(f"time since first submission ({unit})", 0.0, float(nodes.edges_s[-1]) / divisor)
    for tick in axis.ticks():
        at = coordinate(_LEFT + float(axis.place(np.array([tick]))[0]) * (WIDTH - _LEFT - _RIGHT))
        parts.append(f'<path class="axis" d="M{at} {floor}v4"/>')
        parts.append(f'<text class="tick" x="{at}" y="{floor + 17}" text-anchor="middle">{tick_text(tick)}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {floor}H{WIDTH - _RIGHT}M{_LEFT} {floor}V{top}"/>')
    parts.append('<text class="label" x="4" y="14">node (name)</text>')
    label = f'<text class="label" x="{WIDTH - _RIGHT}" y="{floor + 34}" text-anchor="end">{escape(axis.label)}</text>'
    return svg(title, floor + 40, [*parts, label])
