"""Memory that early reduces hold while the maps of their job still run."""

from __future__ import annotations

import polars as pl

from heddle.model.resources import MEMORY_MB
from heddle.record.run import Run

MAP, REDUCE = "map", "reduce"
_MAP_AGAIN = "map again"  # what MapReduce's AM asks for after a failure


def idle_reduces_gb_h(run: Run) -> float:
    """Memory that started reduces held until the last map of their iteration had ended.

    Stages are told by their names: `map` and `reduce`, with the number of their iteration behind (`map-2`) if any.
    """
    role = pl.col("name").str.splitn("-", 2)
    stages = run.stages.select(
        "stage",
        phase=role.struct.field("field_0").replace(_MAP_AGAIN, MAP),
        iteration=role.struct.field("field_1").fill_null("0"),
    )
    tasks = run.attempts.join(stages, on="stage").join(run.shapes, on="shape")
    maps = tasks.filter(pl.col("phase") == MAP).group_by("job", "iteration").agg(pl.col("ended_at_ms").max())
    held = (
        tasks.filter(pl.col("phase") == REDUCE)
        .join(maps.rename({"ended_at_ms": "maps_ended_at_ms"}), on=["job", "iteration"])
        .select(
            (pl.min_horizontal("maps_ended_at_ms", "ended_at_ms") - pl.col("started_at_ms")).clip(0) * pl.col(MEMORY_MB)
        )
        .to_series()
        .sum()
    )
    return float(held) / 1024 / 3_600_000
