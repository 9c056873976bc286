"""The figures of a reproduction: curves with intervals beside the paper's points, and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from heddle.report.charts import Axis, Bar, Line, bar_chart, line_chart, nice_step, nice_top
from heddle.report.style import N_COLOURS
from heddle.reproduce.claims import Drawing
from heddle.reproduce.verdicts import Interval, Seeds, over_seeds

FEWEST_SEEDS: Final = 3  # for a band: Student's t of two values is 12.7, which hides the line


@dataclass(frozen=True)
class Curve:
    """A line of a figure, with an interval at each point where there is one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[Interval | None] = ()
    dashed: bool = False
    colour: int | None = None  # that of another curve: its theory, its forecast; None: its own

    @classmethod
    def of_seeds(cls, label: str, points: Mapping[float, Seeds], colour: int | None = None) -> Curve:
        """Means over seeds with their intervals, where there are seeds enough to draw one."""
        drawn = {x: seeds for x, seeds in sorted(points.items()) if seeds}
        means = [over_seeds({"": seeds}) for seeds in drawn.values()]
        intervals = [
            ci if len(seeds) >= FEWEST_SEEDS else None for (_, ci), seeds in zip(means, drawn.values(), strict=True)
        ]
        return cls(label, list(drawn), [mean or 0.0 for mean, _ in means], intervals, colour=colour)


def draw_curves(
    title: str,
    x_label: str,
    y_label: str,
    curves: Sequence[Curve],
    caption: str,
    *,
    marks: Sequence[tuple[str, float]] = (),
    log_x: bool = False,
) -> Drawing:
    """Lines with bands; a mark is a vertical line at the paper's point."""
    xs = [x for curve in curves for x in curve.x] + [at for _, at in marks]
    ends = [bound for curve in curves for interval in curve.intervals if interval for bound in interval]
    y_axis = _y_axis(y_label, [*(y for curve in curves for y in curve.y), *ends])
    x_axis = Axis(x_label, min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1, log_x)
    bands, lines, key = [], [], []
    for number, curve in enumerate(curves):
        slot = (number if curve.colour is None else curve.colour) % N_COLOURS
        x, y = np.array(curve.x, np.float64), np.array(curve.y, np.float64)
        if any(curve.intervals):
            spread = [interval or (mean, mean) for interval, mean in zip(curve.intervals, curve.y, strict=True)]
            low, high = (np.array([bounds[side] for bounds in spread]) for side in (0, 1))
            bands.append(Line(f"{curve.label}: interval", slot, x, high, down_to=low, kind="p", edge=False))
        lines.append(Line(curve.label, slot, x, y, dashed=curve.dashed, kind="p"))
        key.append((slot, curve.label))
    for number, (label, at) in enumerate(marks):
        slot = (len(curves) + number) % N_COLOURS
        edge = np.array([y_axis.low, y_axis.high])
        lines.append(Line(label, slot, np.array([at, at]), edge, dashed=True, kind="p"))
        key.append((slot, label))
    return Drawing(title, line_chart(title, x_axis, y_axis, bands + lines), caption, tuple(key))


def draw_bars(title: str, label: str, values: Mapping[str, Seeds], caption: str) -> Drawing:
    """A bar for each name, with the interval of its mean."""
    bars, ends = [], [0.0]
    for number, (name, seeds) in enumerate(values.items()):
        mean, interval = over_seeds({"": seeds})
        if mean is None:
            continue
        bars.append(Bar(name, number % N_COLOURS, mean, interval, f"{mean:.1f}"))
        ends += [mean, *(interval or ())]
    axis = _y_axis(label, ends)
    return Drawing(title, bar_chart(title, axis, bars), caption)


def _y_axis(label: str, values: Sequence[float]) -> Axis:
    low, high = min(0.0, *values), max(0.0, *values)
    if low < 0:
        step = nice_step((high - low) / 5)
        return Axis(label, float(np.floor(low / step) * step), float(np.ceil(high / step) * step))
    return Axis(label, 0.0, nice_top(high))
