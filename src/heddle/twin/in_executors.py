"""A Spark application by the stages that its driver tells: executors that hold containers, and tasks that run in them.

Executors are held until the application ends. Stages that wait come after all that are not over and have lower numbers:
the driver does not tell which of them they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heddle.model.workload import EXECUTORS, INNER
from heddle.twin.known import Running, Stage
from heddle.twin.spark_stages import SparkStage, SparkTold


def in_executors(containers: Sequence[Stage], told: SparkTold, now_ms: int) -> tuple[Stage, ...] | None:
    """`containers`: its executors by kind. None: no stage is under way, or there are executors of several kinds."""
    held = [stage for stage in containers if stage.running or stage.left]
    if not told.is_under_way or len(held) != 1:
        return None
    executors = replace(held[0], kind=EXECUTORS, slots=told.slots, finished_ms=(), after=())
    made = [executors]
    going: list[int] = []  # places of stages that are not over
    for stage in told.stages:
        running = tuple(Running("", max(0, now_ms - began_ms)) for began_ms in stage.running_at_ms)
        after = tuple(going) if not running else ()
        left = 0 if stage.is_over else max(0, stage.tasks - stage.finished - len(running))
        if running or left:
            going.append(len(made))
        demand = (0,) * len(executors.demand)
        made.append(Stage(stage.name, INNER, demand, _durations(stage), running, left, after))
    return tuple(made) if going else None


def _durations(stage: SparkStage) -> tuple[int, ...]:
    """As many as have finished, spread as they were."""
    if not stage.finished or not stage.took_ms:
        return ()
    at = (np.arange(stage.finished) + 0.5) / stage.finished
    known = (np.arange(len(stage.took_ms)) + 0.5) / len(stage.took_ms)
    return tuple(np.rint(np.interp(at, known, stage.took_ms)).astype(int).tolist())
