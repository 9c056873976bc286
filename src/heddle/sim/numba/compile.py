"""Compiles the engine into files (sim/loading.py): units, and the entries that Python calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from numba import njit, types

from heddle.model.code_files import SUFFIX, write_code
from heddle.model.compiled import INTO_FILES
from heddle.model.numba_internals import code_for_words
from heddle.sim.engine import advance, prepare_run
from heddle.sim.loading import ENTRIES, ENTRIES_FOLDER, UNITS_FOLDER
from heddle.sim.numba.sim_type import SimType
from heddle.sim.numba.units import function_of, unit_names
from heddle.sim.scheduling.asking import rekey_all, rekey_job
from heddle.sim.scheduling.promises import share_out
from heddle.sim.scheduling.reports import resize, settle_reports
from heddle.sim.timeline import timer_push


def _start(sim):
    prepare_run(sim)
    return 0


def _advance(sim, until_ms):
    return advance(sim, until_ms)


def _report(sim):
    for n in range(sim.shown.node.shape[0]):
        settle_reports(sim, n)
    return 0


def _resize(sim, node):
    return resize(sim, node)


def _rekey(sim, job):
    rekey_job(sim, job)
    return 0


def _rekey_all(sim):
    rekey_all(sim)
    return 0


def _share_out(sim):
    share_out(sim)
    return 0


def _plan_timer(sim, at_ms, kind, subject):
    timer_push(sim, at_ms, kind, subject)
    return 0


_ENTRIES: Final[dict[str, Callable[..., Any]]] = {
    "start": _start, "advance": _advance, "report": _report, "resize": _resize, "rekey": _rekey,
    "rekey_all": _rekey_all, "share_out": _share_out, "plan_timer": _plan_timer,
}  # fmt: skip


def compile_engine(n_resources: int, place: Path) -> None:
    """All of it, with a second process that begins at the other end; what one has compiled, the other leaves alone."""
    second = None
    if (os.cpu_count() or 1) > 1:
        second = subprocess.Popen(
            [sys.executable, "-m", "heddle.sim.numba.second_core", str(n_resources), str(place)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        for name in unit_names():
            compile_unit(name, n_resources, place)
        compile_entries(n_resources, place)
    finally:
        if second is not None:
            second.terminate()
            second.wait()


def compile_entries(n_resources: int, place: Path) -> None:
    for name in ENTRIES:
        _compile(_ENTRIES[name], n_resources, place / ENTRIES_FOLDER / f"{name}{SUFFIX}")


def compile_unit(name: str, n_resources: int, place: Path) -> None:
    _compile(function_of(name), n_resources, place / UNITS_FOLDER / f"{name}{SUFFIX}")


def _compile(function: Callable[..., Any], n_resources: int, file: Path) -> None:
    if file.exists():
        return
    integers = (types.int64,) * (function.__code__.co_argcount - 1)
    wanted = types.int64(SimType(n_resources), *integers)
    write_code(file, *code_for_words(njit(wanted, **INTO_FILES)(function), wanted.args))
