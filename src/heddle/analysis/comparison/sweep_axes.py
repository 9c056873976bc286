"""A sweep's table as scenarios to compare candidates in, and as axes to draw results over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from heddle.analysis.certainty.sampling import Interval, Sampling
from heddle.analysis.comparison.best import STALLED, Best, Outcomes, find_best
from heddle.analysis.comparison.compare import ComparedMetric

PARAMETER: Final = "param_"
_SCENARIO: Final = ("workload", "load", "cluster", "executor")


@dataclass(frozen=True)
class Point:
    """What one candidate reached at one place of an axis."""

    x: float
    mean: float
    interval: Interval | None


@dataclass(frozen=True)
class Drawn:
    """Lines over one axis, everything else but the policy being fixed."""

    axis: str  # column
    fixed: str  # the rest, in words
    lines: dict[str, tuple[Point, ...]]  # a candidate that does not depend on the axis has one point with x = nan


@dataclass(frozen=True)
class HeatMap:
    """The mean over two axes, everything else being fixed."""

    across: str
    down: str
    fixed: str
    cells: dict[tuple[float, float], float]


def column_of(metric: ComparedMetric) -> str:
    return metric.name.replace(".", "_")


def axis_name(column: str) -> str:
    return column.removeprefix(PARAMETER)


def scenarios(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows that can be compared with each other, with the name of where they ran."""
    for key, rows in table.sort(*_SCENARIO, "seed").group_by(*_SCENARIO, maintain_order=True):
        workload, load, cluster, executor = key
        name = str(workload) + (f" at load {load:g}" if table["load"].n_unique() > 1 else "")
        name += f" on {cluster}" if table["cluster"].n_unique() > 1 else ""
        yield name + (f" by {executor}" if table["executor"].n_unique() > 1 else ""), rows


def best_of(rows: pl.DataFrame, metric: ComparedMetric) -> Best:
    """The best policy of one scenario."""
    better = metric.better or "lower"
    found: dict[str, Outcomes] = {
        str(policy): {
            seed: STALLED if outcome == STALLED else value
            for seed, value, outcome in some.select("seed", column_of(metric), "outcome").iter_rows()
        }
        for (policy,), some in rows.group_by("policy", maintain_order=True)
    }
    return find_best(found, better, sampling_in(rows))


def sampling_in(rows: pl.DataFrame) -> Sampling:
    """How the runs of one scenario differ, as it was kept with each of them."""
    kind, blocks, block_s, too_short = rows.select("sampling", "blocks", "block_s", "too_short").row(0)
    return Sampling(kind, blocks, block_s, too_short)


def numeric_axes(table: pl.DataFrame) -> list[str]:
    """The columns along which something was varied by number."""
    columns = ["load", *(name for name in table.columns if name.startswith(PARAMETER))]
    return [name for name in columns if table[name].dtype == pl.Float64 and table[name].drop_nulls().n_unique() > 1]


def lines_over(table: pl.DataFrame, axis: str, metric: ComparedMetric) -> Iterator[Drawn]:
    """One drawing for each setting of everything that is neither the axis nor the policy's."""
    own = [name for name in table.columns if name.startswith(PARAMETER) and name != axis]
    in_workload = [name for name in own if _in_template(table, "workload_template", name)]
    in_policy = [name for name in own if name not in in_workload]
    fixed = [name for name in ("workload_template", "cluster", "executor", "load", *in_workload) if name != axis]
    for key, rows in table.sort(*fixed, "policy", "seed").group_by(fixed, maintain_order=True):
        lines = {}
        for label, some in rows.group_by("policy_template", *in_policy, maintain_order=True):
            points = tuple(_points(some, axis, metric))
            if points:
                lines[_filled(str(label[0]), dict(zip(in_policy, label[1:], strict=True)))] = points
        if any(len(points) > 1 for points in lines.values()):
            yield Drawn(axis, _in_words(table, dict(zip(fixed, key, strict=True))), lines)


def heat_maps(table: pl.DataFrame, across: str, down: str, metric: ComparedMetric) -> Iterator[HeatMap]:
    """One map for each setting of everything else, where both axes matter."""
    others = [name for name in table.columns if name.startswith(PARAMETER) and name not in (across, down)]
    fixed = ["policy_template", "workload_template", "cluster", "executor", *others]
    fixed += ["load"] if "load" not in (across, down) else []
    known = table.filter(pl.col(across).is_not_null() & pl.col(down).is_not_null())
    for key, rows in known.sort(*fixed, "seed").group_by(fixed, maintain_order=True):
        cells = {}
        for (x, y), some in rows.group_by(across, down):
            points = list(_points(some, across, metric))
            if points:
                cells[float(x), float(y)] = points[0].mean
        if len({x for x, _ in cells}) > 1 and len({y for _, y in cells}) > 1:
            yield HeatMap(across, down, _in_words(table, dict(zip(fixed, key, strict=True))), cells)


def _points(rows: pl.DataFrame, axis: str, metric: ComparedMetric) -> Iterator[Point]:
    """Where every run ended; where one stalled, a mean of the others would flatter."""
    for (x,), some in rows.sort(axis).group_by(axis, maintain_order=True):
        known = some.filter(pl.col(column_of(metric)).is_not_null())
        values = {} if STALLED in some["outcome"] else dict(known.select("seed", column_of(metric)).iter_rows())
        mean, interval = sampling_in(some).estimate(values)
        if mean is not None:
            yield Point(float("nan") if x is None else float(x), mean, interval)


def _in_template(table: pl.DataFrame, column: str, parameter: str) -> bool:
    return any(f"{{{axis_name(parameter)}}}" in text for text in table[column].unique())


def _filled(template: str, values: dict[str, object]) -> str:
    """The policy with the values of its other parameters; the axis stays a word in braces."""
    text = template
    for name, value in values.items():
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        text = text.replace(f"{{{axis_name(name)}}}", shown)
    return text


def _in_words(table: pl.DataFrame, fixed: dict[str, object]) -> str:
    """What differs between drawings of the same kind; empty if they all share it."""
    words = []
    for name, value in fixed.items():
        if value is None or table[name].n_unique() == 1:
            continue
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        words.append(
            shown if name.endswith("template") or name in ("cluster", "executor") else f"{axis_name(name)} {shown}"
        )
    return ", ".join(words)
