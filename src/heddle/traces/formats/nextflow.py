"""Traces of Nextflow runs: one row to a task, with request and peak use (docs/traces/nextflow.md).

The trace has no dependencies, so each task is a job of its own, submitted when Nextflow submitted it.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.source import Head, Source

_COLUMNS: Final = (
    "task_id", "process", "status", "cpus", "memory", "submit", "start", "complete", "realtime", "%cpu", "peak_rss",
)  # fmt: skip
_BYTES_PER_MB: Final = 1 << 20


def _role(head: Head) -> str | None:
    return "trace" if set(_COLUMNS) <= {name.strip() for name in head.first.split(",")} else None


def _read(files: Files, given: Given) -> Imported:
    tasks = pl.concat([_tasks(source) for source in files["trace"]])
    if not tasks.height:
        raise BadInput.of("nextflow", "no usable task in these files")
    notes = ["peaks, not use over time: each task is taken to use its peak memory and its mean CPU throughout"]
    if len(files["trace"]) > 1:
        notes.append(f"{len(files['trace'])} runs laid over each other, each from its own 0, in queues of their own")
    return Imported(assemble("nextflow", TaskTable(tasks, about=about("nextflow", files, given))), notes=notes)


def _tasks(source: Source) -> pl.DataFrame:
    table = read_header_table(source, _COLUMNS)
    table = table.with_columns(pl.when(pl.col(name) != "-").then(pl.col(name)).alias(name) for name in _COLUMNS)
    rows = table.select(
        "row",
        "task_id",
        "process",
        "status",
        *(whole(name) for name in ("memory", "submit", "start", "complete", "realtime", "peak_rss")),
        number("cpus"),
        load=number("%cpu"),
    )
    other = pl.col("status").is_null() | ~pl.col("status").is_in(("COMPLETED", "CACHED"))
    rows = set_aside_where(source, rows, other, "did not complete (FAILED, ABORTED): its peak was not recorded")
    missing = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) < 0) for name in ("memory", "cpus", "submit"))
    rows = set_aside_where(source, rows, missing | (pl.col("cpus") > 1e5), "request or submission are missing")
    duration = pl.col("realtime").fill_null(pl.col("complete") - pl.col("start"))
    rows = rows.with_columns(duration_ms=duration)
    rows = set_aside_where(source, rows, pl.col("duration_ms").is_null() | (pl.col("duration_ms") < 0), "no run time")
    source.rows.tasks(rows_of(rows))
    workflow = source.stem.removeprefix("trace_")
    known = (
        pl.col("peak_rss").is_not_null()
        & pl.col("load").is_not_null()
        & (pl.col("peak_rss") >= 0)
        & (pl.col("load") >= 0)
    )
    process = pl.col("process").fill_null("task").str.split(":").list.last()
    return rows.select(
        "duration_ms",
        job=f"{workflow}-"
        + pl.col("task_id").fill_null(pl.col("row").cast(pl.String))
        + "-"
        + pl.col("row").cast(pl.String),
        stage=process,
        queue=pl.lit(workflow.replace(".", "-")),
        user=process,
        submit_at_ms=pl.col("submit") - pl.col("submit").min(),
        memory_mb=(pl.col("memory") / _BYTES_PER_MB).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cpus") * MILLI).ceil().cast(pl.Int64),
        used_memory_mb=pl.when(known).then((pl.col("peak_rss") / _BYTES_PER_MB).ceil().cast(pl.Int64)),
        used_vcores_milli=pl.when(known & (pl.col("load") < 1e7)).then((pl.col("load") * 10).ceil().cast(pl.Int64)),
    )


FORMAT = Format(
    name="nextflow",
    summary="Nextflow's execution traces: request and peak use of every task",
    roles={"trace": "a header with process, cpus, memory, peak_rss and times"},
    role=_role,
    needs=("trace",),
    read=_read,
    has="tasks with request, peak memory, mean CPU, submission and run time",
    models="use is constant, at the peak; tasks are jobs of their own, named by process as stage and user",
)
