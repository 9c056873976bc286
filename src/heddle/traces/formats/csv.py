"""A CSV of tasks, heddle's own columns or others by `--map` (docs/traces/csv.md).

Reading it as a workload directly is strict; importing it sets aside the rows that cannot be used and accounts for them.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import DEFAULT_STAGE, TaskTable, assemble
from heddle.traces.csv_columns import OPTIONAL, REQUIRED
from heddle.traces.imports.columns import number, read_header_table, rows_of, set_aside_where
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head, Source
from heddle.traces.problems import did_you_mean

_LARGEST: Final = 10**12  # as for a CSV that is read directly
_AMOUNTS: Final = {  # heddle's column -> the table's
    "submit_ms": "submit_at_ms",
    "duration_ms": "duration_ms",
    "vcores": "vcores_milli",
    "memory_mb": "memory_mb",
    "used_vcores": "used_vcores_milli",
    "used_memory_mb": "used_memory_mb",
    "am_vcores": "am_vcores_milli",
    "am_memory_mb": "am_memory_mb",
}


def _role(head: Head) -> str | None:
    names = [name.strip() for name in head.first.split(",")]
    return "tasks" if all(name in names for name in REQUIRED) else None


def _role_when_asked(head: Head) -> str | None:
    return "tasks" if "," in head.first else None


def _read(files: Files, given: Given) -> Imported:
    known = (*REQUIRED, *OPTIONAL)
    for name in given.columns:
        if name not in known:
            hint = did_you_mean(name, known) or f"; known are {', '.join(known)}"
            raise BadInput.of("--map", f"not a column of heddle{hint}", field=name)
    notes: list[str] = []
    parts = [_rows(source, given, notes, prefixed=len(files["tasks"]) > 1) for source in files["tasks"]]
    rows = pl.concat(parts, how="diagonal_relaxed")
    if not rows.height:
        raise BadInput.of("csv", "no usable task in these files")
    name = files["tasks"][0].stem if len(parts) == 1 else "csv"
    edges = _edges(rows).select("job", "stage", "before") if "after" in rows.columns else None
    table = TaskTable(rows.drop("after", strict=False), stage_after=edges, about=about("csv", files, given))
    return Imported(assemble(name, table), notes=notes)


def _rows(source: Source, given: Given, notes: list[str], *, prefixed: bool) -> pl.DataFrame:
    """The usable rows of a file in heddle's columns and units."""
    columns = {name: given.columns.get(name, name) for name in (*REQUIRED, *OPTIONAL)}
    needed = [columns[name] for name in REQUIRED] + [
        column for name, column in columns.items() if name in given.columns
    ]
    table = read_header_table(source, dict.fromkeys(needed))
    there = {name: column for name, column in columns.items() if column in table.columns}
    unused = [column for column in table.columns if column not in (*there.values(), "row")]
    if unused:
        notes.append(f"{source.name}: columns that were not used: {', '.join(unused)}")
    rows = table.select("row", **{name: pl.col(column) for name, column in there.items()})
    rows = set_aside_where(source, rows, pl.col("job").is_null(), "job is empty")
    for name in (name for name in _AMOUNTS if name in there):
        rows = _typed(source, rows, name)
    for one, other in (("am_vcores", "am_memory_mb"), ("used_vcores", "used_memory_mb")):
        present = [name for name in (one, other) if name in there]
        if len(present) == 1:
            raise BadInput.of(source.name, f"given without {one if present[0] == other else other}", field=present[0])
        if present:
            lonely = pl.col(one).is_null() != pl.col(other).is_null()
            rows = set_aside_where(source, rows, lonely, f"{one} and {other}: one is given without the other")
    if "after" in there:
        rows = _without_unknown_stages(source, rows)
    source.rows.tasks(rows_of(rows))
    if prefixed:
        rows = rows.with_columns(job=f"{source.stem}/" + pl.col("job"))
    return rows.rename({name: table_name for name, table_name in _AMOUNTS.items() if name in there}).drop("row")


def _typed(source: Source, rows: pl.DataFrame, name: str) -> pl.DataFrame:
    given = pl.col(name).is_not_null()
    value = number(name)
    wrong = (given & (value.is_null() | (value < 0) | (value > _LARGEST))).fill_null(True)
    if name in REQUIRED:
        wrong = wrong | ~given
    rows = set_aside_where(source, rows, wrong, f"{name} is not a number between 0 and 10^12")
    factor = MILLI if "vcores" in name else 1
    # Rounded up, but not for the last bits of a binary fraction: 1.1 vcores are 1100 millicores.
    return rows.with_columns((value * factor).round(6).ceil().cast(pl.Int64).alias(name))


def _edges(rows: pl.DataFrame) -> pl.DataFrame:
    """(job, stage, before, row) of what `after` names."""
    stage = pl.col("stage").fill_null(DEFAULT_STAGE) if "stage" in rows.columns else pl.lit(DEFAULT_STAGE)
    kept = [name for name in ("job", "row") if name in rows.columns]
    return (
        rows.filter(pl.col("after").is_not_null())
        .select(*kept, stage=stage, before=pl.col("after").str.replace_all(r"[;\s]+", ";").str.split(";"))
        .explode("before")
        .filter(pl.col("before") != "")
    )


def _without_unknown_stages(source: Source, rows: pl.DataFrame) -> pl.DataFrame:
    stage = pl.col("stage").fill_null(DEFAULT_STAGE) if "stage" in rows.columns else pl.lit(DEFAULT_STAGE)
    known = rows.select("job", before=stage).unique()
    lost = _edges(rows).join(known, on=["job", "before"], how="anti")["row"].unique()
    return set_aside_where(
        source, rows, pl.col("row").is_in(lost.implode()), "after names a stage that the job has not"
    )


FORMAT = Format(
    name="csv",
    summary="a CSV of tasks; columns of other names by --map",
    roles={"tasks": f"a header with {', '.join(REQUIRED)} and one task to a line"},
    role=_role,
    role_when_asked=_role_when_asked,
    needs=("tasks",),
    read=_read,
    has="what its columns say: jobs, stages, reservations, durations; use, AMs, queues and users if they are there",
    models="nothing",
)
