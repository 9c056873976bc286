"""The record of a run that goes on: a thread beside the engine makes parts of what the engine has noted.

The engine is called without Python's lock, and encoding, compressing and hashing do without it, too. Copies of the log
belong to this side as soon as they are handed over; of the workload it reads what no run writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Self

import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.record import parts
from heddle.record.schema import SUBMITTED
from heddle.record.writing import RecordFolder
from heddle.run_log import LogTables
from heddle.run_record import jobs_after, tables_before
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import Ended, Rows

_MOST_BEHIND: Final = 4  # pieces of log and attempts, two of each; then the engine waits for the disk


class LogStream:
    """Takes a run's log (sim/run.py: Keeper). What goes wrong on its side comes up at the next call."""

    def __init__(self, folder: RecordFolder, workload: Workload, cluster: Cluster) -> None:
        self._folder, self._workload, self._cluster = folder, workload, cluster
        self._log = LogTables(workload, QueueTree.of(cluster, workload).names)
        self._attempts = _Parts(lambda pieces: folder.add_part("attempts", self._log.attempts(pieces)))
        self._events = _Parts(lambda pieces: folder.add_part("events", self._log.events(pieces)))
        self._thread = ThreadPoolExecutor(1, "heddle-record")
        self._under_way: deque[Future[None]] = deque()
        self._before: dict[str, pl.DataFrame] = {}
        self._hand_over(self._begin)

    def keep_log(self, rows: Rows) -> None:
        self._hand_over(self._events.add, rows)

    def keep_attempts(self, rows: Rows) -> None:
        self._hand_over(self._attempts.add, rows)

    def finish(self, ended: Ended) -> dict[str, pl.DataFrame]:
        """The run is over: writes all that is left. Returns the tables that are short enough to be in memory."""
        self._hand_over(self._events.close)
        self._hand_over(self._attempts.close)
        self._wait(0)
        jobs = jobs_after(ended.sim, self._before.pop(SUBMITTED))
        self._folder.add_table("jobs", jobs)
        return self._before | {"jobs": jobs}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _begin(self) -> None:
        """What is known before the run comes first: a partial record rests on it."""
        self._before = tables_before(self._workload, self._cluster)
        for name, frame in self._before.items():
            self._folder.add_table(name, frame)

    def _hand_over(self, work: Callable[..., None], *rows: Rows) -> None:
        self._under_way.append(self._thread.submit(work, *rows))
        self._wait(_MOST_BEHIND)

    def _wait(self, most: int) -> None:
        while len(self._under_way) > most:
            self._under_way.popleft().result()


class _Parts:
    """Cuts rows that come in any number into parts."""

    def __init__(self, write: Callable[[list[Rows]], None]) -> None:
        self._write = write
        self._pieces: list[Rows] = []
        self._n_rows = 0
        self._n_parts = 0

    def add(self, rows: Rows) -> None:
        while self._n_rows + len(rows) >= parts.PART_ROWS:
            cut = parts.PART_ROWS - self._n_rows
            self._pieces.append(rows[:cut])
            self._flush()
            rows = rows[cut:]
        self._pieces.append(rows)
        self._n_rows += len(rows)

    def close(self) -> None:
        """The last part, with fewer rows; a table without any has one part, too."""
        if self._n_rows or not self._n_parts:
            self._flush()

    def _flush(self) -> None:
        self._write(self._pieces)
        self._pieces, self._n_rows, self._n_parts = [], 0, self._n_parts + 1
