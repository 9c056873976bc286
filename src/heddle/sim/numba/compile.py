"""What is called from Python, with explicit signatures: compiled once and found in the cache for every policy."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import Any, NamedTuple

from numba import njit, types

from heddle.model.compiled import ENGINE, compiling_alone, engine_folder
from heddle.policy.native import address_of
from heddle.sim.engine import advance, prepare_run
from heddle.sim.numba.handle import SimType
from heddle.sim.numba.units import function_of, unit_names
from heddle.sim.scheduling.asking import rekey_all, rekey_job
from heddle.sim.scheduling.promises import share_out
from heddle.sim.scheduling.reports import resize, settle_reports
from heddle.sim.timeline import timer_push


def _start(sim):
    prepare_run(sim)


def _advance(sim, until_ms):
    return advance(sim, until_ms)


def _report(sim):
    for n in range(sim.shown.node.shape[0]):
        settle_reports(sim, n)


def _resize(sim, nodes):
    for i in range(nodes.shape[0]):
        resize(sim, nodes[i])


def _rekey(sim, job):
    rekey_job(sim, job)


def _rekey_all(sim):
    rekey_all(sim)


def _share_out(sim):
    share_out(sim)


def _plan_timer(sim, at_ms, kind, subject):
    timer_push(sim, at_ms, kind, subject)


class Engine(NamedTuple):
    """The engine as Python calls it. Every function gets a SimHandle first."""

    start: Any  # (): time 0
    advance: Any  # (until_ms) -> status
    report: Any  # (): the view's nodes show the last use that they reported
    resize: Any  # (nodes): sizing has another opinion of these
    rekey: Any  # (job): its queue, its priority or what its key depends on has changed
    rekey_all: Any  # (): every key has changed
    share_out: Any  # (): sizes or shares were set from outside: queues share out what there is now
    plan_timer: Any  # (at_ms, kind, subject): somebody outside has a node lost, or brings it back, at a later instant


@cache
def compiled_engine(n_resources: int) -> Engine:
    """For this many resources."""
    sim = SimType(n_resources)

    def entry(function: Any, answer: Any, *given: Any) -> Any:
        # Without Python's lock, so that a thread can see a user's hook that does not return (policy/endless.py).
        return njit(answer(sim, *given), cache=True, _nrt=False, error_model="numpy", nogil=True)(function)

    return Engine(
        start=entry(_start, types.void),
        advance=entry(_advance, types.int64, types.int64),
        report=entry(_report, types.void),
        resize=entry(_resize, types.void, types.Array(types.int64, 1, "C")),
        rekey=entry(_rekey, types.void, types.int64),
        rekey_all=entry(_rekey_all, types.void),
        share_out=entry(_share_out, types.void),
        plan_timer=entry(_plan_timer, types.void, types.int64, types.int64, types.int64),
    )


@cache
def unit_addresses(n_resources: int) -> list[int]:
    """Compiles all units for this many resources (or takes them from the cache)."""
    return [compile_unit(name, n_resources) for name in unit_names()]


def compile_unit(name: str, n_resources: int) -> int:
    """The address of one unit."""
    function = function_of(name)
    integers = (types.int64,) * (function.__code__.co_argcount - 1)
    wanted = types.int64(SimType(n_resources), *integers)
    return address_of(njit(wanted, **ENGINE)(function), wanted)


@cache
def compile_engine(n_resources: int) -> Engine:
    """All of the engine, from the cache if it is there.

    If it is not, one process compiles and others wait for it. A second process of its own compiles from the other end;
    what one has compiled, the other finds in the cache.
    """
    complete = engine_folder() / f"{n_resources}-complete"
    if not complete.exists():
        with compiling_alone():
            if not complete.exists():
                _compile_with_two(n_resources)
                complete.touch()
    unit_addresses(n_resources)
    return compiled_engine(n_resources)


def _compile_with_two(n_resources: int) -> None:
    second = None
    if (os.cpu_count() or 1) > 1:
        second = subprocess.Popen(
            [sys.executable, "-m", "heddle.sim.numba.second_core", str(n_resources)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        unit_addresses(n_resources)
        compiled_engine(n_resources)
    finally:
        if second is not None:
            second.terminate()
            second.wait()
