"""Policies against each other: the same workloads, clusters and seeds for all, in parallel processes."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from heddle.analysis.compare import ComparedRun
from heddle.model.cluster import Cluster
from heddle.model.errors import RunRefused
from heddle.model.workload import Workload
from heddle.run import Executor, simulate
from heddle.traces.load import load_workload


@dataclass(frozen=True)
class PlannedRun:
    """One run of a comparison, small enough to be sent to another process."""

    workload: str
    cluster: Cluster
    policy: str
    seed: int
    complete: bool  # keep every attempt: curves over time are then exact
    executor: Executor


@lru_cache(maxsize=1)
def _workload(text: str, seed: int) -> Workload:
    return load_workload(text, seed)


def run_one(planned: PlannedRun) -> ComparedRun:
    """The metrics and curves of one run; its large tables are gone afterwards."""
    workload = _workload(planned.workload, planned.seed)
    run = simulate(
        workload,
        planned.cluster,
        planned.policy,
        seed=planned.seed,
        record=planned.complete,
        executor=planned.executor,
    )
    return ComparedRun.of(run)


def run_all(planned: Sequence[PlannedRun], processes: int) -> Iterator[tuple[int, ComparedRun]]:
    """Every run with its position in `planned`, as they end. The first error ends it all."""
    if processes <= 1 or len(planned) == 1:
        for number, one in enumerate(planned):
            yield number, run_one(one)
        return
    # Spawned, not forked: compiled code and threads of the parent do not survive a fork.
    pool = ProcessPoolExecutor(min(processes, len(planned)), multiprocessing.get_context("spawn"))
    others = set(multiprocessing.active_children())
    try:
        with (
            _interrupts_ignored()
        ):  # workers inherit this: after Ctrl-C the parent decides, and says what is to be said
            numbers = {pool.submit(run_one, one): number for number, one in enumerate(planned)}
        for future in as_completed(numbers):
            yield numbers[future], future.result()
    except BrokenProcessPool as error:
        raise RunRefused("a worker process was killed, perhaps for want of memory: try fewer with --jobs") from error
    except BaseException:  # Ctrl-C above all: nobody wants what the workers still do
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
