"""One simulated clock, and processes that live by it: one runs at a time, and nobody really sleeps.

A process is a thread that holds the baton while it runs and gives it back when it sleeps. So the code of a controller
runs as it is, stops at any call that takes time, and others act meanwhile; which one is next depends on the simulated
time alone, never on the machine.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from typing import Final

BEGAN_S: Final = 1_000_000.0


def _taken_lock() -> threading.Lock:
    """To wait for the baton: acquire() returns when somebody has released it. A semaphore takes twice as long."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class Killed(BaseException):
    """What a process that was killed meets at the next thing it does; no handler of ordinary errors stops it."""


class Process:
    """A program under way. Whatever it tries once it is dead has no effect."""

    def __init__(self, timeline: Timeline, name: str, program: Callable[[Process], None]) -> None:
        self.name, self.dead, self.over = name, False, False
        self._timeline, self._program = timeline, program
        self._go = _taken_lock()
        self.wakes_at_s, self.wake = 0.0, 0  # when it goes on; the number of that wake-up, others are out of date
        self.hangs_until_s = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._go.acquire()
        try:
            self.must_live()
            self._program(self)
        except Killed:
            pass
        finally:
            self.over = True
            self._timeline.pass_on(None)

    def must_live(self) -> None:
        if self.dead:
            raise Killed

    def sleep(self, seconds: float) -> None:
        """Time goes on, and whoever else is due acts."""
        self.must_live()
        wakes_at_s = max(self._timeline.now_s + seconds, self.hangs_until_s)
        if self._timeline.is_free_until(wakes_at_s):
            self._timeline.now_s = wakes_at_s
            return
        self._timeline.wake(self, wakes_at_s)
        if not self._timeline.pass_on(self):
            self._go.acquire()
        self.must_live()

    def go_on(self) -> None:
        """Hands it the baton."""
        self._go.release()


class Timeline:
    """What happens next. Things of the same instant happen in the order in which they were planned."""

    def __init__(self) -> None:
        self.now_s = BEGAN_S
        self._driver = _taken_lock()  # whoever called run_until()
        self._due: list[tuple[float, int, Callable[[], None] | tuple[Process, int]]] = []
        self._planned = 0
        self._ends_at_s = BEGAN_S
        self.processes: list[Process] = []

    def at(self, at_s: float, act: Callable[[], None] | tuple[Process, int]) -> None:
        """`act`: something that takes no time; or a process, by the number of its wake-up, goes on."""
        self._planned += 1
        heapq.heappush(self._due, (at_s, self._planned, act))

    def start(self, name: str, program: Callable[[Process], None]) -> Process:
        process = Process(self, name, program)
        self.processes = [one for one in self.processes if not one.over] + [process]
        self.wake(process, self.now_s)
        return process

    def wake(self, process: Process, at_s: float) -> None:
        process.wakes_at_s, process.wake = at_s, process.wake + 1
        self.at(at_s, (process, process.wake))

    def kill(self, process: Process) -> None:
        """It ends now, wherever it is."""
        if not process.over and not process.dead:
            process.dead = True
            self.wake(process, self.now_s)

    def hang(self, process: Process, seconds: float) -> None:
        """As SIGSTOP, and SIGCONT so much later."""
        process.hangs_until_s = max(process.hangs_until_s, self.now_s + seconds)
        if not process.over and not process.dead:
            self.wake(process, max(process.wakes_at_s, process.hangs_until_s))

    def is_free_until(self, at_s: float) -> bool:
        """Whether nothing else happens until then."""
        return at_s <= self._ends_at_s and (not self._due or self._due[0][0] > at_s)

    def run_until(self, at_s: float) -> None:
        self._ends_at_s = at_s
        if not self._next(None):
            self._driver.acquire()
        self.now_s = max(self.now_s, at_s)

    def pass_on(self, process: Process | None) -> bool:
        """Whoever has the baton lets happen what is due; true: it is this process's turn again, and it has kept it."""
        turn = self._next(process)
        if turn and process is None:
            self._driver.release()
        return turn and process is not None

    def _next(self, process: Process | None) -> bool:
        """Until it is another's turn, who then has the baton. True: it is this one's (None: nothing more is due)."""
        while self._due and self._due[0][0] <= self._ends_at_s:
            due_s, _, act = heapq.heappop(self._due)
            self.now_s = max(self.now_s, due_s)
            if callable(act):
                act()
                continue
            other, wake = act
            if other.over or other.wake != wake:
                continue
            if other is not process:
                other.go_on()
            return other is process
        if process is None:
            return True
        self._driver.release()
        return False

    def end(self) -> None:
        """Kills whoever is left."""
        for process in self.processes:
            self.kill(process)
        self.run_until(self.now_s)
