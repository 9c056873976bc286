"""Small charts as inline SVG: lines with bands, and bars with intervals. Colours come from the page's style.

Everything is drawn 400 units wide, so that text stays readable on a phone and figures can stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

WIDTH: Final = 400
_HEIGHT: Final = 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 26, 40
_ROW: Final = 36  # of a bar with its label above it
LABEL_CHARACTERS: Final = 44
_HALF_CHARACTER: Final = 3.4
_NEAR: Final = 0.4  # points closer than this to the last drawn one cannot be seen


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows with its unit, and its range."""

    label: str
    low: float
    high: float
    log: bool = False

    def place(self, values: Floats) -> Floats:
        """Where values lie between low (0) and high (1); what is outside is drawn at the edge."""
        clipped = np.clip(values, self.low, self.high)
        if self.log:
            return np.log(clipped / self.low) / math.log(self.high / self.low)
        return (clipped - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            factors = (1, 2, 5) if len(powers) < 3 else (1,)
            ticks = [factor * 10.0**power for power in range(powers.start - 1, powers.stop) for factor in factors]
            return [tick for tick in ticks if self.low <= tick <= self.high]
        step = nice_step((self.high - self.low) / 5)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [step * k for k in range(first, last + 1)]


@dataclass(frozen=True)
class Line:
    """A line of a chart. `slot` is the number of its colour, the same in every chart of the page."""

    label: str
    slot: int
    x: Floats
    y: Floats
    band_x: tuple[Floats, Floats] | None = None  # lowest and highest x for each y, filled
    dashed: bool = False
    down_to: Floats | None = None  # filled from y down to this
    edge: bool = True  # draw the line itself, not only what is filled
    kind: Literal["s", "q", "p"] = "s"  # what the slot counts: policies that can be hidden, queues, or just lines


@dataclass(frozen=True)
class Bar:
    """A bar of a chart, with the interval of its value."""

    label: str
    slot: int
    value: float | None  # None: there is none, the note says why
    interval: tuple[float, float] | None
    note: str  # written at the end of the label


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, ... (and their fractions) that is not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def nice_top(highest: float) -> float:
    """A round end for an axis that starts at 0 and must show `highest`."""
    if highest <= 0:
        return 1.0
    step = nice_step(highest / 5)
    return step * math.ceil(highest / step - 1e-9)


def change_axis(values: Iterable[float]) -> Axis:
    """From round to round, around 0 and all of these changes in percent."""
    known = [0.0, *values]
    low, high = min(known), max(known)
    step = nice_step((high - low) / 4 or 1.0)
    return Axis("change (%)", float(np.floor(low / step) * step), float(np.ceil(high / step) * step or step))


def stairs(edges: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """The points of a line that keeps each level from edge to edge."""
    return np.repeat(edges, 2)[1:-1], np.repeat(levels, 2)


def line_chart(title: str, x: Axis, y: Axis, lines: Sequence[Line], guide: float | None = None) -> str:
    """Lines over two axes; `guide` draws a thin level across (a capacity)."""
    inner_width, inner_height = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def across(values: Floats) -> Floats:
        return _LEFT + x.place(values) * inner_width

    def down(values: Floats) -> Floats:
        return _TOP + (1.0 - y.place(values)) * inner_height

    floor = _TOP + inner_height
    parts = []
    for tick in y.ticks():
        at = coordinate(down(np.array([tick]))[0])
        parts.append(f'<path class="grid" d="M{_LEFT} {at}H{WIDTH - _RIGHT}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 6}" y="{at}" dy=".35em" text-anchor="end">{tick_text(tick)}</text>'
        )
    for tick in x.ticks():
        place, text = float(across(np.array([tick]))[0]), tick_text(tick)
        middle = min(place, WIDTH - _HALF_CHARACTER * len(text))  # nothing is cut off at the right
        parts.append(f'<path class="axis" d="M{coordinate(place)} {floor}v4"/>')
        parts.append(f'<text class="tick" x="{coordinate(middle)}" y="{floor + 17}" text-anchor="middle">{text}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {floor}H{WIDTH - _RIGHT}"/>')
    parts.append(f'<text class="label" x="4" y="14">{escape(y.label)}</text>')
    parts.append(
        f'<text class="label" x="{WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">{escape(x.label)}</text>'
    )
    if guide is not None:
        parts.append(f'<path class="guide" d="M{_LEFT} {coordinate(down(np.array([guide]))[0])}H{WIDTH - _RIGHT}"/>')
    for line in lines:
        marks = []
        if line.band_x is not None:
            low, high = line.band_x
            outline_x, outline_y = np.concatenate([low, high[::-1]]), np.concatenate([line.y, line.y[::-1]])
            marks.append(f'<path class="band" d="{_path(across(outline_x), down(outline_y))}Z"/>')
        px, py = across(line.x), down(line.y)
        if line.down_to is not None:
            closed_x, closed_y = np.concatenate([px, px[::-1]]), np.concatenate([py, down(line.down_to)[::-1]])
            marks.append(f'<path class="band" d="{_path(closed_x, closed_y)}Z"/>')
        if line.edge:
            marks.append(f'<path class="line{" dashed" if line.dashed else ""}" d="{_path(px, py)}"/>')
        parts.append(
            f'<g class="{line.kind} {line.kind}{line.slot}"><title>{escape(line.label)}</title>{"".join(marks)}</g>'
        )
    return svg(title, _HEIGHT, parts)


def bar_chart(title: str, axis: Axis, bars: Sequence[Bar]) -> str:
    """Horizontal bars from 0, each with its label above it and the interval of its value."""
    left, right, floor = 20, 20, _ROW * len(bars) + 6  # half a tick's text fits beside the axis
    inner_width = WIDTH - left - right

    def across(value: float) -> float:
        return left + float(axis.place(np.array([value]))[0]) * inner_width

    parts = []
    for tick in axis.ticks():
        at = coordinate(across(tick))
        parts.append(f'<path class="{"axis" if abs(tick) < 1e-9 else "grid"}" d="M{at} 2V{floor}"/>')
        parts.append(f'<text class="tick" x="{at}" y="{floor + 16}" text-anchor="middle">{tick_text(tick)}</text>')
    for row, bar in enumerate(bars):
        top = _ROW * row + 4
        label = shortened(bar.label)
        marks = [
            f'<text class="name" x="{left}" y="{top + 12}">{escape(label)} '
            f'<tspan class="note{" none" if bar.value is None else ""}">{escape(bar.note)}</tspan></text>'
        ]
        if bar.value is not None:
            begin, end = sorted((across(0.0), across(bar.value)))
            marks.append(
                f'<rect class="bar" x="{coordinate(begin)}" y="{top + 17}" '
                f'width="{coordinate(max(0.8, end - begin))}" height="12"/>'
            )
        if bar.interval is not None:
            low, high = (coordinate(across(bound)) for bound in bar.interval)
            middle = top + 23
            marks.append(
                f'<path class="whisker" d="M{low} {middle - 5}v10M{low} {middle}H{high}M{high} {middle - 5}v10"/>'
            )
        parts.append(
            f'<g class="s{bar.slot}"><title>{escape(bar.label)}: {escape(bar.note)}</title>{"".join(marks)}</g>'
        )
    parts.append(
        f'<text class="label" x="{WIDTH - right}" y="{floor + 34}" text-anchor="end">{escape(axis.label)}</text>'
    )
    return svg(title, floor + 40, parts)


def figure(title: str, content: str, caption: str) -> str:
    """A chart with what stands above and below it."""
    return f"<figure><h3>{escape(title)}</h3>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def shortened(label: str, characters: int = LABEL_CHARACTERS) -> str:
    """Cut in the middle: names of nodes and jobs often differ at their end."""
    if len(label) <= characters:
        return label
    head = characters // 2
    return f"{label[:head]}…{label[head + 1 - characters :]}"


def svg(title: str, height: int, parts: Iterable[str]) -> str:
    name = escape(title, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def coordinate(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def tick_text(value: float) -> str:
    rounded = round(value, 10)
    text = f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:g}"
    return text.replace("-", "−")


def _path(x: Floats, y: Floats) -> str:
    """The points as a path, leaving out those that no eye can tell from their predecessor."""
    drawn: list[str] = []
    last_x = last_y = math.inf
    for i, (px, py) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        if abs(px - last_x) < _NEAR and abs(py - last_y) < _NEAR and i < len(x) - 1:
            continue
        drawn.append(f"{coordinate(px)} {coordinate(py)}")
        last_x, last_y = px, py
    return "M" + "L".join(drawn) if drawn else ""
