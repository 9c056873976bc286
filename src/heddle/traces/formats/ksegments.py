"""Memory and CPU of workflow tasks every two seconds: the k-segments traces (docs/traces/ksegments.md)."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.levels import levels_of_samples
from heddle.traces.imports.source import Head, Source

_TASK: Final = (
    "task",
    "workflow",
    "process",
    "first_sample_unix_s",
    "last_sample_unix_s",
    "mem_request_bytes",
    "cpu_request",
)
_SAMPLE: Final = ("task", "t_s", "mem_mb", "cpu_pct")
_BYTES_PER_MB: Final = 1 << 20
_SAMPLE_MS: Final = 2000


def _role(head: Head) -> str | None:
    if head.columns:
        return "samples" if set(_SAMPLE) <= set(head.columns) else None
    return "tasks" if set(_TASK) <= {name.strip() for name in head.first.split(",")} else None


def _read(files: Files, given: Given) -> Imported:
    if len(files["tasks"]) > 1:
        raise BadInput.of("ksegments", "one table of tasks at a time: samples name tasks by number")
    source = files["tasks"][0]
    tasks = _tasks(source)
    if not tasks.height:
        raise BadInput.of(source.name, "no usable task")
    samples = pl.concat([_samples(one, tasks) for one in files["samples"]])
    scale = given.assumed["bytes_per_mem_mb"] / _BYTES_PER_MB
    amounts = {"memory_mb": pl.col("mem_mb") * scale, "vcores_milli": pl.col("cpu_pct") * 10}
    levels = levels_of_samples(samples, amounts)
    without = tasks.height - levels["row"].n_unique()
    notes = ["submission is not recorded: a task's first sample is taken for it"]
    if without:
        notes.append(f"{without} tasks were too short for a sample: their use is not recorded")
    table = TaskTable(tasks.drop("task", "row"), levels=levels, about=about("ksegments", files, given))
    return Imported(assemble("ksegments", table), notes=notes)


def _tasks(source: Source) -> pl.DataFrame:
    rows = read_header_table(source, _TASK)
    rows = rows.select(
        "row",
        "process",
        "workflow",
        task=whole("task"),
        first=number("first_sample_unix_s"),
        last=number("last_sample_unix_s"),
        memory=whole("mem_request_bytes"),
        cpu=number("cpu_request"),
    )
    rows = set_aside_where(source, rows, pl.col("first").is_null() | pl.col("last").is_null(), "no sample, so no time")
    wrong = pl.any_horizontal(
        pl.col(name).is_null() | (pl.col(name) < 0) for name in ("task", "memory", "cpu", "first")
    )
    rows = set_aside_where(source, rows, wrong | (pl.col("cpu") > 1e5), "number or request are missing")
    rows = set_aside_where(source, rows, pl.col("last") < pl.col("first"), "ends before it starts")
    rows = set_aside_where(source, rows, ~pl.col("task").is_first_distinct(), "a task that occurred before")
    source.rows.tasks(rows_of(rows))
    # A sample stands for the two seconds that follow it, so that a task with one sample has lived.
    return rows.select(
        "row",
        "task",
        job="task-" + pl.col("task").cast(pl.String),
        stage=pl.col("process").fill_null("task"),
        user=pl.col("process").fill_null("task"),
        queue=pl.col("workflow").fill_null("default").str.replace_all(".", "-", literal=True),
        submit_at_ms=((pl.col("first") - pl.col("first").min()) * 1000).round().cast(pl.Int64),
        duration_ms=((pl.col("last") - pl.col("first")) * 1000).round().cast(pl.Int64) + _SAMPLE_MS,
        memory_mb=(pl.col("memory") / _BYTES_PER_MB).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cpu") * MILLI).ceil().cast(pl.Int64),
    )


def _samples(source: Source, tasks: pl.DataFrame) -> pl.DataFrame:
    """The samples with the place of their task in the table, and how far into its life they reach."""
    frame, rows = source.parquet(list(_SAMPLE))
    with source.reading():
        frame = frame.select(
            pl.col("task").cast(pl.Int64, strict=False),
            *(pl.col(name).cast(pl.Float64, strict=False) for name in _SAMPLE[1:]),
        ).with_columns(row_number=pl.Series(rows))
    place = tasks.with_row_index("row_of_task").select("task", "row_of_task", "duration_ms")
    frame = frame.join(place, on="task", how="left", maintain_order="left")
    unknown = frame["row_of_task"].is_null()
    source.rows.set_aside(frame.filter(unknown)["row_number"].to_numpy(), "a sample of a task that is not in the table")
    frame = frame.filter(~unknown)
    numbers = [pl.col(name).is_finite() & (pl.col(name) >= 0) & (pl.col(name) < 1e9) for name in _SAMPLE[1:]]
    good = frame.select(pl.all_horizontal(numbers).fill_null(False)).to_series()
    source.rows.set_aside(frame.filter(~good)["row_number"].to_numpy(), "a sample without a time, memory or CPU")
    frame = frame.filter(good)
    source.rows.merged(frame["row_number"].to_numpy(), "their task (use)")
    return frame.select(
        "mem_mb",
        "cpu_pct",
        "duration_ms",
        row=pl.col("row_of_task").cast(pl.Int64),
        until_ms=(pl.col("t_s") * 1000).round().cast(pl.Int64) + _SAMPLE_MS,
    )


FORMAT = Format(
    name="ksegments",
    summary="workflow tasks with memory and CPU every two seconds (k-segments)",
    roles={"tasks": "tasks with requests (tasks.csv)", "samples": "samples of use (Parquet)"},
    role=_role,
    needs=("tasks", "samples"),
    read=_read,
    has="tasks with requests and their use over time",
    models="submission is the first sample; tasks are jobs of their own, named by process as stage and user",
    assumptions={"bytes_per_mem_mb": Assumption(1e6, "what a megabyte of the samples is; the source does not say", 1)},
)
