"""What attempts reserved, and for how long."""

from __future__ import annotations

import polars as pl

from heddle.record.run import Run


def with_reservations(run: Run, attempts: pl.DataFrame, begin: int, end: int) -> pl.DataFrame:
    """Attempts with the span of the run in which they held their reservation, and its amounts."""
    spans = attempts.with_columns(
        pl.col("allocated_at_ms").clip(begin, end),
        ended_at_ms=pl.col("ended_at_ms").fill_null(end).clip(begin, end),
    )
    return spans.join(run.shapes, on="shape", how="left", maintain_order="left").with_columns(
        span=pl.col("ended_at_ms") - pl.col("allocated_at_ms")
    )
