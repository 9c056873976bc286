"""Microsoft's Philly trace in the short form of the Sia artifacts: GPU jobs (docs/traces/philly.md)."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import BASE_RESOURCES, MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.source import Head, Source

_COLUMNS: Final = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
_MOST_GPUS: Final = 10_000


def _role(head: Head) -> str | None:
    return "jobs" if set(_COLUMNS) <= {name.strip() for name in head.first.split(",")} else None


def _read(files: Files, given: Given) -> Imported:
    tasks = pl.concat([_tasks(source, given, prefixed=len(files["jobs"]) > 1) for source in files["jobs"]])
    if not tasks.height:
        raise BadInput.of("philly", "no usable job in these files")
    tasks = tasks.with_columns(submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min())
    table = TaskTable(tasks, (*BASE_RESOURCES, "gpu"), about=about("philly", files, given))
    notes = [
        "memory and vcores are not in the trace: a share for each GPU is assumed; times are as written, without a zone"
    ]
    return Imported(assemble("philly", table), notes=notes)


def _tasks(source: Source, given: Given, *, prefixed: bool) -> pl.DataFrame:
    rows = read_header_table(source, _COLUMNS)
    repeated = ~pl.struct(_COLUMNS).is_first_distinct()
    rows = set_aside_where(source, rows, repeated, "an exact duplicate of an earlier row")
    at = pl.col("timestamp").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="ms").dt.epoch("ms")
    rows = rows.with_columns(at_ms=at, seconds=number("duration"), gpus=whole("num_gpus"))
    rows = set_aside_where(source, rows, pl.col("at_ms").is_null(), "the timestamp cannot be read")
    wrong = pl.col("seconds").is_null() | (pl.col("seconds") < 0) | (pl.col("seconds") > 1e9)
    rows = set_aside_where(source, rows, wrong, "the duration is missing or negative")
    rows = set_aside_where(
        source, rows, ~pl.col("gpus").is_between(1, _MOST_GPUS).fill_null(False), "no number of GPUs"
    )
    source.rows.tasks(rows_of(rows))
    # A job larger than a node becomes containers of a node's GPUs, and one for the rest.
    each, gpus = pl.lit(int(given.assumed["gpus_per_node"])), pl.col("gpus")
    full = rows.with_columns(
        stage=pl.lit("workers"), size=pl.min_horizontal(gpus, each), count=gpus // pl.min_horizontal(gpus, each)
    )
    rest = rows.filter((gpus > each) & (gpus % each > 0)).with_columns(
        stage=pl.lit("rest"), size=gpus % each, count=pl.lit(1)
    )
    both = pl.concat([full, rest], how="vertical_relaxed")
    return both.select(
        "stage",
        "count",
        job=(f"{source.stem}-" if prefixed else "job-") + pl.col("row").cast(pl.String),
        queue="vc-" + pl.col("cluster").fill_null("none"),
        submit_at_ms="at_ms",
        duration_ms=(pl.col("seconds") * 1000).round().cast(pl.Int64),
        memory_mb=pl.col("size") * int(given.assumed["memory_mb_per_gpu"]),
        vcores_milli=(pl.col("size") * given.assumed["vcores_per_gpu"] * MILLI).cast(pl.Int64),
        gpu="size",
    )


FORMAT = Format(
    name="philly",
    summary="Microsoft's Philly GPU jobs, in the short form of the Sia artifacts",
    roles={"jobs": f"a header with {', '.join(_COLUMNS)}"},
    role=_role,
    needs=("jobs",),
    read=_read,
    has="jobs with submission, duration, GPUs and virtual cluster",
    models="memory and vcores for each GPU; jobs larger than a node become several containers; no use, no users",
    assumptions={
        "memory_mb_per_gpu": Assumption(49152, "reserved with each GPU", 1),
        "vcores_per_gpu": Assumption(4, "reserved with each GPU", 0.001),
        "gpus_per_node": Assumption(8, "the largest container", 1),
    },
)
