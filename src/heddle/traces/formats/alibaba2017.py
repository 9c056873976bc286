"""Alibaba's batch tasks of 2017, and mean instance durations joined to them (docs/traces/alibaba2017.md)."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.source import Head, Source

_TASKS: Final = {  # ours -> the file's
    "create_s": "task_create_time",
    "end_s": "task_end_time",
    "job": "job_id",
    "task": "task_id",
    "count": "number_of_instances",
    "status": "status",
    "cpu": "number_of_cpus_requested_per_instance_in_the_task",
    "memory": "normalized_memory_requested_per_instance_in_the_task",
}
_DURATIONS: Final = ("submit_time", "duration", "cpu", "memory", "job_id", "task_id", "instances_num")
_MOST: Final = 1_000_000  # instances of one task


def _role(head: Head) -> str | None:
    names = {name.strip() for name in head.first.split(",")}
    if set(_TASKS.values()) <= names:
        return "tasks"
    return "durations" if set(_DURATIONS) <= names else None


def _read(files: Files, given: Given) -> Imported:
    known = [_durations(source) for source in files.get("durations", [])]
    durations = pl.concat(known) if known else None
    notes = [f"memory is a share of the largest machine, taken as {given.assumed['machine_memory_mb']:g} MB"]
    if "tasks" not in files:
        if durations is None:
            raise BadInput.of("alibaba2017", "neither tasks nor durations are among the files")
        tasks = _from_durations(files["durations"], durations, given)
    else:
        tasks = pl.concat([_tasks(source, durations, given, notes) for source in files["tasks"]])
        for source in files.get("durations", []):
            source.rows.merged(source.rows.undecided(), "the task that they give a duration")
    if not tasks.height:
        raise BadInput.of("alibaba2017", "no usable task in these files")
    notes.append("the tasks of a job have no order between them, and count from the creation of the job's first")
    return Imported(assemble("alibaba2017", TaskTable(tasks, about=about("alibaba2017", files, given))), notes=notes)


def _durations(source: Source) -> pl.DataFrame:
    rows = read_header_table(source, _DURATIONS).select(
        "row",
        job=whole("job_id"),
        task=whole("task_id"),
        create_s=whole("submit_time"),
        mean_s=number("duration"),
        cpu=number("cpu"),
        memory=number("memory"),
        count=whole("instances_num"),
    )
    wrong = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) < 0) for name in rows.columns)
    rows = set_aside_where(source, rows, wrong, "a number is missing or negative")
    first = pl.struct("job", "task").is_first_distinct()
    rows = set_aside_where(source, rows, ~first, "a task that occurred before")
    return set_aside_where(
        source,
        rows,
        ~pl.col("count").is_between(1, _MOST)
        | (pl.col("mean_s") > 1e9)
        | (pl.col("memory") > 1e3)
        | (pl.col("cpu") > 1e6),
        "an absurd number",
    )


def _from_durations(sources: list[Source], rows: pl.DataFrame, given: Given) -> pl.DataFrame:
    for source in sources:
        source.rows.tasks(source.rows.undecided())
    return _made(rows.with_columns(duration_s=pl.col("mean_s"), cores=pl.col("cpu")), given)


def _tasks(source: Source, durations: pl.DataFrame | None, given: Given, notes: list[str]) -> pl.DataFrame:
    table = read_header_table(source, _TASKS.values()).rename({theirs: ours for ours, theirs in _TASKS.items()})
    rows = table.with_columns(
        *(whole(name) for name in ("create_s", "end_s", "job", "task", "count")), number("cpu"), number("memory")
    )
    needed = pl.any_horizontal(pl.col(name).is_null() for name in ("create_s", "job", "task", "count")) | (
        pl.col("create_s") < 0
    )
    rows = set_aside_where(source, rows, needed, "creation, job, task or instances are missing")
    for status in ("Waiting", "Running", "Failed"):
        said = {"Waiting": "never began", "Running": "had not ended", "Failed": "failed"}[status]
        rows = set_aside_where(source, rows, pl.col("status") == status, f"{said} (status {status})")
    rows = set_aside_where(
        source, rows, pl.col("cpu").is_null() | pl.col("memory").is_null(), "no planned CPU and memory"
    )
    absurd = (
        ~pl.col("count").is_between(1, _MOST) | (pl.col("cpu") < 0) | (pl.col("memory") < 0) | (pl.col("memory") > 1e3)
    )
    rows = set_aside_where(source, rows, absurd, "no instances, or an absurd size")
    if durations is None:
        rows = rows.with_columns(mean_s=pl.lit(None, pl.Float64))
    else:
        mean = durations.select("job", "task", "mean_s")
        rows = rows.join(mean, on=["job", "task"], how="left", maintain_order="left")
    unknown = pl.col("mean_s").is_null() & (pl.col("end_s").is_null() | (pl.col("end_s") < pl.col("create_s")))
    rows = set_aside_where(source, rows, unknown, "its last change lies before its creation, and no duration is known")
    guessed = rows["mean_s"].null_count()
    if guessed:
        notes.append(
            f"{source.name}: {guessed} tasks take the time from creation to last change, which is more than they ran"
        )
    source.rows.tasks(rows_of(rows))
    duration = pl.col("mean_s").fill_null(pl.col("end_s") - pl.col("create_s"))
    return _made(rows.with_columns(duration_s=duration, cores=pl.col("cpu") / 100), given)  # 100 is one core


def _made(rows: pl.DataFrame, given: Given) -> pl.DataFrame:
    return rows.select(
        "count",
        job="job-" + pl.col("job").cast(pl.String),
        stage="task-" + pl.col("task").cast(pl.String),
        submit_at_ms=pl.col("create_s") * 1000,
        duration_ms=(pl.col("duration_s") * 1000).round().cast(pl.Int64),
        memory_mb=(pl.col("memory") * given.assumed["machine_memory_mb"]).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cores") * 1000).ceil().cast(pl.Int64),
    ).with_columns(submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min())


FORMAT = Format(
    name="alibaba2017",
    summary="Alibaba's batch tasks of 2017, with mean instance durations where they are joined",
    roles={"tasks": "batch_task with a header", "durations": "tasks with the mean duration of their instances"},
    role=_role,
    read=_read,
    has="jobs, tasks, numbers of instances, planned CPU and memory; mean instance durations in the second file",
    models="memory in MB; durations of tasks that the second file lacks; no use, no dependencies",
    assumptions={"machine_memory_mb": Assumption(98304, "memory of the largest machine, 1.0 in the trace", 1)},
)
