"""Use where a trace recorded none: a model that the user chooses, never one that is assumed in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from heddle.model.errors import BadInput
from heddle.model.workload import INNER, NO_SEGMENTS, PERMYRIAD, TASKS, Workload, segment_dtype

FORMS: Final = "none, reserved, fraction=0.4 or spread=0.2..0.8"
_SPREAD: Final = re.compile(r"([\d.]+)\.\.([\d.]+)")
_SHARES: Final = 1 << 10  # distinct shares of a spread: enough, and tasks of one shape can share their segments


@dataclass(frozen=True)
class UsageModel:
    """Each task without recorded use uses a share of its reservation, drawn once, between low and high."""

    text: str
    low: float
    high: float

    def applied(self, workload: Workload) -> Workload:
        """The workload with a level of use for every working task that had none; says so in `about`."""
        kinds = np.repeat(workload.stages["kind"], workload.stages["n_tasks"])
        missing = np.flatnonzero((workload.tasks["first_segment"] == NO_SEGMENTS) & np.isin(kinds, (TASKS, INNER)))
        if not len(missing):
            return workload
        shape = np.repeat(workload.stages["shape"], workload.stages["n_tasks"])[missing]
        step = np.random.default_rng(0).integers(0, _SHARES, len(missing))  # the same trace, the same draws
        key, inverse = np.unique(shape.astype(np.int64) * _SHARES + step, return_inverse=True)
        share = self.low + (self.high - self.low) * (key % _SHARES) / (_SHARES - 1)
        levels = np.zeros(len(key), segment_dtype(len(workload.resources)))
        levels["use"] = np.ceil(np.round(workload.shapes[key // _SHARES] * share[:, None], 6)).astype(np.int64)
        levels["until_permyriad"] = PERMYRIAD
        levels["last"] = 1
        tasks = workload.tasks.copy()
        tasks["first_segment"][missing] = len(workload.segments) + inverse
        modelled = {"usage_model": self.text, "tasks_with_modelled_use": len(missing)}
        return replace(
            workload, tasks=tasks, segments=np.concatenate([workload.segments, levels]), about=workload.about | modelled
        )


def parse_usage_model(text: str) -> UsageModel | None:
    """The model that the text names; None for `none`."""
    name, _, value = text.strip().partition("=")
    if name == "none" and not value:
        return None
    if name == "reserved" and not value:
        return UsageModel(text, 1.0, 1.0)
    low = high = -1.0
    if name == "fraction":
        try:
            low = high = float(value)
        except ValueError:
            low = -1.0
    elif name == "spread" and (match := _SPREAD.fullmatch(value)):
        try:
            low, high = float(match[1]), float(match[2])
        except ValueError:
            low = -1.0
    if not 0 <= low <= high <= 10:
        raise BadInput.of("--usage-model", f"say {FORMS}, not {text}")
    return UsageModel(text, low, high)
