"""The record of a run that goes on: a thread beside the engine makes parts of what the engine has noted.

The engine is called without Python's lock, and encoding, compressing and hashing do without it, too. Copies of the log
belong to this side as soon as they are handed over; of the workload it reads what no run writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, Generic, Self, TypeVar

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

Piece = TypeVar("Piece", Rows, pl.DataFrame)


class LogParts:
    """Takes a run's log (sim/run.py: Keeper). What goes wrong on its side comes up at the next call."""

    most_behind: ClassVar = 4  # pieces of log and attempts, two of each; then the engine waits for the disk

    def __init__(self, folder: RecordFolder, log: LogTables) -> None:
        self.folder = folder
        self._attempts = Parts(lambda frame: folder.add_part("attempts", frame), log.attempts)
        self._events = Parts(lambda frame: folder.add_part("events", frame), log.events)
        self._thread = ThreadPoolExecutor(1, "heddle-record")
        self._under_way: deque[Future[None]] = deque()

    def keep_log(self, rows: Rows) -> None:
        self.hand_over(self._events.add, rows)

    def keep_attempts(self, rows: Rows) -> None:
        self.hand_over(self._attempts.add, rows)

    def drained(self, under_way: Callable[[], Rows]) -> None:
        """Attempts under way are written when they end."""

    def read_as(self, log: LogTables) -> None:
        """What is kept from now on means something else."""
        self.hand_over(self._events.read_by, log.events)
        self.hand_over(self._attempts.read_by, log.attempts)

    def hand_over(self, work: Callable[..., None], *given: Any) -> None:
        """To the thread, which does it after all that it was given before."""
        self._under_way.append(self._thread.submit(work, *given))
        self._wait(self.most_behind)

    def close(self) -> None:
        """The run is over: all that is left of its log is written."""
        self.hand_over(self._events.close)
        self.hand_over(self._attempts.close)
        self._wait(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _wait(self, most: int) -> None:
        while len(self._under_way) > most:
            self._under_way.popleft().result()


class LogStream(LogParts):
    """Of a run whose jobs are all in memory."""

    def __init__(self, folder: RecordFolder, workload: Workload, cluster: Cluster) -> None:
        super().__init__(folder, LogTables(workload, QueueTree.of(cluster, workload).names))
        self._workload, self._cluster = workload, cluster
        self._before: dict[str, pl.DataFrame] = {}
        self.hand_over(self._begin)

    def finish(self, ended: Ended) -> dict[str, pl.DataFrame]:
        """Returns the tables that are short enough to be in memory."""
        self.close()
        jobs = jobs_after(ended.sim.shown.job["state"], ended.sim.job_run, self._before.pop(SUBMITTED))
        self.folder.add_table("jobs", jobs)
        return self._before | {"jobs": jobs}

    def _begin(self) -> None:
        """What is known before the run comes first: a partial record rests on it."""
        self._before = tables_before(self._workload, self._cluster)
        for name, frame in self._before.items():
            self.folder.add_table(name, frame)


class Parts(Generic[Piece]):
    """Cuts rows that come in any number, in arrays or in frames, into parts."""

    def __init__(self, write: Callable[[pl.DataFrame], None], read: Callable[[list[Piece]], pl.DataFrame]) -> None:
        self._write = write
        self._read: Callable[[list[Piece]], pl.DataFrame] = read
        self._frames: list[pl.DataFrame] = []  # rows that have been read, then those that have not
        self._pieces: list[Piece] = []
        self._n_rows = 0
        self._n_parts = 0

    def add(self, rows: Piece) -> None:
        while self._n_rows + len(rows) >= parts.PART_ROWS:
            cut = parts.PART_ROWS - self._n_rows
            self._pieces.append(rows[:cut])
            self._flush()
            rows = rows[cut:]
        self._pieces.append(rows)
        self._n_rows += len(rows)

    def read_by(self, read: Callable[[list[Piece]], pl.DataFrame]) -> None:
        """Rows that come now mean something else."""
        if self._pieces:
            self._frames.append(self._read(self._pieces))
        self._pieces, self._read = [], read

    def close(self) -> None:
        """The last part, with fewer rows; a table without any has one part, too."""
        if self._n_rows or not self._n_parts:
            self._flush()

    def _flush(self) -> None:
        frames = [*self._frames, self._read(self._pieces)]
        self._write(frames[0] if len(frames) == 1 else pl.concat(frames))
        self._frames, self._pieces, self._n_rows, self._n_parts = [], [], 0, self._n_parts + 1
