"""Runs the engine to its end: compiles, steps, grows its memory, drains its log, lets somebody outside look."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.policy.compile import hooks_of, raise_what_levers_raised
from heddle.policy.policy import Policy
from heddle.sim import codes
from heddle.sim.log import attempts_held
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim, with_more_flows, with_more_slots
from heddle.sim.memory.tables import Sim
from heddle.sim.numba.compile import Engine, compile_engine, unit_addresses
from heddle.sim.numba.handle import SimHandle


class Ended(NamedTuple):
    """The engine's memory when a run is over, why it is over, and what it took."""

    sim: Sim
    status: int
    logs: list[npt.NDArray[Any]]  # its whole log, piece by piece
    attempts: npt.NDArray[Any]  # all of them, in the order of allocation; empty where no log was kept
    simulate_s: float
    simulate_cpu_s: float


class Outside(Protocol):
    """Somebody who drives the cluster from outside: looks when control["look_at_ms"] has come, and turns knobs."""

    moves_to: tuple[str, ...]  # leaves to which it may move jobs

    def look(self, engine: Engine, handle: SimHandle) -> npt.NDArray[Any]:
        """Sets control["look_at_ms"] to a later time. Returns rows for the log."""
        ...


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
    n_resources = len(workload.resources)
    hooks = hooks_of(policy.levers, n_resources)
    inputs = RunInputs(workload, cluster, policy, seed, logging, outside.moves_to if outside else ())
    sim = build_sim(inputs)
    engine = compile_engine(n_resources)
    code = [compiled.address for compiled in hooks.values()] + unit_addresses(n_resources)
    handle = SimHandle(sim, code)
    sim = handle.sim
    if outside:
        sim.control["look_at_ms"] = 0
    engine.start(handle)
    logs: list[npt.NDArray[Any]] = []
    attempts: list[npt.NDArray[Any]] = []
    wall, cpu = time.perf_counter(), time.process_time()
    while True:
        status = engine.advance(handle, until_ms)
        if status == codes.LOG_FULL:
            _drain(sim, logs, attempts)
        elif status in (codes.SLOTS_FULL, codes.TIMERS_FULL):
            sim = with_more_slots(sim, inputs)
            handle = handle.moved_to(sim)
            sim = handle.sim
        elif status == codes.LOOK and outside:
            _drain(sim, logs, attempts)
            turned = outside.look(engine, handle)
            turned["place"] = sim.control["n_places"][0]
            if logging:
                logs.append(turned)
        elif status == codes.FLOWS_FULL:
            sim = with_more_flows(sim, inputs)
            handle = handle.moved_to(sim)
            sim = handle.sim
        else:
            break
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    _drain(sim, logs, attempts)
    raise_what_levers_raised(hooks)
    if logging:
        attempts.append(attempts_held(sim))
    return Ended(sim, status, logs, _by_allocation(attempts, sim), wall, cpu)


def _drain(sim: Sim, logs: list[npt.NDArray[Any]], attempts: list[npt.NDArray[Any]]) -> None:
    for rows, count, pieces in ((sim.log, "n_log", logs), (sim.attempt, "n_attempts", attempts)):
        if n := int(sim.control[count][0]):
            pieces.append(rows[:n].copy())
            sim.control[count] = 0


def _by_allocation(pieces: list[npt.NDArray[Any]], sim: Sim) -> npt.NDArray[Any]:
    attempts = np.concatenate([sim.attempt[:0], *pieces])
    return attempts.take(np.argsort(attempts["allocated_place"], kind="stable"))
