"""The engine as Python calls it: compiled code from its files. Where they are missing, it is compiled first, once."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from heddle.model.code_files import SUFFIX, load_code, places_of, processor
from heddle.model.code_folders import compiling_alone, engine_folder
from heddle.sim.handle import SimHandle

ENTRIES: Final = {  # and how many integers each takes beside the engine's memory
    "start": 0, "advance": 1, "report": 0, "resize": 1, "rekey": 1, "rekey_all": 0, "share_out": 0, "plan_timer": 3,
}  # fmt: skip
ENTRIES_FOLDER: Final = "entries"
UNITS_FOLDER: Final = "units"
_COMPLETE: Final = "complete"


class _Entry:
    """A compiled function: answer = f(the engine's memory, integers...).

    ctypes calls it without Python's lock, so that a thread can see a user's hook that does not return
    (policy/endless.py).
    """

    def __init__(self, address: int, n_integers: int) -> None:
        words = (ctypes.c_int64,) * (1 + n_integers)
        self._call: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *words)(address)

    def __call__(self, handle: SimHandle, *integers: int) -> int:
        return int(self._call(handle.address, *integers))


class Engine(NamedTuple):
    """Every function gets a SimHandle first."""

    start: _Entry  # (): time 0
    advance: _Entry  # (until_ms) -> status
    report: _Entry  # (): the view's nodes show the last use that they reported
    resize: _Entry  # (node): sizing has another opinion of it
    rekey: _Entry  # (job): its queue, its priority or what its key depends on has changed
    rekey_all: _Entry  # (): every key has changed
    share_out: _Entry  # (): sizes or shares were set from outside: queues share out what there is now
    plan_timer: _Entry  # (at_ms, kind, subject): somebody outside has a node lost later, or brings it back
    units: tuple[int, ...]  # addresses, for the handle


def compiled_into(n_resources: int) -> Path:
    """Where the engine goes that is compiled here: entries and units, each in a folder of their own."""
    return engine_folder() / processor() / f"resources-{n_resources}"


def engine_is_compiled(n_resources: int) -> bool:
    """Whether compiled code of these sources is there, so that no long wait is ahead."""
    return _complete(n_resources) is not None


def _complete(n_resources: int) -> Path | None:
    places = (place / f"resources-{n_resources}" for place in places_of(engine_folder()))
    return next((place for place in places if (place / _COMPLETE).exists()), None)


@cache
def load_engine(n_resources: int) -> Engine:
    """For this many resources. If it has to be compiled, one process does that and others wait for it."""
    place = _complete(n_resources) or _compile(n_resources)
    units = sorted((place / UNITS_FOLDER).glob(f"*{SUFFIX}"))  # by name, as their places in the table
    entries = [place / ENTRIES_FOLDER / f"{name}{SUFFIX}" for name in ENTRIES]
    addresses = load_code([*entries, *units])
    calls = {name: _Entry(address, n) for (name, n), address in zip(ENTRIES.items(), addresses, strict=False)}
    return Engine(**calls, units=tuple(addresses[len(ENTRIES) :]))


def _compile(n_resources: int) -> Path:
    with compiling_alone():
        place = _complete(n_resources)
        if place is None:
            from heddle.sim.numba.compile import compile_engine  # the one place that needs Numba

            place = compiled_into(n_resources)
            compile_engine(n_resources, place)
            (place / _COMPLETE).touch()
    return place
