"""A run over blocks beside one that has all jobs in memory: every row of the log, every attempt and every job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.sim.blocks import JobsThen
from heddle.sim.codes import NEVER
from heddle.sim.memory.facts import Gathered
from heddle.sim.memory.window import Window
from heddle.sim.run import Ended, run_blocks, run_engine
from heddle.traces.blocks import BlocksInMemory


class Told:
    """What a run over blocks noted, in the numbers of the whole workload."""

    def __init__(self) -> None:
        self.logs: list[Any] = []
        self.attempts: list[Any] = []
        self.jobs: dict[int, tuple[int, ...]] = {}
        self.windows: list[int] = []

    def turn_to(self, window: Window) -> None:
        stages = window.workload.stages
        numbers, self.windows = window.numbers, [*self.windows, len(window.workload.jobs)]
        stage = np.arange(len(stages)) + numbers.stages_before[stages["job"]]
        task = np.repeat(numbers.tasks_before[stages["job"]], stages["n_tasks"]) + np.arange(len(window.workload.tasks))
        self.number = {"job": np.append(numbers.job, -1), "stage": np.append(stage, -1), "task": task}

    def _numbered(self, rows: npt.NDArray[Any], *names: str) -> npt.NDArray[Any]:
        for name in names:
            rows[name] = self.number[name][rows[name]]
        return rows

    def keep_log(self, rows: npt.NDArray[Any]) -> None:
        self.logs.append(self._numbered(rows, "job", "stage"))

    def keep_attempts(self, rows: npt.NDArray[Any]) -> None:
        self.attempts.append(self._numbered(rows, "stage", "task"))

    def drained(self, under_way: Callable[[], Any]) -> None:
        pass

    def keep_jobs(self, jobs: JobsThen) -> None:
        for number, state, ran in zip(jobs.number, jobs.state, jobs.ran, strict=True):
            assert int(number) not in self.jobs
            self.jobs[int(number)] = came_of(state, ran)


def came_of(state: Any, ran: Any) -> tuple[int, ...]:
    return int(state), int(ran["started_at_ms"]), int(ran["am_started_at_ms"]), int(ran["ended_at_ms"])


class Blocks:
    def __init__(self, workload: Workload, tasks: int) -> None:
        gathered = Gathered()
        for block in BlocksInMemory(workload, tasks):
            gathered.add(block)
        self.facts = gathered.facts()
        self._left: Iterator[Workload] = iter(BlocksInMemory(workload, tasks))

    def next_block(self) -> Workload | None:
        return next(self._left, None)


def columns(pieces: list[Any]) -> dict[str, list[Any]]:
    rows = np.concatenate(pieces)
    if "fetched_at_ms" in (rows.dtype.names or ()):  # who has fetched nothing has what was there before
        for name in ("fetched_place", "fetch_ms", "fetched_bytes", "cross_rack_bytes"):
            rows[name][rows["fetched_at_ms"] == NEVER] = 0
    return {name: rows[name].tolist() for name in rows.dtype.names or ()}


def check_same(whole: Ended, ended: Ended, told: Told, jobs: int) -> None:
    assert ended.status == whole.status
    for ours, theirs in ((told.logs, whole.logs), (told.attempts, whole.attempt_pieces)):
        if not ours and not theirs:
            continue
        found, wanted = columns(ours), columns(theirs)
        for name, values in wanted.items():
            assert found[name] == values, name
    read = sorted(told.jobs)
    assert read == list(range(len(read)))
    job, ran = whole.sim.shown.job, whole.sim.job_run
    for number in range(jobs):
        assert told.jobs.get(number, (0, -1, -1, -1)) == came_of(job["state"][number], ran[number]), number
    for name in ("reserved_ms", "used_ms", "crashed", "killed", "retried", "preempted", "moved_bytes", "fetch_ms"):
        assert ended.sim.control[name][0].tolist() == whole.sim.control[name][0].tolist(), name


def in_order(workload: Workload) -> bool:
    """No job comes after one that may be in a later block."""
    waits = np.repeat(np.arange(workload.n_jobs), workload.jobs["n_after"])
    submit = workload.jobs["submit_at_ms"]
    return bool((submit[workload.job_after] <= submit[waits]).all())


def compared(workload: Workload, cluster: Cluster, policy: Policy, seed: int, tasks: int, until_ms: int) -> Told:
    """Blocks of so many tasks. What they noted, if it is the same."""
    whole = run_engine(workload, cluster, policy, seed, True, until_ms)
    told = Told()
    ended = run_blocks(Blocks(workload, tasks), cluster, policy, seed, told, until_ms)
    check_same(whole, ended, told, workload.n_jobs)
    return told
