"""Runs the engine to its end: compiles, steps, grows its memory, drains its log, lets somebody outside look."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.policy.compile import hook_addresses, hooks_of, raise_what_levers_raised
from heddle.policy.policy import Policy
from heddle.sim import arrays
from heddle.sim.arrays import Sim
from heddle.sim.compile import Engine, compile_engine
from heddle.sim.memory import SimHandle
from heddle.sim.network_setup import with_more_flows
from heddle.sim.setup import build_sim, grown
from heddle.sim.units import unit_addresses


class Ended(NamedTuple):
    """The engine's memory when a run is over, why it is over, and what it took."""

    sim: Sim
    status: int
    logs: list[npt.NDArray[Any]]
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
    until_ms: int = int(arrays.FOREVER),
    outside: Outside | None = None,
) -> Ended:
    """One run, from time 0 to its end or to until_ms."""
    n_resources = len(workload.resources)
    hooks = hooks_of(policy.levers, n_resources)
    sim = build_sim(workload, cluster, policy, seed, logging, outside.moves_to if outside else ())
    engine = compile_engine(n_resources)
    code = hook_addresses(hooks, n_resources) + unit_addresses(n_resources)
    handle = SimHandle(sim, code)
    if outside:
        sim.control["look_at_ms"] = 0
    engine.start(handle)
    logs: list[npt.NDArray[Any]] = []
    wall, cpu = time.perf_counter(), time.process_time()
    while True:
        status = engine.advance(handle, until_ms)
        if status == arrays.LOG_FULL:
            _drain(sim, logs)
        elif status in (arrays.SLOTS_FULL, arrays.TIMERS_FULL):
            sim = grown(sim, workload)
            handle = handle.moved_to(sim)
        elif status == arrays.LOOK and outside:
            _drain(sim, logs)
            turned = outside.look(engine, handle)
            if logging:
                logs.append(turned)
        elif status == arrays.FLOWS_FULL:
            sim = with_more_flows(sim)
            handle = handle.moved_to(sim)
        else:
            break
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    _drain(sim, logs)
    raise_what_levers_raised(hooks)
    return Ended(sim, status, logs, wall, cpu)


def _drain(sim: Sim, logs: list[npt.NDArray[Any]]) -> None:
    n = int(sim.control["n_log"][0])
    if n:
        logs.append(sim.log[:n].copy())
        sim.control["n_log"] = 0
