"""A plain CSV of tasks as a workload: `job,submit_ms,duration_ms,vcores,memory_mb` and optional columns.

Whole columns at a time: a million rows take a second or two, and no row is touched by Python unless it is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.workload import AM, MOST_BYTES, NOT_RUNNING, Workload
from heddle.traces.assemble import DEFAULT_QUEUE, DEFAULT_STAGE, DEFAULT_USER, TaskTable, assemble
from heddle.traces.csv_columns import NOT_GIVEN, Columns, Numbers
from heddle.traces.cycles import find_cycles, in_words
from heddle.traces.problems import SHOWN_PER_KIND
from heddle.traces.starting_state import running_problems


def read_csv_tasks(path: Path) -> Workload:
    """Read and check the file; all its problems at once as BadInput."""
    if not path.is_file():
        raise BadInput.of(str(path), "no such file")
    columns = Columns(path)
    columns.problems.raise_if_any()  # grouping rows whose values are wrong would only add noise
    jobs = _group_jobs(columns)
    stages = _group_stages(columns, jobs)
    columns.problems.raise_if_any()
    edges = _edges(columns, jobs, stages)
    columns.problems.raise_if_any()
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    return _with_running(_assemble(name, columns, jobs, stages, edges), columns, jobs, stages)


@dataclass
class _Groups:
    """Rows that belong together (to a job, to a stage), numbered in canonical order."""

    of_row: Numbers  # group number of each row
    first_row: Numbers  # of each group

    def __len__(self) -> int:
        return len(self.first_row)

    def first_given(self, given: npt.NDArray[np.bool_]) -> Numbers:
        """The first row of each group that satisfies the mask; -1 where none does."""
        return _first_rows(self.of_row, len(self), np.flatnonzero(given))


def _first_rows(groups: Numbers, n_groups: int, rows: Numbers) -> Numbers:
    first = np.full(n_groups, -1, dtype=np.int64)
    first[groups[rows[::-1]]] = rows[::-1]  # of repeated indices the last assignment counts: the first row
    return first


def _codes(values: pl.Series) -> Numbers:
    """A number for each distinct text, from 0."""
    return values.rank("dense").cast(pl.Int64).to_numpy() - 1


def _group_jobs(columns: Columns) -> _Groups:
    """Jobs by submission, then by first row."""
    codes = _codes(columns.text["job"])
    first_row = _first_rows(codes, int(codes.max()) + 1, np.arange(len(codes)))
    order = np.lexsort((first_row, columns.numbers["submit_ms"][first_row]))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    jobs = _Groups(number[codes], first_row[order])
    submit = columns.numbers["submit_ms"]
    columns.report(submit != submit[jobs.first_row][jobs.of_row], "differs from an earlier row of the job", "submit_ms")
    for name in ("am_vcores", "am_memory_mb", "am_started_ms"):
        if name in columns.numbers:
            _must_agree(columns, jobs, name, columns.numbers[name], "job")
    for name in ("queue", "user", "am_node"):
        if name in columns.text:
            _must_agree(columns, jobs, name, _codes_or_none(columns.text[name]), "job")
    for one, other in (("am_vcores", "am_memory_mb"), ("used_vcores", "used_memory_mb")):
        _given_together(columns, one, other)
        _given_together(columns, other, one)
    for node, since in (("node", "started_ms"), ("am_node", "am_started_ms")):
        _given_together(columns, node, since)
        _given_together(columns, since, node)
    _given_together(columns, "am_node", "am_vcores")
    _given_together(columns, "input_mb", "input_node")
    return jobs


def _group_stages(columns: Columns, jobs: _Groups) -> _Groups:
    """Stages by job, then by first row."""
    names = columns.text.get("stage")
    codes = np.zeros(len(jobs.of_row), np.int64) if names is None else _codes(names.fill_null(DEFAULT_STAGE))
    _, group = np.unique(jobs.of_row * (int(codes.max()) + 1) + codes, return_inverse=True)
    first_row = _first_rows(group, int(group.max()) + 1, np.arange(len(group)))
    order = np.lexsort((first_row, jobs.of_row[first_row]))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    stages = _Groups(number[group], first_row[order])
    for name in ("vcores", "memory_mb"):
        _must_agree(columns, stages, name, columns.numbers[name], "stage")
    if "after" in columns.text:
        _must_agree(columns, stages, "after", _codes_or_none(columns.text["after"]), "stage")
    return stages


def _codes_or_none(values: pl.Series) -> Numbers:
    return values.rank("dense").cast(pl.Int64).fill_null(NOT_GIVEN).to_numpy()


def _must_agree(columns: Columns, groups: _Groups, name: str, values: Numbers, what: str) -> None:
    """Rows of one job or stage that give a value give the same one."""
    given = values != NOT_GIVEN
    reference = values[groups.first_given(given)][groups.of_row]
    columns.report(given & (values != reference), f"differs from an earlier row of the {what}", name)


def _given_together(columns: Columns, one: str, other: str) -> None:
    columns.report(_given(columns, one) & ~_given(columns, other), f"given without {other}", one)


def _given(columns: Columns, name: str) -> npt.NDArray[np.bool_]:
    """The rows that have a value in this column."""
    if name in columns.text:
        return columns.text[name].is_not_null().to_numpy()
    if name in columns.numbers:
        given: npt.NDArray[np.bool_] = columns.numbers[name] != NOT_GIVEN
        return given
    return np.full(len(columns.rows), False)


@dataclass
class _Edges:
    stage: Numbers  # waits
    before: Numbers  # for this one
    n_bytes: Numbers  # and reads so much from it, all its tasks together


def _stage_names(columns: Columns, stages: _Groups) -> pl.Series:
    names = columns.text.get("stage")
    if names is None:
        return pl.repeat(DEFAULT_STAGE, len(stages), dtype=pl.String, eager=True).alias("stage")
    return names.gather(stages.first_row).fill_null(DEFAULT_STAGE)


def _edges(columns: Columns, jobs: _Groups, stages: _Groups) -> _Edges:
    """The dependencies that `after` names, checked for unknown stages and cycles."""
    nothing = np.zeros(0, dtype=np.int64)
    if "after" not in columns.text:
        _bytes_of(columns, stages, nothing)
        return _Edges(nothing, nothing, nothing)
    row = stages.first_given(columns.text["after"].is_not_null().to_numpy())
    waiting = np.flatnonzero(row >= 0)
    job_of_stage = jobs.of_row[stages.first_row]
    wanted = (
        pl.DataFrame({"stage": waiting, "job": job_of_stage[waiting], "row": row[waiting]})
        .with_columns(columns.text["after"].gather(row[waiting]).str.replace_all(r"[;\s]+", ";").alias("name"))
        .with_columns(pl.col("name").str.split(";"))
        .explode("name")
        .filter(pl.col("name") != "")
        .unique(["stage", "name"], maintain_order=True)
    )
    names = _stage_names(columns, stages)
    known = pl.DataFrame({"job": job_of_stage, "name": names, "before": np.arange(len(stages))})
    found = wanted.join(known, on=["job", "name"], how="left", maintain_order="left")
    lost = found.filter(pl.col("before").is_null())
    for place, unknown in lost.select("row", "name").head(SHOWN_PER_KIND).rows():
        columns.problems.add(f'the job has no stage "{unknown}"', row=int(columns.rows[place]), field="after")
    if lost.height > SHOWN_PER_KIND:
        columns.problems.add(f"and {lost.height - SHOWN_PER_KIND} more unknown stages", field="after")
    found = found.filter(pl.col("before").is_not_null())
    stage = found["stage"].cast(pl.Int64).to_numpy()
    edges = _Edges(stage, found["before"].cast(pl.Int64).to_numpy(), _bytes_of(columns, stages, stage))
    cycles = find_cycles(edges.stage, edges.before, job_of_stage)
    for cycle in cycles[:SHOWN_PER_KIND]:
        job = columns.text["job"][int(stages.first_row[cycle[0]])]
        words = in_words([str(names[stage]) for stage in cycle])
        columns.problems.add(f"cycle in job {job}: {words}", row=int(columns.rows[row[cycle[0]]]), field="after")
    if len(cycles) > SHOWN_PER_KIND:
        columns.problems.add(f"and {len(cycles) - SHOWN_PER_KIND} more jobs with cycles", field="after")
    return edges


def _bytes_of(columns: Columns, stages: _Groups, edge_stage: Numbers) -> Numbers:
    """What `reads_mb` means for each dependency: what the tasks of a stage read, evenly from those it comes after."""
    reads = np.maximum(0, columns.numbers.get("reads_mb", np.zeros(len(columns.rows), np.int64)))
    total = np.bincount(stages.of_row, weights=reads, minlength=len(stages)).astype(np.int64)
    count = np.bincount(edge_stage, minlength=len(stages))
    alone = (reads > 0) & (count == 0)[stages.of_row]
    columns.report(alone, "the stage comes after nothing from which it could read", "reads_mb")
    for name, sizes in (("reads_mb", total[stages.of_row]), ("input_mb", columns.numbers.get("input_mb", reads * 0))):
        columns.report(sizes > MOST_BYTES, f"more than {MOST_BYTES // 10**6} MB in a stage or task", name)
    of_edge: Numbers = (total // np.maximum(1, count))[edge_stage]
    return of_edge


def _assemble(name: str, columns: Columns, jobs: _Groups, stages: _Groups, edges: _Edges) -> Workload:
    """The checked columns as the table that every format makes."""
    numbers, text = columns.numbers, columns.text
    frame: dict[str, Any] = {
        "job": text["job"],
        "submit_at_ms": numbers["submit_ms"],
        "duration_ms": numbers["duration_ms"],
        "memory_mb": numbers["memory_mb"],
        "vcores_milli": numbers["vcores"],
        "stage": _stage_names(columns, stages).gather(stages.of_row),
    }
    for prefix in ("used", "am"):
        if f"{prefix}_vcores" in numbers:
            for resource, column in (("memory_mb", "memory_mb"), ("vcores_milli", "vcores")):
                values = pl.Series(numbers[f"{prefix}_{column}"])
                frame[f"{prefix}_{resource}"] = values.set(values == NOT_GIVEN, None)
    for column, default in (("queue", DEFAULT_QUEUE), ("user", DEFAULT_USER)):
        if column in text:
            row = jobs.first_given(text[column].is_not_null().to_numpy())
            of_job = text[column].gather(np.maximum(row, 0)).set(pl.Series(row < 0), default)
            frame[column] = of_job.gather(jobs.of_row)
    if "input_node" in text:
        frame["prefers"] = text["input_node"]
    if "input_mb" in numbers:
        frame["input_bytes"] = np.maximum(0, numbers["input_mb"])
    names = _stage_names(columns, stages)
    job_of_stage = text["job"].gather(stages.first_row)
    after = {
        "job": job_of_stage.gather(edges.stage),
        "stage": names.gather(edges.stage),
        "before": names.gather(edges.before),
        "bytes": edges.n_bytes,
    }
    table = TaskTable(pl.DataFrame(frame), stage_after=pl.DataFrame(after), about={"source": "csv"})
    return assemble(name, table)


def _with_running(workload: Workload, columns: Columns, jobs: _Groups, stages: _Groups) -> Workload:
    """The workload with the containers that it begins with, and what is wrong with them by row."""
    if not {"node", "am_node"} & columns.text.keys():
        return workload
    is_am = np.repeat(workload.stages["kind"] == AM, workload.stages["n_tasks"])
    has_am = workload.jobs["has_am"] != 0
    am_row = jobs.first_given(_given(columns, "am_node"))
    am_row = np.where(am_row >= 0, am_row, jobs.first_row)[has_am]
    since = np.zeros(len(workload.tasks), np.int64)
    where = np.full(len(workload.tasks), None, dtype=object)
    row_of = np.zeros(len(workload.tasks), np.int64)
    by_stage = np.argsort(stages.of_row, kind="stable")  # rows in the order of their tasks
    for prefix, rows, tasks in (("", by_stage, np.flatnonzero(~is_am)), ("am_", am_row, np.flatnonzero(is_am))):
        row_of[tasks] = rows
        if f"{prefix}node" in columns.text:
            given = _given(columns, f"{prefix}node")[rows]
            where[tasks[given]] = columns.text[f"{prefix}node"].gather(rows[given]).to_numpy()
            since[tasks[given]] = -columns.numbers[f"{prefix}started_ms"][rows[given]]
    hosts = dict.fromkeys([*workload.hosts, *(name for name in where if name is not None)])
    names = {name: number for number, name in enumerate(hosts)}
    numbers = np.array([names.get(name, NOT_RUNNING) for name in where], np.int32)
    found = replace(workload, running_on=numbers, started_at_ms=since, hosts=tuple(names))
    for wrong, what in running_problems(found):
        at = np.zeros(len(columns.rows), bool)
        at[row_of[wrong]] = True
        columns.report(at, what, "node")
    columns.problems.raise_if_any()
    return found
