"""Runs the engine to its end: compiles, steps, grows its memory, drains its log, lets somebody outside look."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.policy.hooks import hooks_of, raise_what_levers_raised
from heddle.policy.policy import Policy
from heddle.sim import codes
from heddle.sim.attempts import attempts_held
from heddle.sim.blocks import BlockKeeper, Coming, refuse_in_blocks
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine, load_engine
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim, with_more_flows, with_more_slots
from heddle.sim.memory.tables import Sim
from heddle.sim.memory.window import Blocks

Rows = npt.NDArray[Any]


class Ended(NamedTuple):
    """The engine's memory when a run is over, why it is over, and what it took."""

    sim: Sim
    status: int
    logs: list[Rows]  # its whole log, piece by piece; empty where none was kept, or somebody else has it
    attempt_pieces: list[Rows]  # its attempts in the order of their ends, likewise
    simulate_s: float
    simulate_cpu_s: float

    @property
    def attempts(self) -> Rows:
        return np.concatenate([self.sim.attempt[:0], *self.attempt_pieces])

    def hand_over(self, keeper: Keeper) -> None:
        """Gives away the log that was kept, if any."""
        for rows in self.logs:
            keeper.keep_log(rows)
        for rows in self.attempt_pieces:
            keeper.keep_attempts(rows)

    @property
    def counts(self) -> list[bool]:
        """The resources that its scheduler looked at."""
        return [bool(counts) for counts in self.sim.shown.clock["counts"][0]]


class Outside(Protocol):
    """Somebody who drives the cluster from outside: looks when control["look_at_ms"] has come, and turns knobs."""

    moves_to: tuple[str, ...]  # leaves to which it may move jobs
    hears_in_ms: int  # so long after a request began to wait it looks out of turn; 0: it does not hear of requests

    def look(self, engine: Engine, handle: SimHandle) -> Rows:
        """Sets control["look_at_ms"] to a later time. Returns rows for the log."""
        ...


class Keeper(Protocol):
    """Who takes what a run notes. What it is given belongs to it."""

    def keep_log(self, rows: Rows) -> None: ...

    def keep_attempts(self, rows: Rows) -> None: ...

    def drained(self, under_way: Callable[[], Rows]) -> None:
        """It has been given all that was noted up to now; `under_way`: the attempts that have not ended."""
        ...


class Kept:
    """In memory, piece by piece."""

    def __init__(self) -> None:
        self.logs: list[Rows] = []
        self.attempts: list[Rows] = []

    def keep_log(self, rows: Rows) -> None:
        self.logs.append(rows)

    def keep_attempts(self, rows: Rows) -> None:
        self.attempts.append(rows)

    def drained(self, under_way: Callable[[], Rows]) -> None:
        pass


class Run:
    """A run under way: whoever drives it says how far it goes. `moves_to`: leaves to which jobs may be moved;
    `keeper`: who takes its log, if not the memory of Ended."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy,
        seed: int,
        logging: bool,
        moves_to: tuple[str, ...] = (),
        keeper: Keeper | None = None,
        coming: Coming | None = None,
    ) -> None:
        """`coming`: the jobs come in blocks, and `workload` is the first of them."""
        n_resources = len(workload.resources)
        self._hooks = hooks_of(policy.levers, n_resources)
        window = None if coming is None else coming.window
        self._inputs = RunInputs(workload, cluster, policy, seed, logging, moves_to, window)
        self._coming = coming
        self._logging = logging
        sim = build_sim(self._inputs)
        if coming is not None:
            sim.control["block_ends"] = coming.end_of_block
        self.engine = load_engine(n_resources)
        self.handle = SimHandle(sim, [hook.address for hook in self._hooks.values()], self.engine.units)
        self._kept = Kept()
        self._keeper: Keeper = self._kept if keeper is None else keeper

    @property
    def sim(self) -> Sim:
        """Its memory now; another one when it has grown."""
        return self.handle.sim

    def go_on(self, until_ms: int) -> int:
        """Until its end, until_ms, or until control["look_at_ms"] has come: then the status is LOOK."""
        while True:
            status = int(self.engine.advance(self.handle, until_ms))
            if status == codes.LOG_FULL:
                self.drain()
            elif status in (codes.SLOTS_FULL, codes.TIMERS_FULL):
                self.handle = self.handle.moved_to(with_more_slots(self.sim, self._inputs))
            elif status == codes.FLOWS_FULL:
                self.handle = self.handle.moved_to(with_more_flows(self.sim, self._inputs))
            elif status == codes.JOBS_WANTED and self._coming is not None:
                self.drain()
                sim, self._inputs = self._coming.move_on(self.sim, self._inputs)
                self.handle = self.handle.moved_to(sim)
            else:
                return status

    def drain(self) -> None:
        """Takes what it has noted out of its memory."""
        sim, keeper = self.sim, self._keeper
        noted = ((sim.log, "n_log", keeper.keep_log), (sim.attempt, "n_attempts", keeper.keep_attempts))
        for rows, count, keep in noted:
            if n := int(sim.control[count][0]):
                keep(_copied(rows[:n]))
                sim.control[count] = 0
        keeper.drained(lambda: attempts_held(sim))

    def note(self, turned: Rows) -> None:
        """Adds rows of somebody outside to its log."""
        turned["place"] = self.sim.control["n_places"][0]
        if self._logging:
            self._keeper.keep_log(turned)

    def ended(self, status: int, simulate_s: float, simulate_cpu_s: float) -> Ended:
        self.drain()
        raise_what_levers_raised(self._hooks)
        if self._logging:
            self._keeper.keep_attempts(attempts_held(self.sim))
        if self._coming is not None:
            self._coming.over(self.sim)
        return Ended(self.sim, status, self._kept.logs, self._kept.attempts, simulate_s, simulate_cpu_s)


def _copied(rows: Rows) -> Rows:
    """In words, because numpy copies rows with fields one by one: that took four times as long."""
    words: Rows = rows.view(np.int64).copy()
    return words.view(rows.dtype)


def run_engine(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    seed: int,
    logging: bool,
    until_ms: int = int(codes.FOREVER),
    outside: Outside | None = None,
    keeper: Keeper | None = None,
) -> Ended:
    """One run, from time 0 to its end or to until_ms."""
    run = Run(workload, cluster, policy, seed, logging, outside.moves_to if outside else (), keeper)
    if outside:
        run.sim.control["look_at_ms"] = 0
        run.sim.control["hears_in_ms"] = outside.hears_in_ms
    run.engine.start(run.handle)
    wall, cpu = time.perf_counter(), time.thread_time()
    while (status := run.go_on(until_ms)) == codes.LOOK and outside:
        run.drain()
        run.note(outside.look(run.engine, run.handle))
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    return run.ended(status, wall, cpu)


def run_blocks(
    blocks: Blocks, cluster: Cluster, policy: Policy, seed: int, keeper: BlockKeeper, until_ms: int = int(codes.FOREVER)
) -> Ended:
    """One run over jobs that come in blocks. RunRefused where the policy has to see all of them first."""
    refuse_in_blocks(policy)
    coming = Coming(blocks, keeper)
    run = Run(coming.window.workload, cluster, policy, seed, True, (), keeper, coming)
    run.engine.start(run.handle)
    wall, cpu = time.perf_counter(), time.thread_time()
    status = run.go_on(until_ms)
    return run.ended(status, time.perf_counter() - wall, time.thread_time() - cpu)
