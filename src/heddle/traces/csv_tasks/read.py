"""A CSV of tasks: `job,submit_ms,duration_ms,vcores,memory_mb` and optional columns (docs/formats.md).

Whole columns at a time: no row is touched by Python unless it is wrong or oddly quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.traces.assemble import TaskTable, assemble, assemble_with_rows
from heddle.traces.csv_tasks.agreement import check_agreement, check_submissions, first_given
from heddle.traces.csv_tasks.columns import COLUMNS
from heddle.traces.csv_tasks.dependencies import dependencies
from heddle.traces.csv_tasks.values import read_values
from heddle.traces.csv_tasks.verdicts import Refusing, Verdicts
from heddle.traces.imports.columns import ROW
from heddle.traces.imports.source import Source
from heddle.traces.starting_state import running_problems


@dataclass(frozen=True)
class CsvTasks:
    """The rows of a file that can be used, in heddle's columns and units, and which stage comes after which."""

    rows: pl.DataFrame
    after: pl.DataFrame

    def of_jobs_in(self, prefix: str) -> CsvTasks:
        """With this in front of the names of jobs, so that those of several files stay apart."""
        renamed = (prefix + pl.col("job")).alias("job")
        return CsvTasks(self.rows.with_columns(renamed), self.after.with_columns(renamed))

    def table(self, about: dict[str, Any]) -> TaskTable:
        """As the table that every format makes."""
        frame = self.rows
        of_job = [first_given(frame, name) for name in ("queue", "user") if name in frame.columns]
        frame = _with_whole_use(frame)
        columns = {column.becomes: column.name for column in COLUMNS if column.becomes and column.name in frame.columns}
        tasks = frame.with_columns(of_job).select(**{ours: pl.col(name) for ours, name in columns.items()})
        return TaskTable(tasks, stage_after=self.after, about=about)


def read_csv_tasks(path: Path) -> Workload:
    """The file as a workload; all its problems at once as BadInput."""
    if not path.is_file():
        raise BadInput.of(str(path), "no such file")
    source = Source(str(path), str(path))
    tasks = read_tasks(source, Refusing(source))
    if not tasks.rows.height:
        raise BadInput.of(str(path), "only a header: there are no tasks")
    about: dict[str, Any] = {"source": "csv"}
    if source.remarks:
        about["remarks"] = list(source.remarks)
    return assemble(source.stem, tasks.table(about))


def joined(parts: Sequence[CsvTasks]) -> CsvTasks:
    """Several files as one."""
    return CsvTasks(
        pl.concat([part.rows for part in parts], how="diagonal_relaxed"), pl.concat([part.after for part in parts])
    )


def read_tasks(source: Source, verdicts: Verdicts, theirs: Mapping[str, str] | None = None) -> CsvTasks:
    """Read and check one file; `theirs` says which of heddle's columns have another name in it."""
    frame = read_values(source, verdicts, theirs or {})
    check_submissions(frame, verdicts)
    while True:  # rows that are set aside may be what others rest on
        check_agreement(frame, verdicts)
        left = verdicts.settle(frame)
        if left.height == frame.height:
            tasks = CsvTasks(frame, dependencies(frame, verdicts))
            left = verdicts.settle(frame)
            if left.height == frame.height:
                _check_running(tasks, verdicts)
                left = verdicts.settle(frame)
                if left.height == frame.height:
                    return tasks
        frame = left


def _with_whole_use(frame: pl.DataFrame) -> pl.DataFrame:
    """A task whose use of only one resource is known uses what it reserves of the other."""
    known = [name for name in ("used_memory_mb", "used_vcores") if name in frame.columns]
    if not known:
        return frame
    any_known = pl.any_horizontal(pl.col(name).is_not_null() for name in known)
    whole = {}
    for name in ("used_memory_mb", "used_vcores"):
        reserved = pl.when(any_known).then(pl.col(name.removeprefix("used_")))
        whole[name] = pl.coalesce(pl.col(name), reserved) if name in known else reserved
    return frame.with_columns(**whole)


def _check_running(tasks: CsvTasks, verdicts: Verdicts) -> None:
    """What is wrong with the containers that the workload begins with, by row."""
    frame = tasks.rows
    if not frame.height or not {"node", "am_node"} & set(frame.columns):
        return
    workload, row_of = assemble_with_rows("csv", tasks.table({}))
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    is_am = row_of < 0
    row_of[is_am] = _rows_of_masters(frame).gather(workload.stages["job"][stage[is_am]]).to_numpy()
    numbers = frame[ROW].to_numpy()
    for wrong, what in running_problems(workload):
        verdicts.reject(np.unique(numbers[row_of[wrong]]), what, "node")


def _rows_of_masters(frame: pl.DataFrame) -> pl.Series:
    """For each job, in canonical order, the place of the row that says where its AM runs, or of its first one."""
    silent = pl.col("am_node").is_null() if "am_node" in frame.columns else pl.lit(True)
    jobs = (
        frame.with_row_index("at")
        .group_by("job", maintain_order=True)
        .agg(pl.col("submit_ms").min(), pl.col("at").sort_by(silent, maintain_order=True).first())
    )
    return jobs.sort("submit_ms", maintain_order=True)["at"]
