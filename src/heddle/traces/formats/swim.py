"""SWIM's samples of Facebook's Hadoop workloads: bytes only (docs/traces/swim.md).

Tasks, durations and memory are modelled: a map for each split of the input, reduces for the shuffle, a rate.
"""

from __future__ import annotations

import re
from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import MORE, drop_empty, fields_of, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head

_FIELDS: Final = ("job", "submit_s", "gap_s", "input", "shuffle", "output")
_LINE: Final = re.compile(r"\S+(\t\d+){5}")
_MOST_TASKS: Final = 100_000  # of one job


def _role(head: Head) -> str | None:
    return "jobs" if _LINE.fullmatch(head.first.strip()) else None


def _read(files: Files, given: Given) -> Imported:
    parts = []
    notes = []
    several = len(files["jobs"]) > 1
    for source in files["jobs"]:
        rows = fields_of(drop_empty(source, source.lines()), "\t", _FIELDS)
        rows = rows.with_columns(whole(name) for name in _FIELDS[1:])
        wrong = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) < 0) for name in _FIELDS[1:])
        rows = set_aside_where(source, rows, wrong | pl.col(MORE).is_not_null(), "not a name and five numbers")
        source.rows.set_aside(rows_of(rows.filter(~pl.col("job").is_first_distinct())), "a job that occurred before")
        rows = rows.filter(pl.col("job").is_first_distinct())
        source.rows.tasks(rows_of(rows))
        if several:
            rows = rows.with_columns(job=f"{source.stem}/" + pl.col("job"))
        parts.append(rows)
    rows = pl.concat(parts)
    if not rows.height:
        raise BadInput.of("swim", "no usable job in these files")
    if several:
        notes.append(f"{len(parts)} samples laid over each other, each from its own 0")
    tasks = _tasks(rows, given)
    edges = tasks.filter(pl.col("stage") == "reduce").select("job", "stage", before=pl.lit("map"))
    return Imported(
        assemble("swim", TaskTable(tasks, stage_after=edges, about=about("swim", files, given))), notes=notes
    )


def _tasks(rows: pl.DataFrame, given: Given) -> pl.DataFrame:
    assumed = given.assumed
    block, rate = assumed["split_mb"] * (1 << 20), assumed["mb_per_s"] * (1 << 20) / 1000  # bytes; bytes each ms
    start_ms = assumed["start_s"] * 1000

    def count(size: str, each: float) -> pl.Expr:
        return (pl.col(size) / each).ceil().cast(pl.Int64).clip(1, _MOST_TASKS)

    maps = rows.with_columns(
        stage=pl.lit("map"), count=count("input", block), bytes=pl.col("input") + pl.col("shuffle")
    )
    reduces = rows.filter(pl.col("shuffle") > 0).with_columns(
        stage=pl.lit("reduce"),
        count=count("shuffle", assumed["reduce_gb"] * (1 << 30)),
        bytes=pl.col("shuffle") + pl.col("output"),
    )
    both = pl.concat([maps.with_row_index("place"), reduces.with_row_index("place")])
    return both.select(
        "job",
        "stage",
        "count",
        submit_at_ms=pl.col("submit_s") * 1000,
        duration_ms=(start_ms + pl.col("bytes") / pl.col("count") / rate).ceil().cast(pl.Int64),
        memory_mb=pl.when(pl.col("stage") == "map")
        .then(int(assumed["map_memory_mb"]))
        .otherwise(int(assumed["reduce_memory_mb"])),
        vcores_milli=pl.lit(MILLI),
        am_memory_mb=pl.lit(int(assumed["am_memory_mb"])),
        am_vcores_milli=pl.lit(MILLI),
        slow_start_permille=pl.when(pl.col("stage") == "reduce").then(50).otherwise(-1).cast(pl.Int16),
    )


FORMAT = Format(
    name="swim",
    summary="SWIM's samples of Facebook's Hadoop jobs: arrivals and bytes",
    roles={"jobs": "name, submission, gap, input, shuffle and output bytes, by tabs"},
    role=_role,
    needs=("jobs",),
    read=_read,
    has="jobs with submission and bytes of input, shuffle and output",
    models="all else: a map for each split, reduces for the shuffle, durations by a rate, memory",
    assumptions={
        "split_mb": Assumption(128, "input of one map", 1),
        "reduce_gb": Assumption(1, "shuffled data of one reduce", 0.001),
        "mb_per_s": Assumption(20, "what a task reads and writes in a second, all in all", 0.001),
        "start_s": Assumption(5, "of each task, beside its data"),
        "map_memory_mb": Assumption(1024, "reserved by a map", 1),
        "reduce_memory_mb": Assumption(2048, "reserved by a reduce", 1),
        "am_memory_mb": Assumption(1536, "reserved by an application master", 1),
    },
)
