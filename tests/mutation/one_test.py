"""A pytest plugin: no test may take much more CPU than it takes with the unchanged sources, so a mutant that never ends
is known soon. The clock stands still while Numba compiles: which test is the first to need a piece of compiled code
depends on what was compiled before.

The signal ends the process, whatever it does: compiled code returns to no handler.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

TOOK = "HEDDLE_MUTATION_TOOK"  # in the environment: a file to write, what each test took
UNCHANGED = "HEDDLE_MUTATION_UNCHANGED"  # such a file, of the unchanged sources; without it there are no limits
TIMES_AS_LONG, MORE_S = 3, 30.0


class Clock(event.Listener):  # type: ignore[misc]  # Numba has no types
    """The process's CPU time, without what Numba spends compiling. The timer runs by the same clock."""

    def __init__(self) -> None:
        self._compiling = 0  # a function that is compiled has those that it calls compiled
        self._began_s = self._compiled_s = self._left_s = 0.0

    def now_s(self) -> float:
        return time.process_time() - self._compiled_s

    def on_start(self, event: Any) -> None:
        self._compiling += 1
        if self._compiling == 1:
            self._began_s = time.process_time()
            self._left_s, _ = signal.setitimer(signal.ITIMER_PROF, 0)

    def on_end(self, event: Any) -> None:
        self._compiling -= 1
        if self._compiling == 0:
            self._compiled_s += time.process_time() - self._began_s
            signal.setitimer(signal.ITIMER_PROF, self._left_s)


_clock = Clock()
event.register("numba:compile", _clock)
_took_s: dict[str, float] = {}
_unchanged_s = json.loads(Path(os.environ[UNCHANGED]).read_text()) if UNCHANGED in os.environ else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    began_s = _clock.now_s()
    if _unchanged_s is not None:
        signal.setitimer(signal.ITIMER_PROF, TIMES_AS_LONG * _unchanged_s.get(item.nodeid, 0.0) + MORE_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _took_s[item.nodeid] = round(_clock.now_s() - began_s, 2)


def pytest_sessionfinish() -> None:
    if TOOK in os.environ:
        Path(os.environ[TOOK]).write_text(json.dumps(_took_s))
