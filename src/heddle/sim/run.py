"""Runs the engine to its end: compiles, steps, grows its memory, drains its log, lets somebody outside look."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.policy.hooks import hooks_of, raise_what_levers_raised
from heddle.policy.policy import Policy
from heddle.sim import codes
from heddle.sim.attempts import attempts_held
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine, load_engine
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim, with_more_flows, with_more_slots
from heddle.sim.memory.tables import Sim


class Ended(NamedTuple):
    """The engine's memory when a run is over, why it is over, and what it took."""

    sim: Sim
    status: int
    logs: list[npt.NDArray[Any]]  # its whole log, piece by piece
    attempts: npt.NDArray[Any]  # all of them, in the order of their ends; empty where no log was kept
    simulate_s: float
    simulate_cpu_s: float

    @property
    def counts(self) -> list[bool]:
        """The resources that its scheduler looked at."""
        return [bool(counts) for counts in self.sim.shown.clock["counts"][0]]


class Outside(Protocol):
    """Somebody who drives the cluster from outside: looks when control["look_at_ms"] has come, and turns knobs."""

    moves_to: tuple[str, ...]  # leaves to which it may move jobs
    hears_in_ms: int  # so long after a request began to wait it looks out of turn; 0: it does not hear of requests

    def look(self, engine: Engine, handle: SimHandle) -> npt.NDArray[Any]:
        """Sets control["look_at_ms"] to a later time. Returns rows for the log."""
        ...


class Run:
    """A run under way: whoever drives it says how far it goes. `moves_to`: leaves to which jobs may be moved."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy,
        seed: int,
        logging: bool,
        moves_to: tuple[str, ...] = (),
    ) -> None:
        n_resources = len(workload.resources)
        self._hooks = hooks_of(policy.levers, n_resources)
        self._inputs = RunInputs(workload, cluster, policy, seed, logging, moves_to)
        self._logging = logging
        sim = build_sim(self._inputs)
        self.engine = load_engine(n_resources)
        self.handle = SimHandle(sim, [hook.address for hook in self._hooks.values()], self.engine.units)
        self._logs: list[npt.NDArray[Any]] = []
        self._attempts: list[npt.NDArray[Any]] = []

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
            else:
                return status

    def drain(self) -> None:
        """Takes what it has noted out of its memory."""
        sim = self.sim
        for rows, count, pieces in ((sim.log, "n_log", self._logs), (sim.attempt, "n_attempts", self._attempts)):
            if n := int(sim.control[count][0]):
                pieces.append(rows[:n].copy())
                sim.control[count] = 0

    def note(self, turned: npt.NDArray[Any]) -> None:
        """Adds rows of somebody outside to its log."""
        turned["place"] = self.sim.control["n_places"][0]
        if self._logging:
            self._logs.append(turned)

    def ended(self, status: int, simulate_s: float, simulate_cpu_s: float) -> Ended:
        self.drain()
        raise_what_levers_raised(self._hooks)
        if self._logging:
            self._attempts.append(attempts_held(self.sim))
        attempts = np.concatenate([self.sim.attempt[:0], *self._attempts])
        return Ended(self.sim, status, self._logs, attempts, simulate_s, simulate_cpu_s)


def run_engine(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    seed: int,
    logging: bool,
    until_ms: int = int(codes.FOREVER),
    outside: Outside | None = None,
) -> Ended:
    """One run, from time 0 to its end or to until_ms."""
    run = Run(workload, cluster, policy, seed, logging, outside.moves_to if outside else ())
    if outside:
        run.sim.control["look_at_ms"] = 0
        run.sim.control["hears_in_ms"] = outside.hears_in_ms
    run.engine.start(run.handle)
    wall, cpu = time.perf_counter(), time.process_time()
    while (status := run.go_on(until_ms)) == codes.LOOK and outside:
        run.drain()
        run.note(outside.look(run.engine, run.handle))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return run.ended(status, wall, cpu)
