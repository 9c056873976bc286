"""What of a whole workload the engine must know before a run, where only some of its jobs are in memory at a time.

Nothing here is there once for each job, but the counts of followers where jobs come after jobs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from heddle.model.workload import EXECUTORS, INNER, NO_SEGMENTS, TASKS, Workload

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    n_jobs: int
    n_tasks: int
    most_stages: int  # of a job
    most_followers: int  # of a job
    most_inner: int  # tasks that all executors of a job can hold
    users: Codes  # distinct (queue, user), as one number each: queue * users + user
    wants: Codes  # distinct (queue, user, shape, label), likewise
    has_dag: bool
    has_job_dag: bool
    has_executors: bool
    has_use: bool  # of any task
    use_known: bool  # of every working task
    has_empty: bool  # stages without tasks, executors aside
    has_early: bool

    @classmethod
    def of(cls, workload: Workload) -> Facts:
        gathered = Gathered()
        gathered.add(workload)
        return gathered.facts()


@dataclass
class Gathered:
    """The facts of the blocks that were added, in order."""

    n_jobs: int = 0
    n_tasks: int = 0
    most_stages: int = 1
    most_inner: int = 0
    use_known: bool = True
    users: list[Codes] = field(default_factory=list)
    wants: list[Codes] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    followers: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, block: Workload) -> None:
        """`job_after` of the block holds numbers of the whole workload."""
        jobs, stages, tasks = block.jobs, block.stages, block.tasks
        self.n_jobs += len(jobs)
        self.n_tasks += len(tasks)
        self.most_stages = max(self.most_stages, int(jobs["n_stages"].max(initial=1)))
        executors = stages[stages["kind"] == EXECUTORS]
        if len(executors):
            held = executors["n_tasks"].astype(np.int64) * executors["slots"]
            self.most_inner = max(self.most_inner, int(held.max()))
        if len(block.job_after):
            counted = np.bincount(block.job_after)
            longer, shorter = sorted((counted, self.followers), key=len, reverse=True)
            self.followers = longer.copy()
            self.followers[: len(shorter)] += shorter
        self.users = [_distinct(*self.users, users_of(block))]
        self.wants = [_distinct(*self.wants, wants_of(block))]
        has_use = tasks["first_segment"] != NO_SEGMENTS
        if not has_use.all():
            works = np.isin(stages["kind"], (TASKS, INNER))
            self.use_known &= bool(has_use[np.repeat(works, stages["n_tasks"])].all())
        there = {
            "dag": len(block.stage_after) > 0,
            "executors": len(executors) > 0,
            "use": has_use.any(),
            "empty": ((stages["n_tasks"] == 0) & (stages["kind"] != EXECUTORS)).any(),
            "early": (stages["slow_start_permille"] >= 0).any(),
        }
        self.flags |= {name for name, found in there.items() if found}

    def facts(self) -> Facts:
        return Facts(
            n_jobs=self.n_jobs,
            n_tasks=self.n_tasks,
            most_stages=self.most_stages,
            most_followers=int(self.followers.max(initial=0)),
            most_inner=self.most_inner,
            users=_distinct(*self.users),
            wants=_distinct(*self.wants),
            has_dag="dag" in self.flags,
            has_job_dag=len(self.followers) > 0,
            has_executors="executors" in self.flags,
            has_use="use" in self.flags,
            use_known=self.use_known,
            has_empty="empty" in self.flags,
            has_early="early" in self.flags,
        )


def users_of(workload: Workload) -> Codes:
    """(queue, user) of each job, as one number."""
    codes: Codes = workload.jobs["queue"].astype(np.int64) * max(1, len(workload.users)) + workload.jobs["user"]
    return codes


def wants_of(workload: Workload) -> Codes:
    """(queue, user, shape, label) of each stage, as one number."""
    stages = workload.stages
    want = stages["shape"].astype(np.int64) * len(workload.labels) + stages["label"]
    codes: Codes = users_of(workload)[stages["job"]] * (len(workload.shapes) * len(workload.labels)) + want
    return codes


def _distinct(*codes: Codes) -> Codes:
    if not codes:
        return np.zeros(0, np.int64)
    return np.unique(codes[0] if len(codes) == 1 else np.concatenate(codes))
