"""The jobs that are in memory, where jobs come in blocks: those that have not ended, and those that come next.

Rows are the engine's; numbers are those of the whole workload. Rows stand in the order of numbers, so that whoever
compares two of them finds the same, and only draws and the record need the numbers themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.some_jobs import GONE, Mask, joined, new_rows, some_jobs
from heddle.model.workload import Workload
from heddle.sim.memory.facts import Facts

Rows = npt.NDArray[np.int64]
Column = npt.NDArray[Any]


class Numbers(NamedTuple):
    """Of each job in memory."""

    job: npt.NDArray[np.int64]  # its number
    stages_before: npt.NDArray[np.int32]  # by so much the numbers of its stages are larger than their rows
    tasks_before: npt.NDArray[np.int32]  # and of its tasks

    @classmethod
    def from_0(cls, n_jobs: int) -> Numbers:
        """All jobs are in memory."""
        return cls(np.arange(n_jobs), np.zeros(n_jobs, np.int32), np.zeros(n_jobs, np.int32))

    def in_place_of(self, job: Column, **rows: Column) -> dict[str, Column]:
        """Numbers in place of rows: of jobs, and of their stages and tasks (`rows`). Below 0 is none, and stays so."""
        before = {"stage": self.stages_before, "task": self.tasks_before}
        found = {name: np.where(of >= 0, of + before[name][job], of) for name, of in rows.items()}
        return found | {"job": np.where(job >= 0, self.job[job], job)}


class Blocks(Protocol):
    """The jobs of a workload, block by block, in order of submission. Jobs of one instant are in one block."""

    facts: Facts

    def next_block(self) -> Workload | None:
        """None: that was the last. Rows begin at 0 in each, but job_after has numbers of the whole workload."""
        ...


class Moved(NamedTuple):
    """From the rows of one window to those of the next: who stays, and where they go (of others: nothing)."""

    jobs: Mask
    stages: Mask
    tasks: Mask

    @property
    def new_job(self) -> Rows:
        return new_rows(self.jobs)

    @property
    def new_stage(self) -> Rows:
        return new_rows(self.stages)

    @property
    def new_task(self) -> Rows:
        return new_rows(self.tasks)


@dataclass(frozen=True)
class Window:
    facts: Facts
    workload: Workload
    numbers: Numbers
    read: tuple[int, int, int] = (0, 0, 0)  # jobs, stages and tasks of all blocks so far

    @classmethod
    def before(cls, facts: Facts, block: Workload) -> Window:
        """Without any job, but with all that is no job's: of any block."""
        nobody = some_jobs(block, np.zeros(len(block.jobs), bool))
        return cls(facts, replace(nobody, job_names=None, stage_names=None), Numbers.from_0(0))

    def moved(self, stays: Mask) -> Moved:
        stages = self.workload.stages
        of_stage = stays[stages["job"]]
        return Moved(stays, of_stage, np.repeat(of_stage, stages["n_tasks"]))

    def reduced(self, moved: Moved) -> Window:
        """Without the jobs that do not stay."""
        workload, (job, stages_before, tasks_before) = some_jobs(self.workload, moved.jobs), self.numbers
        shifts = []
        for before, mask, first in (
            (stages_before, moved.stages, self.workload.jobs["first_stage"]),
            (tasks_before, moved.tasks, _first_tasks(self.workload)),
        ):
            gone = np.concatenate([[0], np.cumsum(~mask)])
            shifts.append((before + gone[first]).astype(np.int32)[moved.jobs])
        return Window(self.facts, workload, Numbers(job[moved.jobs], *shifts), self.read)

    def extended(self, block: Workload) -> Window:
        """With the jobs of one more block behind all others. Those they come after that are not in memory are GONE."""
        n_read = (len(block.jobs), len(block.stages), len(block.tasks))
        rows = np.searchsorted(self.numbers.job, block.job_after)
        known = np.append(self.numbers.job, -1)
        there = known[np.minimum(rows, len(self.numbers.job))] == block.job_after
        own = block.job_after >= self.read[0]
        after = np.where(own, block.job_after - self.read[0] + len(self.numbers.job), np.where(there, rows, GONE))
        workload = joined(self.workload, replace(block, job_after=after.astype(np.int32)))
        n_jobs, stages, tasks = len(block.jobs), len(self.workload.stages), len(self.workload.tasks)
        numbers = Numbers(
            np.concatenate([self.numbers.job, self.read[0] + np.arange(n_jobs)]),
            np.concatenate([self.numbers.stages_before, np.full(n_jobs, self.read[1] - stages, np.int32)]),
            np.concatenate([self.numbers.tasks_before, np.full(n_jobs, self.read[2] - tasks, np.int32)]),
        )
        read = (self.read[0] + n_read[0], self.read[1] + n_read[1], self.read[2] + n_read[2])
        return Window(self.facts, workload, numbers, read)


def _first_tasks(workload: Workload) -> Rows:
    """The row of the first task of each job, or of the next one where it has none."""
    first_task = np.append(workload.stages["first_task"], len(workload.tasks)).astype(np.int64)
    found: Rows = first_task[workload.jobs["first_stage"]]
    return found
