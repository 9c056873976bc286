"""What rows of one job or stage, and the columns of one row, must say together."""

from __future__ import annotations

import polars as pl

from heddle.traces.csv_tasks.columns import COLUMNS, Column
from heddle.traces.csv_tasks.verdicts import Verdicts
from heddle.traces.imports.columns import ROW

_KEYS = {"job": ["job"], "stage": ["job", "stage"]}


def check_submissions(frame: pl.DataFrame, verdicts: Verdicts) -> None:
    """A job is submitted once; where rows differ, the earliest can stand for all (TaskTable takes it)."""
    other = frame.filter(pl.col("submit_ms") != pl.col("submit_ms").first().over("job"))[ROW].to_numpy()
    verdicts.mend(other, "differs from an earlier row of the job", "submit_ms", "the earliest of a job counts")


def check_agreement(frame: pl.DataFrame, verdicts: Verdicts) -> None:
    """Rows that contradict an earlier one of their job or stage, and values that lack their counterpart."""
    for column in COLUMNS:
        if column.name in frame.columns:
            _check(column, frame, verdicts)


def _check(column: Column, frame: pl.DataFrame, verdicts: Verdicts) -> None:
    given = frame.filter(pl.col(column.name).is_not_null())
    if column.agrees_in:
        first = pl.col(column.name).first().over(_KEYS[column.agrees_in])
        contrary = given.filter(pl.col(column.name) != first)[ROW].to_numpy()
        verdicts.reject(contrary, f"differs from an earlier row of the {column.agrees_in}", column.name)
    for other in column.given_with:
        alone = given.filter(pl.col(other).is_null()) if other in frame.columns else given
        verdicts.reject(alone[ROW].to_numpy(), f"given without {other}", column.name)


def first_given(frame: pl.DataFrame, name: str) -> pl.Series:
    """For each row what the first row of its job that gives this column gives; null where none does."""
    found = frame.filter(pl.col(name).is_not_null()).group_by("job").agg(pl.col(name).first())
    return frame.select("job").join(found, on="job", how="left", maintain_order="left")[name]
