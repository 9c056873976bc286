"""heddle's Parquet format, read block by block: of each section only the row groups in which a block lies are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from heddle.model.errors import BadInput
from heddle.model.profiles import segments_of
from heddle.model.some_jobs import new_rows
from heddle.model.workload import JOB, NO_SEGMENTS, STAGE, TASK, Workload, segment_dtype
from heddle.traces.blocks import BLOCK_TASKS, length_of_block
from heddle.traces.check import check_column, check_names, check_relations, limits_of
from heddle.traces.identity import ROWS_AT_ONCE, Pieces, hash_of_columns
from heddle.traces.parquet_header import Header, opened
from heddle.traces.parquet_layout import Arrays
from heddle.traces.parquet_rows import SectionRows, row_groups_of
from heddle.traces.problems import Problems

Array = npt.NDArray[Any]

_JOBS_AT_ONCE: Final = 1 << 10  # read ahead to find the end of a block, then twice as many
MOST_SHARED: Final = 1 << 20  # segments that are held in memory where tasks share them


class ParquetBlocks:
    """A workload in a file that `write_parquet` wrote."""

    def __init__(self, path: Path, tasks: int = BLOCK_TASKS) -> None:
        self._path, self._tasks = path, tasks
        with opened(path) as (_, header):
            self._header = header
        self.about = header.without_jobs()

    def __iter__(self) -> Iterator[Workload]:
        problems = Problems(str(self._path))
        check_names(self.about, problems, n_jobs=self._header.lengths["job"])
        with opened(self._path) as (file, header):
            reader = _Reader(file, header, problems)
            while reader.jobs_left:
                yield reader.block(self._tasks)
                pa.default_memory_pool().release_unused()  # it would keep what row groups took

    def hash(self) -> str:
        """As workload_hash(): each column is read once, from its first to its last row."""
        with opened(self._path) as (file, header):
            columns = _Columns(file, header)
            return hash_of_columns(self.about, columns.in_order(), [columns.names("job"), columns.names("stage")])


class _Reader:
    """Goes through a file once."""

    def __init__(self, file: pq.ParquetFile, header: Header, problems: Problems) -> None:
        self._header, self._problems = header, problems
        self._allowed = limits_of(header.without_jobs(), header.lengths)
        self._sections = {
            name: SectionRows(file, groups, header.columns_of(name), header.constants)
            for name, groups in row_groups_of(file, header).items()
        }
        self.jobs_left = header.lengths["job"]
        self._stages = 0  # so far
        self._last_submit_ms = 0
        self._segments = _Segments(self._sections["segment"], header)

    def block(self, tasks: int) -> Workload:
        """The next jobs, with about so many tasks."""
        jobs, stages = self._sections["job"], self._sections["stage"]
        n_jobs, looked_at = 0, _JOBS_AT_ONCE
        while n_jobs == 0:
            looked_at = min(looked_at, self.jobs_left)
            n_stages = jobs.peek("job.n_stages", looked_at)
            n_tasks = stages.peek("stage.n_tasks", int(n_stages.sum())).astype(np.int64)
            of_job = np.add.reduceat(np.append(n_tasks, 0), np.cumsum(n_stages) - n_stages)
            length = length_of_block(jobs.peek("job.submit_at_ms", looked_at), of_job, tasks)
            n_jobs = length if length < looked_at or looked_at == self.jobs_left else 0
            looked_at *= 2
        return self._read(n_jobs)

    def _read(self, n_jobs: int) -> Workload:
        jobs = self._sections["job"].take(n_jobs)
        n_stages = int(jobs["job.n_stages"].sum())
        stages = self._sections["stage"].take(n_stages)
        lengths = {
            "job": n_jobs,
            "stage": n_stages,
            "task": int(stages["stage.n_tasks"].sum()),
            "segment": 0,
            "stage_after": int(stages["stage.n_after"].sum()),
            "job_after": int(jobs["job.n_after"].sum()),
        }
        read = {"job": jobs, "stage": stages}
        read |= {name: self._sections[name].take(lengths[name]) for name in ("task", "stage_after", "job_after")}
        arrays = self._header.arrays(lengths)
        for section, columns in arrays.columns(self._header.resources).items():
            for name, column in columns.items():
                if section != "segment":
                    check_column(name, read[section][name], self._allowed, self._problems)
                    column[:] = read[section][name]
        self._problems.raise_if_any()
        arrays.derive()
        arrays.stage_after -= np.int32(self._stages)
        arrays.segments = self._segments.of(arrays.tasks)
        first_job = self._header.lengths["job"] - self.jobs_left
        self._check_order(arrays, first_job)
        self.jobs_left -= n_jobs
        self._stages += n_stages
        block = self._header.workload(arrays, jobs.get("job.name"), stages.get("stage.name"))
        alone = block.jobs.copy()
        alone["n_after"] = 0
        check_relations(dataclasses.replace(block, jobs=alone, job_after=arrays.job_after[:0]), self._problems)
        self._problems.raise_if_any()
        return block

    def _check_order(self, arrays: Arrays, first_job: int) -> None:
        submit = arrays.jobs["submit_at_ms"]
        if submit[0] < self._last_submit_ms:
            self._problems.add(f"job {first_job} is submitted before the job in front of it", field="job.submit_at_ms")
        self._last_submit_ms = int(submit[-1])
        waits = first_job + np.repeat(np.arange(len(submit)), arrays.jobs["n_after"])
        early = waits[arrays.job_after >= waits]
        if len(early):
            what = f"job {early[0]} comes after a job with a larger number: such workloads are not read in blocks"
            self._problems.add(what, field="job_after")
        if ((arrays.stage_after < 0) | (arrays.stage_after >= len(arrays.stages))).any():
            self._problems.add("waits for a stage of another job", field="stage_after")


class _Segments:
    """Levels of use: in the order of tasks, or shared between them and then held in memory."""

    def __init__(self, rows: SectionRows, header: Header) -> None:
        self._rows, self._header, self._first = rows, header, 0  # the segment where `rows` stands
        n_segments = header.lengths["segment"]
        self._all = self._read(n_segments) if n_segments <= MOST_SHARED else None

    def of(self, tasks: Array) -> Array:
        """Those of the tasks, whose first_segment is made to point into them."""
        first = tasks["first_segment"]
        known = first[first != NO_SEGMENTS]
        segments = self._all
        if segments is None:
            segments = self._between(known)
            first[first != NO_SEGMENTS] -= self._first
            known = first[first != NO_SEGMENTS]
        keep = segments_of(segments, known)
        first[first != NO_SEGMENTS] = new_rows(keep)[known]
        chosen: Array = segments[keep]
        return chosen

    def _between(self, known: Array) -> Array:
        """From the first of these to the end of the use of the last."""
        if not len(known):
            return np.zeros(0, segment_dtype(len(self._header.resources)))
        if (np.diff(known) < 0).any() or known[0] < self._first:
            raise BadInput.of(
                str(self._header.where), "the use of its tasks is not in their order, and is too much to be held"
            )
        self._rows.skip(int(known[0]) - self._first)
        self._first = int(known[0])
        wanted = int(known[-1]) + 1 - self._first
        last = self._rows.peek("segment.last", wanted)[int(known[-1]) - self._first :]
        while not last.any():
            if len(last) < wanted - (int(known[-1]) - self._first):
                raise ValueError("the last level of a use does not end")
            wanted += ROWS_AT_ONCE
            last = self._rows.peek("segment.last", wanted)[int(known[-1]) - self._first :]
        n_rows = int(known[-1]) - self._first + int(np.argmax(last)) + 1
        return self._filled(self._rows.peek_all(n_rows), n_rows)

    def _read(self, n_rows: int) -> Array:
        return self._filled(self._rows.take(n_rows), n_rows)

    def _filled(self, columns: dict[str, Any], n_rows: int) -> Array:
        segments = np.zeros(n_rows, segment_dtype(len(self._header.resources)))
        for name in ("until_permyriad", "last"):
            segments[name] = columns[f"segment.{name}"]
        for r, resource in enumerate(self._header.resources):
            segments["use"][:, r] = columns[f"segment.use.{resource}"]
        return segments


class _Columns:
    """One column after another, in the order of workload_hash()."""

    def __init__(self, file: pq.ParquetFile, header: Header) -> None:
        self._file, self._header, self._groups = file, header, row_groups_of(file, header)

    def in_order(self) -> Iterator[Pieces | None]:
        header, lengths = self._header, self._header.lengths
        derived = {
            "job.first_stage": "job.n_stages",
            "job.first_after": "job.n_after",
            "stage.first_task": "stage.n_tasks",
            "stage.first_after": "stage.n_after",
        }
        for section, dtype in (("job", JOB), ("stage", STAGE), ("task", TASK)):
            for field in dtype.names or ():
                name, kind = f"{section}.{field}", dtype[field]
                content = self._column(section, name, kind)
                if name in derived:
                    content = self._starts(section, derived[name], kind)
                elif name == "stage.job":
                    content = self._owners(kind)
                yield Pieces((lengths[section],), kind, content)
        of_segment = segment_dtype(len(header.resources))
        for field in of_segment.names or ():
            if field == "use":
                shape = (lengths["segment"], len(header.resources))
                yield Pieces(shape, np.dtype(np.int64), self._uses())
            else:
                yield self._plain("segment", f"segment.{field}", of_segment[field])
        yield Pieces(header.shapes.shape, header.shapes.dtype, [header.shapes])
        i32, i64 = np.dtype(np.int32), np.dtype(np.int64)
        yield self._plain("stage_after", "stage_after", i32)
        yield self._plain("job_after", "job_after", i32)
        yield self._plain("task", "task.prefers", i32) if header.has("prefers") else None
        for there, section, name, kind in (
            ("running", "task", "task.running_on", i32),
            ("running", "task", "task.started_at_ms", i64),
            ("edge_bytes", "stage_after", "stage_after.bytes", i64),
            ("input_bytes", "task", "task.input_bytes", i64),
        ):
            if header.has(there):
                yield self._plain(section, name, kind)

    def names(self, section: str) -> tuple[int, Iterator[pl.Series]] | None:
        name, length = f"{section}.name", self._header.lengths[section]
        if name not in self._file.schema_arrow.names:
            return None
        rows = SectionRows(self._file, self._groups[section], [name], {})
        return length, (pl.Series(rows.take(n)[name]) for n in _cut(length))

    def _plain(self, section: str, name: str, kind: np.dtype[Any]) -> Pieces:
        return Pieces((self._header.lengths[section],), kind, self._column(section, name, kind))

    def _column(self, section: str, name: str, kind: np.dtype[Any]) -> Iterator[Array]:
        rows = SectionRows(self._file, self._groups[section], [name], self._header.constants)
        return (rows.take(n)[name].astype(kind) for n in _cut(self._header.lengths[section]))

    def _starts(self, section: str, counts: str, kind: np.dtype[Any]) -> Iterator[Array]:
        before = 0
        for piece in self._column(section, counts, np.dtype(np.int64)):
            yield (before + np.cumsum(piece) - piece).astype(kind)
            before += int(piece.sum())

    def _owners(self, kind: np.dtype[Any]) -> Iterator[Array]:
        before = 0
        for piece in self._column("job", "job.n_stages", np.dtype(np.int64)):
            yield np.repeat(np.arange(before, before + len(piece)), piece).astype(kind)
            before += len(piece)

    def _uses(self) -> Iterator[Array]:
        names = [f"segment.use.{resource}" for resource in self._header.resources]
        rows = SectionRows(self._file, self._groups["segment"], names, self._header.constants)
        for n in _cut(self._header.lengths["segment"]):
            taken = rows.take(n)
            yield np.stack([taken[name].astype(np.int64) for name in names], axis=1)


def _cut(length: int) -> Sequence[int]:
    return [min(ROWS_AT_ONCE, length - start) for start in range(0, length, ROWS_AT_ONCE)]
