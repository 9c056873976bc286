"""A user's hook that does not return: who is in it too long, or is interrupted in it, ends the process.

Compiled code cannot be left from outside, and Python does not see Ctrl-C before it returns. So a thread looks at the
guards (guarding.py), which count how often their hook was entered and left. Engines are compiled to run without
Python's lock; hosts that hold it meanwhile are not watched.
"""

from __future__ import annotations

import math
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Final, Protocol

LIMIT: Final = "HEDDLE_LEVER_TIMEOUT_S"  # of the environment, so that worker processes have it too
DEFAULT_LIMIT_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.5
_PYTHON_HAD_TIME_S: Final = 10.0  # after that long, an interrupt is Python's own: it has been dealt with
_INTERRUPTED, _TOO_LONG = 130, 2
_now_s: Final = time.monotonic  # the machine's own, also where a simulated world takes the place of its clock


class Watched(Protocol):
    """What can be entered: an odd count is one that was not left yet."""

    name: str

    def passages(self) -> int: ...


def say_on_stderr(what: str, exit_code: int) -> None:
    """How a process tells why it ends."""
    print(f"error: {what}", file=sys.stderr, flush=True)


class _Watch:
    """All that are watched in this process, and the thread that does it."""

    def __init__(self) -> None:
        self.tell: Callable[[str, int], object] = say_on_stderr
        self._watched: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._thread: threading.Thread | None = None

    def add(self, one: Watched) -> None:
        self._watched.add(one)
        if self._thread is None:
            interrupts, wake = os.pipe()
            os.set_blocking(wake, False)
            if threading.current_thread() is threading.main_thread():
                signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
            self._thread = threading.Thread(target=self._look, args=(interrupts,), name="endless-levers", daemon=True)
            self._thread.start()

    def _look(self, interrupts: int) -> None:
        limit_s = float(os.environ.get(LIMIT, DEFAULT_LIMIT_S))
        inside: dict[Watched, tuple[int, float]] = {}
        interrupted_s = -math.inf
        while True:
            told = select.select([interrupts], [], [], _LOOK_EVERY_S)[0]
            now_s = _now_s()
            if told and signal.SIGINT in os.read(interrupts, 4096):
                interrupted_s = now_s
            passages = {one: one.passages() for one in self._watched}
            inside = {
                one: inside[one] if inside.get(one, (0, 0))[0] == count else (count, now_s)
                for one, count in passages.items()
                if count % 2
            }
            for one, (_, since_s) in inside.items():
                if now_s - since_s >= limit_s:
                    self._end(f"{one.name} has not returned for {limit_s:g} s (--lever-timeout)", _TOO_LONG)
                if now_s - interrupted_s < _PYTHON_HAD_TIME_S and now_s - since_s >= 2 * _LOOK_EVERY_S:
                    self._end(f"interrupted in {one.name}, which did not return", _INTERRUPTED)

    def _end(self, what: str, exit_code: int) -> None:
        self.tell(what, exit_code)
        os._exit(exit_code)


watch: Final = _Watch()
