"""One run over jobs that come in blocks: what is in memory at a time is bounded, and so is what is done about it.

The workload is read three times: to learn what is bounded by its kinds, to write down its jobs and stages, and as the
clock comes to them. What comes of jobs goes to a file, because jobs do not end in the order of their numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any, Final

import numpy as np
import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, RunRefused
from heddle.model.workload import Workload
from heddle.record import parts
from heddle.record.schema import SUBMITTED
from heddle.record.writing import RecordFolder
from heddle.run_log import LogTables
from heddle.run_record import jobs_after, tables_of_jobs, tables_without_jobs
from heddle.run_stream import LogParts, Parts
from heddle.sim.blocks import JobsThen
from heddle.sim.memory.facts import Facts, Gathered
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.window import Window
from heddle.traces.align import in_resources_of
from heddle.traces.blocks import JobBlocks
from heddle.traces.check import check_fits

_CAME_OF: Final = np.dtype(
    [("am_started_at_ms", np.int64), ("started_at_ms", np.int64), ("ended_at_ms", np.int64), ("state", np.int8)]
)
_NOT_YET: Final = np.array((-1, -1, -1, 0), _CAME_OF)


class AlignedBlocks:
    """Blocks in the resources of a cluster, with what the engine must know of all of them (sim: Blocks)."""

    def __init__(self, source: JobBlocks, cluster: Cluster) -> None:
        """BadInput where the workload does not fit the cluster, RunRefused where it cannot be run in blocks."""
        self._source, self._cluster = source, cluster
        gathered = Gathered()
        self.first_jobs: list[int] = []  # of each block
        for block in source:
            self.first_jobs.append(gathered.n_jobs)
            if problems := check_fits(block, cluster):
                raise BadInput(problems)
            if block.running_on is not None:
                raise RunRefused("a workload with containers that are there from the start is not run in blocks")
            if len(block.job_after) and int(block.job_after.max()) >= gathered.n_jobs + block.n_jobs:
                raise RunRefused("a job comes after one that is submitted later: such workloads are not run in blocks")
            gathered.add(block)
        self.facts: Facts = gathered.facts()
        self._left = iter(self)

    def __iter__(self) -> Iterator[Workload]:
        return (in_resources_of(block, self._cluster) for block in self._source)

    def next_block(self) -> Workload | None:
        return next(self._left, None)


class BlockStream(LogParts):
    """The record of such a run (sim/blocks.py: BlockKeeper)."""

    most_behind = 1  # memory counts for more here than a moment's wait

    def __init__(self, folder: RecordFolder, blocks: AlignedBlocks, about: Workload, cluster: Cluster) -> None:
        self._queues = QueueTree.of(cluster, about).names
        super().__init__(folder, LogTables(about, self._queues))
        self._write_before(blocks, about, cluster)
        self._came_of: IO[bytes] = tempfile.TemporaryFile(dir=folder.place)  # noqa: SIM115, gone when it is closed
        self._n_jobs = blocks.facts.n_jobs
        for first in range(0, self._n_jobs, parts.PART_ROWS):
            self._came_of.write(np.repeat(_NOT_YET, min(parts.PART_ROWS, self._n_jobs - first)).tobytes())

    def turn_to(self, window: Window) -> None:
        self.read_as(LogTables(window.workload, self._queues, window.numbers))

    def keep_jobs(self, jobs: JobsThen) -> None:
        self.hand_over(self._note, jobs)

    def finish(self) -> None:
        """The run is over: writes the table of jobs, and all that is left."""
        self.close()
        cut = Parts(lambda frame: self.folder.add_part("jobs", frame), _together)
        first = 0
        for file in self.folder.part_files(SUBMITTED):
            before = pl.read_parquet(file)
            came_of = self._rows(first, before.height)
            cut.add(jobs_after(came_of["state"], came_of, before))
            first += before.height
        cut.close()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._came_of.close()

    def _write_before(self, blocks: AlignedBlocks, about: Workload, cluster: Cluster) -> None:
        """In the order in which the record of a run whose jobs are all in memory has them: so is its journal's."""
        stages = Parts(lambda frame: self.folder.add_part("stages", frame), _together)
        submitted = Parts(lambda frame: self.folder.add_part(SUBMITTED, frame), _together)
        first_job, first_stage = 0, 0
        for block in blocks:
            found = tables_of_jobs(block, cluster, first_job, first_stage)
            submitted.add(found[SUBMITTED])
            stages.add(found["stages"])
            first_job, first_stage = first_job + block.n_jobs, first_stage + len(block.stages)
        submitted.close()
        for name, frame in tables_without_jobs(about, cluster).items():
            self.folder.add_table(name, frame)
        stages.close()

    def _note(self, jobs: JobsThen) -> None:
        """Where their numbers are: stretches of neighbours at once."""
        rows = np.empty(len(jobs.number), _CAME_OF)
        for name in ("am_started_at_ms", "started_at_ms", "ended_at_ms"):
            rows[name] = jobs.ran[name]
        rows["state"] = jobs.state
        begins = np.flatnonzero(np.diff(jobs.number, prepend=-2) != 1)
        for begin, end in pairwise([*begins.tolist(), len(rows)]):
            self._came_of.seek(int(jobs.number[begin]) * _CAME_OF.itemsize)
            self._came_of.write(rows[begin:end].tobytes())

    def _rows(self, first: int, count: int) -> Any:
        self._came_of.seek(first * _CAME_OF.itemsize)
        return np.frombuffer(self._came_of.read(count * _CAME_OF.itemsize), _CAME_OF)


def _together(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return frames[0] if len(frames) == 1 else pl.concat(frames)
