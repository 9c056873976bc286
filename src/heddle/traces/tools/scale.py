"""Another load from the same trace: arrivals closer together, longer tasks, larger reservations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from heddle.model.profiles import segments_of
from heddle.model.resources import MEMORY, VCORES
from heddle.model.workload import AM, Workload


@dataclass(frozen=True)
class Factors:
    """What is multiplied by what; `load` divides the time between arrivals."""

    load: float = 1.0
    duration: float = 1.0
    memory: float = 1.0
    vcores: float = 1.0


def scaled(workload: Workload, by: Factors) -> Workload:
    """The workload with these factors applied; use grows with its reservation, AMs keep their size."""
    jobs, tasks, segments = workload.jobs.copy(), workload.tasks.copy(), workload.segments.copy()
    jobs["submit_at_ms"] = np.round(jobs["submit_at_ms"] / by.load).astype(np.int64)
    tasks["duration_ms"] = np.round(tasks["duration_ms"] * by.duration).astype(np.int64)
    stages = workload.stages.copy()
    shapes = workload.shapes
    if by.memory != 1.0 or by.vcores != 1.0:
        grown = shapes.copy()
        for resource, factor in ((MEMORY, by.memory), (VCORES, by.vcores)):
            grown[:, resource] = _times(grown[:, resource], factor)
        working = np.flatnonzero(stages["kind"] != AM)
        stages["shape"][working] += len(shapes)
        shapes, numbers = np.unique(np.concatenate([shapes, grown]), axis=0, return_inverse=True)
        stages["shape"] = numbers.reshape(-1)[stages["shape"]]
        of_am = np.repeat(stages["kind"] == AM, stages["n_tasks"])
        grows = segments_of(segments, tasks["first_segment"][~of_am])
        for resource, factor in ((MEMORY, by.memory), (VCORES, by.vcores)):
            segments["use"][grows, resource] = _times(segments["use"][grows, resource], factor)
    return replace(workload, jobs=jobs, stages=stages, tasks=tasks, segments=segments, shapes=shapes)


def _times(amounts: npt.NDArray[np.int64], factor: float) -> npt.NDArray[np.int64]:
    grown: npt.NDArray[np.int64] = np.ceil(np.round(amounts * factor, 6)).astype(np.int64)
    return grown
