"""Where runs are computed: the place into which another engine plugs.

A run is a pure function of its configuration, both of which can be pickled, so that it does not matter where it is
computed. An *engine* takes such a function and many configurations and gives the results back as they come. `local:2`
is two processes on this machine, `local` one for each core where that pays. A package adds another by an entry point of
the group `heddle.engines`: a function that takes what stands behind the colon and returns an Engine. Dask and Spark are
such (`workers/`).
"""

from __future__ import annotations

import itertools
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from heddle.experiments.attempts import Attempt, Failed, WorkerDied
from heddle.model.errors import BadInput

C = TypeVar("C")
R = TypeVar("R")

GROUP = "heddle.engines"
WORKER_START_S = 1.5  # until a worker has loaded the compiled engine (docs/performance.md)
LOADING_S = 1.0  # of that, what a process that runs already has yet to do before its first run
AHEAD: Final = 2  # runs sent to each worker, so that none waits for its next
DIED: Final = "its worker process ended; if it did not say why, perhaps for want of memory: try --on local:1"


class Engine(Protocol):
    """Computes one function for many configurations."""

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R | Failed]]:
        """What came of each, once, with its position, as they come. An error is told of its run; the others go on."""
        ...


@runtime_checkable
class Connected(Protocol):
    """An engine beyond this process: it can be said where it is, and it is to be left."""

    @property
    def about(self) -> str: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class LocalProcesses:
    """A pool of processes on this machine; with one, everything happens in this process."""

    processes: int

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R | Failed]]:
        attempt = Attempt(function)
        if self.processes <= 1 or len(configurations) <= 1:
            for number, one in enumerate(configurations):
                yield number, attempt(one)
            return
        left = iter(enumerate(configurations))
        while under_way := (yield from _in_a_pool(attempt, left, min(self.processes, len(configurations)))):
            # One of these ended its worker, perhaps for want of memory. Alone, each has all of it, and shows who it is.
            for number, one in under_way:
                if (yield from _in_a_pool(attempt, iter([(number, one)]), 1)):
                    yield number, Failed(WorkerDied(DIED))


@dataclass(frozen=True)
class ProcessesThatPay:
    """So many processes as soon as what is left to do is worth their start; until then this one alone."""

    processes: int

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R | Failed]]:
        attempt = Attempt(function)
        each_s = 0.0  # what a further one is expected to take, at least
        for number, one in enumerate(configurations):
            left = len(configurations) - number
            if left * each_s * (1 - 1 / self.processes) > WORKER_START_S:
                for later, result in LocalProcesses(self.processes).run(function, configurations[number:]):
                    yield number + later, result
                return
            began = time.perf_counter()
            result = attempt(one)
            took_s = time.perf_counter() - began
            # The first one has loaded the compiled engine, which the others find loaded.
            each_s = max(0.0, took_s - LOADING_S) if number == 0 else min(took_s, each_s or took_s)
            yield number, result


def _in_a_pool(
    attempt: Attempt[C, R], left: Iterator[tuple[int, C]], processes: int
) -> Generator[tuple[int, R | Failed], None, list[tuple[int, C]]]:
    """What comes of all that are left or, when a worker has died, those that were under way then.

    Few are under way at a time, so that it does not matter how many there are.
    """
    # Spawned, not forked: compiled code and threads of the parent do not survive a fork.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent)
    others = set(multiprocessing.active_children())
    under_way: dict[int, C] = {}
    numbers: dict[Future[R | Failed], int] = {}

    def send(number: int, one: C) -> None:
        under_way[number] = one
        with interrupts_ignored():  # workers inherit this: after Ctrl-C the parent decides, and says it
            try:
                numbers[pool.submit(attempt, one)] = number
            except OSError as error:  # the pool broke while this starts a worker for it, and has closed its pipes
                raise BrokenProcessPool from error

    try:
        for number, one in itertools.islice(left, AHEAD * processes):
            send(number, one)
        while numbers:
            ended, _ = wait(numbers, return_when=FIRST_COMPLETED)
            for future in ended:
                result, number = future.result(), numbers.pop(future)
                del under_way[number]
                yield number, result
                for following, one in itertools.islice(left, 1):
                    send(following, one)
    except BrokenProcessPool:
        return list(under_way.items())
    except BaseException:  # Ctrl-C above all: nobody wants what the workers still do
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return []


def processes_on_this_machine(wanted: int | None) -> Engine:
    """As many as somebody wants or, if nobody says, as pay."""
    return LocalProcesses(wanted) if wanted else ProcessesThatPay(os.cpu_count() or 1)


def _end_with_parent() -> None:
    """In a worker: end when the parent is gone, however it went. Nobody is left who would want the results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        multiprocessing.connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def engine_named(text: str) -> Engine:
    """The engine that `local`, `local:2` or the name of a plugged-in one means."""
    name, _, rest = text.partition(":")
    if name == "local":
        return processes_on_this_machine(_processes(text, rest))
    plugged = {point.name: point for point in entry_points(group=GROUP)}
    if name not in plugged:
        known = ", ".join(["local:PROCESSES", *sorted(plugged)])
        raise BadInput.of("--on", f"{text}: no such engine; known: {known}")
    engine: Any = plugged[name].load()(rest)
    made: Engine = engine
    return made


def _processes(text: str, rest: str) -> int | None:
    if not rest:
        return None
    if not rest.isdecimal() or not 1 <= int(rest) <= 1024:
        raise BadInput.of("--on", f"{text}: say how many processes, as in local:2")
    return int(rest)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Only the main thread may set signals; elsewhere there is nothing to ignore."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
