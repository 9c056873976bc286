"""Workloads of jobs with a single stage, assembled from whole columns: ten million tasks need no Python loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.resources import BASE_RESOURCES
from heddle.model.workload import AM, JOB, NO_SEGMENTS, PERMYRIAD, STAGE, TASK, Workload, segment_dtype

Column = npt.NDArray[Any]


def constant_use(memory_mb: Column, vcores_milli: Column) -> Column:
    """One level of use for each task."""
    segments = np.zeros(len(memory_mb), segment_dtype(len(BASE_RESOURCES)))
    segments["use"][:, 0] = memory_mb
    segments["use"][:, 1] = vcores_milli
    segments["until_permyriad"] = PERMYRIAD
    segments["last"] = 1
    return segments


def one_stage_jobs(
    name: str,
    about: dict[str, Any],
    *,
    submit_at_ms: Column,  # of each job, ascending
    n_tasks: Column | int,  # of each job
    shape: Column,  # of each job's tasks: a row of shapes
    shapes: Column,
    duration_ms: Column,  # of each task
    queue: Column | int = 0,
    queues: Sequence[str] = ("root.default",),
    user: Column | int = 0,
    users: Sequence[str] = ("nobody",),
    am_shape: int | None = None,
    use: Column | None = None,  # segments, equally many for each task
    am_use: Column | None = None,  # one segment for each AM
) -> Workload:
    """The workload of these jobs; with `am_shape` each has an AM of that shape."""
    n_jobs = len(submit_at_ms)
    ams = 0 if am_shape is None else 1
    jobs = np.zeros(n_jobs, JOB)
    jobs["submit_at_ms"] = submit_at_ms
    jobs["queue"] = queue
    jobs["user"] = user
    jobs["n_stages"] = 1 + ams
    jobs["first_stage"] = np.arange(0, n_jobs * (1 + ams), 1 + ams, dtype=np.int32)
    jobs["has_am"] = ams

    stages = np.zeros(n_jobs * (1 + ams), STAGE)
    stages["slots"] = 1
    stages["slow_start_permille"] = -1
    own = stages[ams :: 1 + ams]  # views: what is written here stands in `stages`
    own["job"] = np.arange(n_jobs, dtype=np.int32)
    own["shape"] = shape
    own["n_tasks"] = n_tasks
    if am_shape is not None:
        masters = stages[::2]
        masters["job"] = own["job"]
        masters["shape"] = am_shape
        masters["n_tasks"] = 1
        masters["kind"] = AM
    np.cumsum(stages["n_tasks"][:-1], out=stages["first_task"][1:])

    tasks = np.zeros(len(duration_ms) + n_jobs * ams, TASK)
    tasks["first_segment"] = NO_SEGMENTS
    is_am = np.zeros(len(tasks), bool)
    if am_shape is not None:
        is_am[masters["first_task"]] = True
    tasks["duration_ms"][~is_am] = duration_ms
    segments = np.zeros(0, segment_dtype(len(BASE_RESOURCES)))
    if use is not None:
        levels = len(use) // len(duration_ms)
        tasks["first_segment"][~is_am] = np.arange(0, len(use), levels, dtype=np.int32)
        segments = use
    if am_use is not None:
        tasks["first_segment"][is_am] = np.arange(len(segments), len(segments) + n_jobs, dtype=np.int32)
        segments = np.concatenate([segments, am_use])
    return Workload(
        name=name,
        resources=BASE_RESOURCES,
        queues=tuple(queues),
        users=tuple(users),
        labels=("",),
        shapes=np.ascontiguousarray(shapes, dtype=np.int64),
        jobs=jobs,
        stages=stages,
        tasks=tasks,
        segments=segments,
        stage_after=np.zeros(0, np.int32),
        job_after=np.zeros(0, np.int32),
        about=about,
    )
