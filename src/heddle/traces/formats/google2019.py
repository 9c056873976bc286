"""Samples of Google's Borg trace of 2019 (docs/traces/google2019.md).

Two extracts are known: random rows of instances with a window of use each; whole jobs with mean use and dependencies.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.source import Head, Source

_INSTANCES: Final = (
    "collection_id",
    "resource_request",
    "average_usage",
    "start_time",
    "end_time",
    "priority",
    "user",
    "cluster",
)
_JOBS: Final = (
    "collection_id",
    "start_time",
    "end_time",
    "avg_cpu_usage",
    "avg_memory_usage",
    "start_after_collection_ids",
)


def _role(head: Head) -> str | None:
    names = {name.strip() for name in head.first.split(",")}
    if set(_INSTANCES) <= names:
        return "instances"
    return "jobs" if set(_JOBS) <= names else None


def _read(files: Files, given: Given) -> Imported:
    notes: list[str] = [
        f"requests are shares of the largest machine, taken as {given.assumed['machine_memory_mb']:g} MB and "
        f"{given.assumed['machine_vcores']:g} vcores"
    ]
    parts = [_instances(source, given) for source in files.get("instances", [])]
    edges = []
    if parts:
        notes.append(
            "random rows of instances: each is a job of one task that lives for its window; not a coherent load"
        )
    for source in files.get("jobs", []):
        tasks, after = _jobs(source, given)
        parts.append(tasks)
        edges.append(after)
        notes.append(
            f"{source.name}: has no requests; {given.assumed['request_over_use']:g} times the mean use stands for them"
        )
    tasks = pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()
    if not tasks.height:
        raise BadInput.of("google2019", "no usable row in these files")
    tasks = tasks.with_columns(submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min())
    job_after = pl.concat(edges) if edges else None
    table = TaskTable(tasks, job_after=job_after, about=about("google2019", files, given))
    return Imported(assemble("google2019", table), notes=notes)


def _within(column: str, key: str) -> pl.Expr:
    """A number inside a Python dictionary that was written as text."""
    found = pl.col(column).str.extract(rf"'{key}':\s*([-+\d.eE]+)", 1).cast(pl.Float64, strict=False)
    return pl.when(found.is_finite() & (found >= 0) & (found < 1e6)).then(found)


def _instances(source: Source, given: Given) -> pl.DataFrame:
    rows = read_header_table(source, _INSTANCES).with_columns(
        cpu=_within("resource_request", "cpus"),
        memory=_within("resource_request", "memory"),
        used_cpu=_within("average_usage", "cpus"),
        used_memory=_within("average_usage", "memory"),
        start=whole("start_time"),
        end=whole("end_time"),
        priority=whole("priority"),
    )
    rows = set_aside_where(source, rows, pl.col("cpu").is_null() | pl.col("memory").is_null(), "the request is missing")
    rows = set_aside_where(source, rows, (pl.col("cpu") == 0) & (pl.col("memory") == 0), "the request is 0")
    rows = set_aside_where(
        source, rows, pl.col("start").is_null() | (pl.col("start") < 0), "the window's start is missing"
    )
    source.rows.tasks(rows_of(rows))
    # Large numbers were rounded by a spreadsheet, so that start and end often agree; a window is five minutes.
    window = pl.col("end") - pl.col("start")
    return rows.select(
        "priority",
        job=f"{source.stem}-row-" + pl.col("row").cast(pl.String),
        user=pl.col("user").str.slice(0, 12),
        queue="cell-" + pl.col("cluster").fill_null("0"),
        submit_at_ms=pl.col("start") // 1000,
        duration_ms=pl.when(window.is_between(1, 300_000_000)).then(window).otherwise(300_000_000) // 1000,
        **_amounts(given, "memory", "cpu"),
        used_memory_mb=(pl.col("used_memory") * given.assumed["machine_memory_mb"]).ceil().cast(pl.Int64),
        used_vcores_milli=(pl.col("used_cpu") * given.assumed["machine_vcores"] * MILLI).ceil().cast(pl.Int64),
    )


def _amounts(given: Given, memory: str, cpu: str, factor: float = 1.0) -> dict[str, pl.Expr]:
    return {
        "memory_mb": (pl.col(memory) * factor * given.assumed["machine_memory_mb"]).ceil().cast(pl.Int64),
        "vcores_milli": (pl.col(cpu) * factor * given.assumed["machine_vcores"] * MILLI).ceil().cast(pl.Int64),
    }


def _jobs(source: Source, given: Given) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = read_header_table(source, _JOBS).with_columns(
        start=whole("start_time"), end=whole("end_time"), cpu=number("avg_cpu_usage"), memory=number("avg_memory_usage")
    )
    wrong = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) < 0) for name in ("start", "end", "cpu", "memory"))
    rows = set_aside_where(
        source, rows, wrong | (pl.col("memory") > 1e6) | (pl.col("cpu") > 1e6), "times or use are missing"
    )
    rows = set_aside_where(source, rows, pl.col("end") < pl.col("start"), "ends before it starts")
    rows = set_aside_where(source, rows, pl.col("collection_id").is_null(), "the collection is missing")
    rows = set_aside_where(
        source, rows, ~pl.col("collection_id").is_first_distinct(), "a collection that occurred before"
    )
    source.rows.tasks(rows_of(rows))
    after = (
        rows.select(job="collection_id", before=pl.col("start_after_collection_ids").str.extract_all(r"\d+"))
        .explode("before")
        .drop_nulls()
        .filter(pl.col("job") != pl.col("before"))
    )
    tasks = rows.select(
        job="collection_id",
        submit_at_ms=pl.col("start") // 1000,
        duration_ms=(pl.col("end") - pl.col("start")) // 1000,
        **_amounts(given, "memory", "cpu", given.assumed["request_over_use"]),
        used_memory_mb=(pl.col("memory") * given.assumed["machine_memory_mb"]).ceil().cast(pl.Int64),
        used_vcores_milli=(pl.col("cpu") * given.assumed["machine_vcores"] * MILLI).ceil().cast(pl.Int64),
    )
    return tasks, after


FORMAT = Format(
    name="google2019",
    summary="extracts of Google's Borg trace of 2019: instances with one window of use, or jobs with dependencies",
    roles={"instances": "instance events with requests and use", "jobs": "jobs with mean use and dependencies"},
    role=_role,
    read=_read,
    has="requests and one window of use (instances); times, mean use and dependencies (jobs)",
    models="sizes in MB and vcores; requests of the jobs file; a job is one task",
    assumptions={
        "machine_memory_mb": Assumption(262144, "memory of the largest machine, 1.0 in the trace", 1),
        "machine_vcores": Assumption(64, "vcores of the largest machine, 1.0 in the trace", 0.001),
        "request_over_use": Assumption(1.5, "request of a job over its mean use, where the file has no requests", 0.01),
    },
)
