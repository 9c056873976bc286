"""Fig. 1 to 3 of paper 1: how little of what is reserved is used, and the use of the cluster over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.comparison.compare import ComparedRun
from heddle.model.resources import MILLI
from heddle.report.charts import stairs
from heddle.reproduce.claims import Drawing
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.usage_feedback.day import Day


def efficiency_figure(day: Day, seed: int) -> list[Drawing]:
    """Fig. 1: what part of containers, jobs and users uses less than a part of its reservation."""
    columns = day.columns(seed)
    duration, reserved_mb = columns["duration_ms"], columns["reserved_mb"]
    amounts = {
        "memory": (reserved_mb * duration * columns["share"], reserved_mb * duration),
        "CPU": (columns["vcores_milli"] * duration, MILLI * duration),
    }
    drawings = []
    for resource, (used, reserved) in amounts.items():
        curves = [Curve("containers", *_distribution(used / reserved))]
        for label, group in (("jobs", columns["job"]), ("users", columns["user"])):
            total = np.bincount(group, reserved)
            curves.append(Curve(label, *_distribution(np.bincount(group, used)[total > 0] / total[total > 0])))
        drawings.append(
            draw_curves(
                f"Fig. 1: efficiency of {resource}", "used of reserved (%)", "below that (%)", curves,
                "The stand-in for the authors' day, one seed: the share of containers, jobs and users that use less.",
            )
        )  # fmt: skip
    return drawings


def _distribution(values: npt.NDArray[Any]) -> tuple[list[float], list[float]]:
    shares = np.linspace(0.0, 1.0, 101)
    return (100 * np.quantile(values, shares)).tolist(), (100 * shares).tolist()


def use_over_time(figure: str, policy: str, run: ComparedRun, caption: str) -> list[Drawing]:
    """Reserved and used over time, one figure for each resource."""
    drawings = []
    for resource, level in run.curves.levels.items():
        hours = run.curves.edges_s / 3600
        curves = []
        for label, values in (("reserved", level.reserved), ("used", level.used)):
            if values is not None:
                x, y = stairs(hours, 100 * values / level.capacity)
                curves.append(Curve(f"{resource} {label}", x.tolist(), y.tolist()))
        title = f"{figure}: {resource} under {policy}"
        text = f"Share of the hardware over time. {caption}"
        drawings.append(draw_curves(title, "time (h)", "share of capacity (%)", curves, text))
    return drawings
