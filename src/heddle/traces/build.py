"""Workloads from plain descriptions: readable for tests, examples and generators of small workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from heddle.model.resources import BASE_RESOURCES
from heddle.model.workload import (
    AM,
    JOB,
    NO_PREFERENCE,
    NO_SEGMENTS,
    PERMYRIAD,
    STAGE,
    TASK,
    TASKS,
    Workload,
    segment_dtype,
)

Vector = tuple[int, ...]
# A profile: (until permyriad of the work, use) pairs, ascending, the last at 10000.
Profile = tuple[tuple[int, Vector], ...]


def constant(*use: int) -> Profile:
    """The same use from start to end."""
    return ((PERMYRIAD, use),)


@dataclass(frozen=True)
class TaskSpec:
    duration_ms: int
    use: Profile | None = None  # None: not recorded
    prefers: str | None = None  # node that holds its input
    input_bytes: int = 0  # of that input


@dataclass(frozen=True)
class StageSpec:
    name: str
    demand: Vector
    tasks: Sequence[TaskSpec]
    after: tuple[str, ...] = ()
    kind: int = TASKS
    slow_start_permille: int = -1
    shuffle_ms: int = 0
    slots: int = 1
    idle_timeout_ms: int = 0
    iteration: int = 0
    label: str = ""
    after_bytes: tuple[int, ...] = ()  # what it reads from each stage in `after`, all its tasks together; () = nothing


@dataclass(frozen=True)
class JobSpec:
    name: str
    submit_at_ms: int
    stages: Sequence[StageSpec]
    am: Vector | None = None
    am_use: Vector | None = None
    queue: str = "root.default"
    user: str = "nobody"
    after: tuple[str, ...] = ()
    priority: int = 0
    iterative: bool = False


@dataclass
class _Interned:
    """Numbers for values in order of first appearance."""

    index: dict[Any, int] = field(default_factory=dict)

    def __call__(self, value: Any) -> int:
        return self.index.setdefault(value, len(self.index))


def build(
    name: str,
    jobs: Sequence[JobSpec],
    resources: tuple[str, ...] = BASE_RESOURCES,
    about: Mapping[str, Any] | None = None,
) -> Workload:
    """The workload of these jobs, in canonical order."""
    ordered = sorted(jobs, key=lambda job: job.submit_at_ms)  # stable: the input's order breaks ties
    job_number = {job.name: number for number, job in enumerate(ordered)}
    queues, users, labels, shapes, hosts = _Interned(), _Interned(), _Interned({"": 0}), _Interned(), _Interned()
    job_rows: list[tuple[int, ...]] = []
    stage_rows: list[tuple[int, ...]] = []
    task_rows: list[tuple[int, int]] = []
    segment_rows: list[tuple[Vector, int, int]] = []
    stage_after: list[int] = []
    job_after: list[int] = []
    stage_names: list[str] = []
    prefers: list[int] = []
    edge_bytes: list[int] = []
    input_bytes: list[int] = []

    def add_task(duration_ms: int, use: Profile | None, host: str | None, reads: int = 0) -> None:
        first = NO_SEGMENTS if use is None else len(segment_rows)
        for until, level in use or ():
            segment_rows.append((level, until, int(until == PERMYRIAD)))
        task_rows.append((duration_ms, first))
        prefers.append(NO_PREFERENCE if host is None else hosts(host))
        input_bytes.append(reads)

    for number, job in enumerate(ordered):
        first_stage = len(stage_rows)
        has_am = job.am is not None
        if job.am is not None:
            stage_names.append("am")
            stage_rows.append((number, shapes(job.am), len(task_rows), 1, len(stage_after), 0, 0, 0, -1, 1, 0, 0, AM))
            add_task(0, None if job.am_use is None else constant(*job.am_use), None)
        number_of = {stage.name: first_stage + has_am + i for i, stage in enumerate(job.stages)}
        for stage in job.stages:
            stage_names.append(stage.name)
            stage_rows.append(
                (
                    number, shapes(stage.demand), len(task_rows), len(stage.tasks), len(stage_after), len(stage.after),
                    stage.shuffle_ms, stage.idle_timeout_ms, stage.slow_start_permille, stage.slots, stage.iteration,
                    labels(stage.label), stage.kind,
                )
            )  # fmt: skip
            stage_after.extend(number_of[before] for before in stage.after)
            edge_bytes.extend(stage.after_bytes or (0,) * len(stage.after))
            for task in stage.tasks:
                add_task(task.duration_ms, task.use, task.prefers, task.input_bytes)
        job_rows.append(
            (
                job.submit_at_ms, queues(job.queue), users(job.user), first_stage, len(stage_rows) - first_stage,
                len(job_after), len(job.after), job.priority, int(has_am), int(job.iterative),
            )
        )  # fmt: skip
        job_after.extend(job_number[before] for before in job.after)
    return Workload(
        name=name,
        resources=resources,
        queues=tuple(queues.index),
        users=tuple(users.index),
        labels=tuple(labels.index),
        shapes=np.array(list(shapes.index), dtype=np.int64).reshape(len(shapes.index), len(resources)),
        jobs=np.array(job_rows, dtype=JOB),
        stages=np.array(stage_rows, dtype=STAGE),
        tasks=np.array(task_rows, dtype=TASK),
        segments=np.array(segment_rows, dtype=segment_dtype(len(resources))),
        stage_after=np.array(stage_after, dtype=np.int32),
        job_after=np.array(job_after, dtype=np.int32),
        job_names=pl.Series("job", [job.name for job in ordered], dtype=pl.String),
        stage_names=pl.Series("stage", stage_names, dtype=pl.String),
        prefers=np.array(prefers, dtype=np.int32) if hosts.index else None,
        edge_bytes=np.array(edge_bytes, dtype=np.int64) if any(edge_bytes) else None,
        input_bytes=np.array(input_bytes, dtype=np.int64) if any(input_bytes) else None,
        hosts=tuple(hosts.index),
        about=dict(about or {}),
    )
