"""`--check` while a run goes on: everything that happens is looked at in order, and nothing of it is held for long.

The engine notes an attempt when it ends, but other rows depend on when it began. So whenever the log is drained, the
attempts under way are asked for, too: with them, all is known up to that instant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.happenings import in_order
from heddle.analysis.soundness.invariants import Invariants, sums_left
from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.run_blocks import AlignedBlocks
from heddle.sim import codes
from heddle.sim.blocks import BlockKeeper, JobsThen
from heddle.sim.memory.window import Numbers, Window
from heddle.sim.run import Ended, Keeper

Rows = npt.NDArray[Any]
_FEW: Final = 1 << 16  # rows: somebody who turns knobs drains the log at every tick


class Watch:
    """Takes a run's log (sim/run.py: Keeper) and looks for rules that the run broke."""

    def __init__(self, workload: Workload, cluster: Cluster, file: IO[bytes], first_jobs: Sequence[int] = (0,)) -> None:
        """`file`: an empty one, for what has to be looked at when the run is over."""
        self._workload, self._invariants = workload, Invariants(workload.shapes, cluster, first_jobs, file)
        self._numbers: Numbers | None = None
        self._log: list[Rows] = []
        self._attempts: list[Rows] = []
        self._since = 0  # of what happened to attempts, all before this place has been looked at
        self._gone: list[tuple[int, list[int]]] = []

    def keep_log(self, rows: Rows) -> None:
        self._log.append(rows)

    def keep_attempts(self, rows: Rows) -> None:
        self._attempts.append(rows)

    def drained(self, under_way: Callable[[], Rows]) -> None:
        if sum(map(len, (*self._log, *self._attempts))) >= _FEW:
            self.look([under_way()])

    def broken(self, ended: Ended) -> list[str]:
        """The run is over: what cannot be."""
        return self._broken(ended, [self._workload], self._workload.n_jobs if len(self._workload.job_after) else 0)

    def look(self, under_way: Sequence[Rows] = ()) -> None:
        """At all that was kept since the last time."""
        attempts = [*self._attempts, *under_way]
        if not attempts:
            return
        told = in_order(self._log, np.concatenate(attempts), self._workload, since=self._since, numbers=self._numbers)
        self._since = max(self._since, 1 + int(told["place"][told["task"] >= 0].max(initial=-1)))
        self._log, self._attempts = [], []
        self._invariants.add(told)

    def _broken(self, ended: Ended, blocks: Iterable[Workload], follow: int) -> list[str]:
        self.look()
        finished = ended.status == codes.FINISHED
        found = self._invariants.broken(blocks, ended.counts, finished=finished, follow=follow)
        return found + (sums_left(ended.sim.shown, self._gone) if finished else [])


class BlockWatch(Watch):
    """The same of a run over blocks (sim/blocks.py: BlockKeeper)."""

    def __init__(self, blocks: AlignedBlocks, about: Workload, cluster: Cluster, file: IO[bytes]) -> None:
        super().__init__(about, cluster, file, blocks.first_jobs)
        self._blocks = blocks

    def drained(self, under_way: Callable[[], Rows]) -> None:
        """At once: rows may mean something else soon."""
        self.look([under_way()])

    def turn_to(self, window: Window) -> None:
        self._workload, self._numbers = window.workload, window.numbers

    def keep_jobs(self, jobs: JobsThen) -> None:
        for row in np.flatnonzero(jobs.allocated.any(axis=1)):
            self._gone.append((int(jobs.number[row]), jobs.allocated[row].tolist()))

    def broken(self, ended: Ended) -> list[str]:
        facts = self._blocks.facts
        return self._broken(ended, self._blocks, facts.n_jobs if facts.has_job_dag else 0)


class Together:
    """Several who take the log of the same run."""

    def __init__(self, *keepers: Keeper) -> None:
        self._keepers = keepers

    def keep_log(self, rows: Rows) -> None:
        for keeper in self._keepers:
            keeper.keep_log(rows)

    def keep_attempts(self, rows: Rows) -> None:
        for keeper in self._keepers:
            keeper.keep_attempts(rows)

    def drained(self, under_way: Callable[[], Rows]) -> None:
        for keeper in self._keepers:
            keeper.drained(under_way)


class BlocksTogether(Together):
    """The same of a run over blocks."""

    def __init__(self, *keepers: BlockKeeper) -> None:
        super().__init__(*keepers)
        self._block_keepers = keepers

    def turn_to(self, window: Window) -> None:
        for keeper in self._block_keepers:
            keeper.turn_to(window)

    def keep_jobs(self, jobs: JobsThen) -> None:
        for keeper in self._block_keepers:
            keeper.keep_jobs(jobs)
