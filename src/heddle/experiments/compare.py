"""Policies against each other: the same workloads, clusters and seeds for all, in parallel processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache

from heddle.analysis.compare import ComparedRun
from heddle.model.cluster import Cluster
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
    pool = ProcessPoolExecutor(
        min(processes, len(planned)), multiprocessing.get_context("spawn"), initializer=_die_of_interrupts
    )
    try:
        numbers = {pool.submit(run_one, one): number for number, one in enumerate(planned)}
        for future in as_completed(numbers):
            yield numbers[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _die_of_interrupts() -> None:
    """Ctrl-C reaches the workers too: they end without a word, the parent says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
