"""A workload as blocks of jobs, in order of submission: what is in memory at a time is bounded.

A block has about so many tasks. It ends where an instant does: jobs that are submitted together are in one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.some_jobs import some_jobs
from heddle.model.workload import Workload
from heddle.traces.identity import workload_hash

BLOCK_TASKS: Final = 1 << 16


class JobBlocks(Protocol):
    """A workload that can be read again and again, block by block."""

    @property
    def about(self) -> Workload:
        """All of it but its jobs: names, resources, shapes."""
        ...

    def hash(self) -> str:
        """As traces/identity.py has it."""
        ...

    def __iter__(self) -> Iterator[Workload]:
        """Rows begin at 0 in each block, but job_after has the numbers of the whole workload."""
        ...


class BlocksInMemory:
    """Of a workload that fits."""

    def __init__(self, workload: Workload, tasks: int = BLOCK_TASKS) -> None:
        self._workload, self._tasks = workload, tasks

    @property
    def about(self) -> Workload:
        nobody = some_jobs(self._workload, np.zeros(self._workload.n_jobs, bool))
        return replace(nobody, job_names=None, stage_names=None)

    def hash(self) -> str:
        return workload_hash(self._workload)

    def __iter__(self) -> Iterator[Workload]:
        workload = self._workload
        first = np.append(workload.stages["first_task"], len(workload.tasks))[workload.jobs["first_stage"]]
        n_tasks = np.diff(first, append=len(workload.tasks))
        begin = 0
        while begin < workload.n_jobs:
            end = begin + length_of_block(workload.jobs["submit_at_ms"][begin:], n_tasks[begin:], self._tasks)
            yield jobs_from(workload, begin, end)
            begin = end


def length_of_block(submit_at_ms: npt.NDArray[Any], n_tasks: npt.NDArray[Any], tasks: int) -> int:
    """How many of these jobs make a block: they have so many tasks, or are all of them, and no instant is cut."""
    end = int(np.searchsorted(np.cumsum(n_tasks), tasks)) + 1
    if end >= len(submit_at_ms):
        return len(submit_at_ms)
    return int(np.searchsorted(submit_at_ms, submit_at_ms[end - 1], side="right"))


def jobs_from(workload: Workload, begin: int, end: int) -> Workload:
    """The jobs from one to before another."""
    chosen = np.zeros(workload.n_jobs, bool)
    chosen[begin:end] = True
    first, last = workload.jobs["first_stage"][begin], workload.jobs[end - 1]
    stages = slice(int(first), int(last["first_stage"] + last["n_stages"]))
    first_after, last_after = workload.jobs["first_after"][begin], last["first_after"] + last["n_after"]
    names, stage_names = workload.job_names, workload.stage_names
    return replace(
        some_jobs(workload, chosen),
        job_after=workload.job_after[first_after:last_after],
        job_names=None if names is None else names[begin:end],
        stage_names=None if stage_names is None else stage_names[stages],
    )
