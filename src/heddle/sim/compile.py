"""advance() with one explicit signature, so that it is compiled once and found in the cache for every policy."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import Any

from numba import njit, types

from heddle.model.compiled import engine_folder
from heddle.sim.engine import advance, prepare_run
from heddle.sim.memory import SimType
from heddle.sim.units import unit_addresses


def _start(sim):  # type: ignore[no-untyped-def]
    prepare_run(sim)


def _advance(sim, until_ms):  # type: ignore[no-untyped-def]
    return advance(sim, until_ms)


@cache
def compiled_engine(n_resources: int) -> tuple[Any, Any]:
    """(start(handle), advance(handle, until_ms)) for this many resources."""
    sim = SimType(n_resources)
    compiled = {"cache": True, "_nrt": False, "error_model": "numpy"}
    start = njit(types.void(sim), **compiled)(_start)
    return start, njit(types.int64(sim, types.int64), **compiled)(_advance)


@cache
def compile_engine(n_resources: int) -> tuple[Any, Any]:
    """All of the engine, from the cache if it is there: what compiled_engine() returns.

    If it is not, a second process compiles it from the other end; what one has compiled, the other finds in the cache.
    """
    complete = engine_folder() / f"{n_resources}-complete"
    second = None
    if not complete.exists() and (os.cpu_count() or 1) > 1:
        second = subprocess.Popen(
            [sys.executable, "-m", "heddle.sim.second_core", str(n_resources)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        unit_addresses(n_resources)
        engine = compiled_engine(n_resources)
    finally:
        if second is not None:
            second.terminate()
            second.wait()
    complete.parent.mkdir(parents=True, exist_ok=True)
    complete.touch()
    return engine
