"""Where runs are computed: the place into which another engine plugs.

A run is a pure function of its configuration, both of which can be pickled, so that it does not matter where it is
computed. An *engine* takes such a function and many configurations and gives the results back as they come. `local:2`
is two processes on this machine, `local` one for each core where that pays. A package adds another by an entry point of
the group `heddle.engines`: a function that takes what stands behind the colon and returns an Engine.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from heddle.model.errors import BadInput, RunRefused

C = TypeVar("C")
R = TypeVar("R")

GROUP = "heddle.engines"
WORKER_START_S = 1.5  # until a worker has loaded the compiled engine (docs/performance.md)
LOADING_S = 1.0  # of that, what a process that runs already has yet to do before its first run


class Engine(Protocol):
    """Computes one function for many configurations."""

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R]]:
        """Every result with the position of its configuration, as they come. The first error ends it all."""
        ...


@dataclass(frozen=True)
class LocalProcesses:
    """A pool of processes on this machine; with one, everything happens in this process."""

    processes: int

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R]]:
        if self.processes <= 1 or len(configurations) <= 1:
            for number, one in enumerate(configurations):
                yield number, function(one)
            return
        # Spawned, not forked: compiled code and threads of the parent do not survive a fork.
        workers = min(self.processes, len(configurations))
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_parent)
        others = set(multiprocessing.active_children())
        try:
            with _interrupts_ignored():  # workers inherit this: after Ctrl-C the parent decides, and says it
                numbers = {pool.submit(function, one): number for number, one in enumerate(configurations)}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BrokenProcessPool as error:
            raise RunRefused(
                "a worker process ended; if it did not say why, perhaps for want of memory: try --jobs 1 (--on local:1)"
            ) from error
        except BaseException:  # Ctrl-C above all: nobody wants what the workers still do
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class ProcessesThatPay:
    """So many processes as soon as what is left to do is worth their start; until then this one alone."""

    processes: int

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R]]:
        each_s = 0.0  # what a further one is expected to take, at least
        for number, one in enumerate(configurations):
            left = len(configurations) - number
            if left * each_s * (1 - 1 / self.processes) > WORKER_START_S:
                for later, result in LocalProcesses(self.processes).run(function, configurations[number:]):
                    yield number + later, result
                return
            began = time.perf_counter()
            result = function(one)
            took_s = time.perf_counter() - began
            # The first one has loaded the compiled engine, which the others find loaded.
            each_s = max(0.0, took_s - LOADING_S) if number == 0 else min(took_s, each_s or took_s)
            yield number, result


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
def _interrupts_ignored() -> Iterator[None]:
    """Only the main thread may set signals; elsewhere there is nothing to ignore."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
