"""A workload: jobs of stages of tasks, as columns.

Jobs stand in canonical order (submission, then order in the input); the stages of a job follow each other, and
so do the tasks of a stage, so that a smaller number always means "comes first". The application master of a job,
where it has one, is the job's first stage, with one task.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl  # slow to import, and who lists policies has no workload

# Kinds of stages.
TASKS: Final = 0  # each task is a container
AM: Final = 1  # the application master: first container of its job, lives as long as the job
EXECUTORS: Final = 2  # containers with slots that run the job's INNER tasks
INNER: Final = 3  # tasks that run in the slots of the job's executors; the scheduler never sees them

KIND_NAMES: Final = ("tasks", "am", "executors", "inner")

NO_SEGMENTS: Final = -1  # first_segment of a task whose use was not recorded
NO_PREFERENCE: Final = -1
NOT_RUNNING: Final = -1

JOB: Final = np.dtype(
    [
        ("submit_at_ms", np.int64),  # when its user submits it
        ("queue", np.int32),  # index into Workload.queues (full names)
        ("user", np.int32),  # index into Workload.users
        ("first_stage", np.int32),  # the others follow it
        ("n_stages", np.int32),  # the AM's included
        ("first_after", np.int32),  # into Workload.job_after: jobs that must have finished first
        ("n_after", np.int32),  # so many of them
        ("priority", np.int32),  # a larger number is more important, as in YARN
        ("has_am", np.int8),  # 1: its first stage is its application master
        ("iterative", np.int8),  # 1: its stages are rounds of one computation
    ],
    align=True,
)

STAGE: Final = np.dtype(
    [
        ("job", np.int32),  # whose it is
        ("shape", np.int32),  # row of Workload.shapes: what one of its containers reserves
        ("first_task", np.int32),  # the others follow it
        ("n_tasks", np.int32),  # of TASKS, AM and EXECUTORS each is a container
        ("first_after", np.int32),  # into Workload.stage_after: stages of the same job, by global number
        ("n_after", np.int32),  # so many of them
        ("shuffle_ms", np.int32),  # at the start of each task, without CPU
        ("idle_timeout_ms", np.int32),  # EXECUTORS: released when idle so long; 0 = held to the job's end
        ("slow_start_permille", np.int16),  # -1: waits for its predecessors; else may start early and hold
        ("slots", np.int16),  # EXECUTORS: tasks that run in one at the same time
        ("iteration", np.int16),  # the round, of an iterative job
        ("label", np.int16),  # index into Workload.labels; 0 = none
        ("kind", np.int8),  # TASKS, AM, EXECUTORS, INNER
    ],
    align=True,
)

TASK: Final = np.dtype(
    [
        ("duration_ms", np.int64),  # at full speed, shuffle not included; 0 for AM and EXECUTORS
        ("first_segment", np.int32),  # its true use; NO_SEGMENTS where none was recorded
    ]
)


def segment_dtype(n_resources: int) -> np.dtype[Any]:
    """One level of a task's true use, valid until `until_permyriad` of its work is done."""
    return np.dtype([("use", np.int64, (n_resources,)), ("until_permyriad", np.int32), ("last", np.int8)], align=True)


PERMYRIAD: Final = 10_000
MOST_BYTES: Final = 1 << 46  # that one dependency carries or one task reads: 64 TiB


@dataclass(frozen=True)
class Workload:
    """What is to be run. `validated` input only: traces/ checks before it builds one."""

    name: str
    resources: tuple[str, ...]
    queues: tuple[str, ...]  # full names, "root.default"
    users: tuple[str, ...]
    labels: tuple[str, ...]  # labels[0] == "": any node
    shapes: npt.NDArray[np.int64]  # [n_shapes, n_resources]: the distinct reservations
    jobs: npt.NDArray[Any]
    stages: npt.NDArray[Any]
    tasks: npt.NDArray[Any]
    segments: npt.NDArray[Any]
    stage_after: npt.NDArray[np.int32]
    job_after: npt.NDArray[np.int32]
    # Names for people; None means that numbers serve as names. Stage names repeat across jobs.
    job_names: pl.Series | None = None
    stage_names: pl.Series | None = None
    # The nodes (by name) where a task's input lies, aligned with tasks; None where no task has a preference.
    prefers: npt.NDArray[np.int32] | None = None
    # The nodes where tasks run when the workload begins (NOT_RUNNING: it does not), and since when (0 or before);
    # aligned with tasks; None where all begins empty.
    running_on: npt.NDArray[np.int32] | None = None
    started_at_ms: npt.NDArray[np.int64] | None = None
    # Data, in bytes: what each dependency in stage_after carries to all tasks of the later stage together, and what
    # each task reads from the node it prefers. Aligned with stage_after and with tasks; None: nothing is to be moved.
    edge_bytes: npt.NDArray[np.int64] | None = None
    input_bytes: npt.NDArray[np.int64] | None = None
    hosts: tuple[str, ...] = ()  # names of the nodes that `prefers` and `running_on` point to
    about: dict[str, Any] = field(default_factory=dict)  # where it comes from: generator, seed, parameters

    @property
    def n_jobs(self) -> int:
        return len(self.jobs)

    @property
    def n_tasks(self) -> int:
        """Tasks that do work: neither AMs nor executors."""
        kind = self.stages["kind"]
        return int(self.stages["n_tasks"][(kind == TASKS) | (kind == INNER)].sum())

    @property
    def has_use(self) -> bool:
        """Whether the true use of every working task was recorded."""
        works = np.isin(self.stages["kind"], (TASKS, INNER))
        working = np.repeat(works, self.stages["n_tasks"])
        return bool((self.tasks["first_segment"][working] != NO_SEGMENTS).all())

    def job_name(self, job: int) -> str:
        return str(self.job_names[job]) if self.job_names is not None else f"job-{job}"

    def stage_name(self, stage: int) -> str:
        if self.stage_names is not None:
            return str(self.stage_names[stage])
        return f"stage-{stage - int(self.jobs['first_stage'][self.stages['job'][stage]])}"
