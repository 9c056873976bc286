"""The figures of a comparison on one cluster, each as a piece of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, Literal

import numpy as np

from heddle.analysis.comparison.compare import ComparedRun, Comparison, cluster_of
from heddle.analysis.measures.curves import Curves, ResourceLevels
from heddle.report.charts import (
    Axis,
    Bar,
    Line,
    bar_chart,
    change_axis,
    figure,
    line_chart,
    nice_top,
    stairs,
)
from heddle.report.wording import LEAD, METRIC, signed_pct, stalled, time_scale

_SHOWN: Final = 0.995  # the slowest jobs beyond this quantile would squeeze all others to the left
_LOG_FROM: Final = 100.0  # spread of completion times from which their axis is logarithmic


def slots(comparison: Comparison) -> dict[str, int]:
    """The number of each policy's colour: the baseline has the first, the others follow in their order."""
    others = [policy for policy in comparison.policies if policy != comparison.baseline]
    return {policy: slot for slot, policy in enumerate([comparison.baseline, *others])}


def change_figure(comparison: Comparison, cluster: str, metric: str) -> str:
    """How each policy changes a metric against the baseline, or that it stalled; empty where there is neither."""
    everyone = [comparison.row(cluster, policy, metric) for policy in comparison.policies]
    rows = [row for row in everyone if row["vs_baseline_pct"] is not None]
    rows.sort(key=lambda row: row["vs_baseline_pct"])
    slot = slots(comparison)
    bars: list[Bar] = []
    bounds: list[float] = []
    for row in rows:
        change, interval = row["vs_baseline_pct"], row["vs_ci95"]
        bars.append(Bar(row["policy"], slot[row["policy"]], change, interval, signed_pct(change)))
        bounds += [change, *(interval or ())]
    bars += [Bar(row["policy"], slot[row["policy"]], None, None, stalled(row)) for row in everyone if stalled(row)]
    if not bars:
        return ""
    title = f"{METRIC[metric].title} against {comparison.baseline}"
    spread = [row for row in rows if row["vs_ci95"]]
    bar = "the trace itself" if comparison.sampling.kind == "blocks" else "mean over seeds"
    caption = f"Bar: {bar}; line across its end: 95 % interval." if spread else "One seed: no interval." if rows else ""
    caption += " A policy that stalled in some run has no bar." if len(bars) > len(rows) else ""
    return figure(title, bar_chart(title, change_axis(bounds), bars), caption)


def distribution_figure(comparison: Comparison, cluster: str, what: Literal["completion", "wait"]) -> str:
    """The share of jobs that completed (started) within a time, for each policy with a band over the seeds."""
    slot = slots(comparison)
    found: list[tuple[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]] = []
    left_out = [policy for policy in comparison.policies if stalled(comparison.row(cluster, policy, LEAD))]
    for policy in comparison.policies:
        runs = [run for run in _on(comparison, cluster) if run.policy == policy and policy not in left_out]
        curves = [run.curves.completion_s if what == "completion" else run.curves.wait_s for run in runs]
        if filled := [curve for curve in curves if len(curve)]:
            found.append((policy, np.stack(filled)))
    if not found:
        return ""
    quantiles = comparison.runs[0].curves.quantiles
    shown = int(np.searchsorted(quantiles, _SHOWN))
    lowest = min(float(curves[:, 0].min()) for _, curves in found)
    highest = max(float(curves[:, shown].max()) for _, curves in found)
    log = what == "completion" and lowest > 0 and highest / lowest > _LOG_FROM
    divisor, unit = time_scale(highest)
    label = ("completion time" if what == "completion" else "wait") + f" ({unit}{', log scale' if log else ''})"
    x_axis = Axis(label, lowest / divisor if log else 0.0, highest / divisor or 1.0, log)
    lines = [
        Line(
            policy, slot[policy], curves.mean(axis=0) / divisor, 100 * quantiles,
            band_x=(curves.min(axis=0) / divisor, curves.max(axis=0) / divisor) if len(curves) > 1 else None,
        )
        for policy, curves in found
    ]  # fmt: skip
    title = "When jobs are done" if what == "completion" else "When the first task of a job runs"
    verb = "completed" if what == "completion" else "had a task or executor running"
    which = "the trace and its resamples" if comparison.sampling.kind == "blocks" else "seeds"
    several = any(len(curves) > 1 for _, curves in found)
    band = f"Line: mean over {which}; band: lowest to highest of them. " if several else ""
    caption = f"Share of finished jobs that {verb} within the time. {band}The slowest 0.5 % are beyond the right edge."
    caption += f" Omitted because runs stalled: {', '.join(left_out)}." if left_out else ""
    return figure(title, line_chart(title, x_axis, Axis("jobs (%)", 0.0, 100.0), lines), caption)


def shown_seed(comparison: Comparison, cluster: str) -> int:
    """The seed for figures over time: the first on which no policy stalled, else the first."""
    stalled = {run.seed for run in _on(comparison, cluster) if run.metrics["outcome"] == "stalled"}
    seeds = sorted({run.seed for run in _on(comparison, cluster)})
    return next((seed for seed in seeds if seed not in stalled), seeds[0])


def count_figure(comparison: Comparison, cluster: str, what: Literal["running", "pending"]) -> str:
    """Containers running or waiting over time, every policy, one seed."""
    seed = shown_seed(comparison, cluster)
    runs = [run for run in _on(comparison, cluster) if run.seed == seed]
    slot = slots(comparison)
    divisor, unit = time_scale(max(float(run.curves.edges_s[-1]) for run in runs))
    lines, top = [], 0.0
    for run in runs:
        level = run.curves.running if what == "running" else run.curves.pending
        lines.append(Line(run.policy, slot[run.policy], *stairs(run.curves.edges_s / divisor, level)))
        top = max(top, float(level.max()))
    title = "Containers running" if what == "running" else "Containers waiting"
    x_axis = _time_axis([run.curves for run in runs], divisor, unit)
    caption = f"Seed {seed}, means over {len(runs[0].curves.running)} time steps." + _incomplete(runs)
    return figure(title, line_chart(title, x_axis, Axis("containers", 0.0, nice_top(top)), lines), caption)


def level_figures(comparison: Comparison, cluster: str, policy: str) -> str:
    """Reserved and used over time, as a share of the hardware: one figure per resource, none if it did not run."""
    seed = shown_seed(comparison, cluster)
    everyone = [run for run in _on(comparison, cluster) if run.seed == seed]
    runs = [run for run in everyone if run.policy == policy]
    if not runs:
        return ""
    curves = runs[0].curves
    divisor, unit = time_scale(max(float(run.curves.edges_s[-1]) for run in everyone))
    x_axis = _time_axis([run.curves for run in everyone], divisor, unit)  # the same for all policies: comparable by eye
    found = []
    for name, level in curves.levels.items():
        if level.capacity == 0:
            continue
        top = max(_highest_pct(run.curves.levels[name]) for run in everyone)
        title = f"{name.capitalize()}: {policy}"
        y_axis = Axis("share of hardware (%)", 0.0, max(100.0, nice_top(top)))
        slot = slots(comparison)[policy]
        reserved = stairs(curves.edges_s / divisor, 100 * level.reserved / level.capacity)
        lines = [Line(f"{policy}: reserved", slot, *reserved)]
        caption = f"Solid: reserved. Seed {seed}. Use was not recorded."
        if level.used is not None:
            used = stairs(curves.edges_s / divisor, 100 * level.used / level.capacity)
            lines.append(Line(f"{policy}: used", slot, *used, dashed=True, down_to=np.zeros(len(used[0]))))
            caption = f"Solid: reserved; dashed, filled: used. Seed {seed}."
        chart = line_chart(title, x_axis, y_axis, lines, guide=100.0)
        found.append(figure(title, chart, caption + _incomplete(runs)))
    return "".join(found)


def queue_figures(comparison: Comparison, cluster: str, policies: Sequence[str]) -> str:
    """Memory reserved by each queue over time, one upon the other, one figure per policy."""
    seed = shown_seed(comparison, cluster)
    everyone = [run for run in _on(comparison, cluster) if run.seed == seed]
    divisor, unit = time_scale(max(float(run.curves.edges_s[-1]) for run in everyone))
    x_axis = _time_axis([run.curves for run in everyone], divisor, unit)
    found = []
    for run in everyone:
        capacity = run.curves.levels["memory"].capacity
        if run.policy not in policies or not capacity:
            continue
        lines, below = [], np.zeros(2 * len(run.curves.edges_s) - 2)
        for number, (queue, held) in enumerate(run.curves.queues.items()):
            x, own = stairs(run.curves.edges_s / divisor, 100 * held / capacity)
            lines.append(Line(queue, number, x, below + own, down_to=below, kind="q"))
            below = below + own
        title = f"Memory by queue: {run.policy}"
        y_axis = Axis("share of hardware (%)", 0.0, max(100.0, nice_top(float(below.max()))))
        chart = line_chart(title, x_axis, y_axis, lines[::-1], guide=100.0)
        names = "".join(f'<span class="q{q}"><i></i>{escape(name)}</span>' for q, name in enumerate(run.curves.queues))
        caption = f"Reserved memory, stacked by queue. Seed {seed}." + _incomplete([run])
        found.append(figure(title, f'<p class="key">{names}</p>{chart}', caption))
    return "".join(found)


def _on(comparison: Comparison, cluster: str) -> list[ComparedRun]:
    return [run for run in comparison.runs if cluster_of(run.metrics) == cluster]


def _time_axis(curves: Sequence[Curves], divisor: float, unit: str) -> Axis:
    return Axis(f"time since first submission ({unit})", 0.0, max(float(one.edges_s[-1]) for one in curves) / divisor)


def _highest_pct(level: ResourceLevels) -> float:
    highest = float(level.reserved.max())
    if level.used is not None:
        highest = max(highest, float(level.used.max()))
    return 100 * highest / level.capacity


def _incomplete(runs: Sequence[ComparedRun]) -> str:
    missing = any(not run.curves.complete for run in runs)
    return " Repeated attempts are not included: records keep only each task's last." if missing else ""
