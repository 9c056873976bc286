"""Samples of use over time as levels over a task's work, in ten-thousandths of it."""

from __future__ import annotations

import polars as pl

from heddle.model.workload import PERMYRIAD


def levels_of_samples(samples: pl.DataFrame, amounts: dict[str, pl.Expr]) -> pl.DataFrame:
    """Levels for `TaskTable`: `samples` has `row` (of the task), `until_ms` into the task's life, and `duration_ms`.

    Samples within one ten-thousandth are averaged; neighbours of the same use are one level; the last reaches the end.
    """
    until = (pl.col("until_ms") * PERMYRIAD // pl.max_horizontal(pl.col("duration_ms"), pl.lit(1))).clip(1, PERMYRIAD)
    found = (
        samples.with_columns(until_permyriad=until, **amounts)
        .group_by("row", "until_permyriad")
        .agg(*(pl.col(name).mean().ceil().cast(pl.Int64) for name in amounts))
        .sort("row", "until_permyriad")
    )
    is_last = pl.col("row") != pl.col("row").shift(-1, fill_value=-1)
    found = found.with_columns(until_permyriad=pl.when(is_last).then(PERMYRIAD).otherwise(pl.col("until_permyriad")))
    same_as_next = pl.all_horizontal(pl.col(name) == pl.col(name).shift(-1) for name in amounts) & ~is_last
    return found.filter(~same_as_next.fill_null(False)).with_columns(pl.col("row", "until_permyriad").cast(pl.Int64))
