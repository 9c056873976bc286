"""Jobs that come in blocks: who has ended leaves memory when the clock comes to jobs that are not there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.errors import RunRefused
from heddle.model.view import JOB_FAILED, JOB_FINISHED
from heddle.model.workload import Workload
from heddle.policy.declaration import is_ours
from heddle.policy.policy import Policy
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import with_other_jobs
from heddle.sim.memory.staying import who_stays
from heddle.sim.memory.tables import Sim
from heddle.sim.memory.window import Blocks, Window

Rows = npt.NDArray[Any]


class JobsThen(NamedTuple):
    """What came of jobs that leave memory."""

    number: npt.NDArray[np.int64]
    state: npt.NDArray[np.int8]
    ran: Rows  # their rows of job_run
    allocated: npt.NDArray[np.int64]  # what they still count, by resource

    @classmethod
    def of(cls, sim: Sim, which: npt.NDArray[np.bool_]) -> JobsThen:
        job = sim.shown.job
        return cls(job["number"][which], job["state"][which], sim.job_run[which], job["allocated"][which])


class BlockKeeper(Protocol):
    """Who takes what a run over blocks notes: rows are those of the window that was told last."""

    def keep_log(self, rows: Rows) -> None: ...

    def keep_attempts(self, rows: Rows) -> None: ...

    def drained(self, under_way: Callable[[], Rows]) -> None: ...

    def turn_to(self, window: Window) -> None:
        """From now on rows are those of this window."""
        ...

    def keep_jobs(self, jobs: JobsThen) -> None: ...


class Coming:
    """The jobs of a run, those in memory and those to come."""

    def __init__(self, blocks: Blocks, keeper: BlockKeeper) -> None:
        self._blocks, self._keeper = blocks, keeper
        first = self._next()
        self.window = Window.before(blocks.facts, first).extended(first)
        # Of jobs that others come after, their outcome is asked for when they are long gone.
        self._states = np.zeros(blocks.facts.n_jobs if blocks.facts.has_job_dag else 0, np.int8)
        keeper.turn_to(self.window)

    @property
    def end_of_block(self) -> int:
        """The row at which more jobs are wanted; -1: none are to come."""
        return len(self.window.workload.jobs) if self.window.read[0] < self._blocks.facts.n_jobs else -1

    def move_on(self, sim: Sim, run: RunInputs) -> tuple[Sim, RunInputs]:
        """Memory without the jobs that have ended, and with more to come. The log must have been drained."""
        moved = self.window.moved(who_stays(sim, run))
        self._keeper.keep_jobs(JobsThen.of(sim, ~moved.jobs))
        if len(self._states):
            self._states[sim.shown.job["number"]] = sim.shown.job["state"]
        window = self.window.reduced(moved)
        n_staying = len(window.workload.jobs)
        staying, after = len(window.workload.tasks), [np.zeros(0, np.int32)]
        # Where much stays, more is read at once: moving it takes time, too.
        while len(after) == 1 or (2 * (len(window.workload.tasks) - staying) < staying and self._more(window)):
            block = self._next()
            window = window.extended(block)
            after.append(block.job_after)
        then = replace(run, workload=window.workload, window=window)
        grown = with_other_jobs(sim, run, moved, then)
        if len(self._states):
            self._tell_of_ended(grown, n_staying, np.concatenate(after))
        self.window = window
        grown.control["block_ends"] = self.end_of_block
        self._keeper.turn_to(window)
        return grown, then

    def over(self, sim: Sim) -> None:
        """The run is: what came of those in memory."""
        self._keeper.keep_jobs(JobsThen.of(sim, np.ones(len(sim.shown.job), bool)))

    def _more(self, window: Window) -> bool:
        return window.read[0] < self._blocks.facts.n_jobs

    def _next(self) -> Workload:
        block = self._blocks.next_block()
        assert block is not None, "fewer jobs came than were counted"
        return block

    def _tell_of_ended(self, sim: Sim, first: int, after: npt.NDArray[np.int32]) -> None:
        """New jobs that come after jobs which have ended hear of it now."""
        waiting = first + np.repeat(np.arange(len(sim.job_run) - first), sim.shown.job_spec["n_after"][first:])
        states = self._states[after]
        np.subtract.at(sim.job_run["after_left"], waiting[states >= JOB_FINISHED], 1)
        sim.job_run["after_failed"][waiting[states == JOB_FAILED]] = 1


def refuse_in_blocks(policy: Policy) -> None:
    """RunRefused where a lever has to see all jobs before the run begins."""
    for lever in policy.levers:
        if "workload" in lever.truth or lever.trait(lever.needs_all_jobs):
            raise RunRefused(f"{lever} has to know all jobs before the run, and here they come in blocks")
        if not all(is_ours(hook) for hook in lever.hooks.values()):
            raise RunRefused(f"{lever} is a lever of your own: where jobs come in blocks, only heddle's can be run")
