"""Which stage comes after which, and how much it reads from it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.workload import MOST_BYTES
from heddle.traces.csv_tasks.verdicts import Verdicts
from heddle.traces.cycles import find_cycles, in_words
from heddle.traces.imports.columns import ROW

_STAGE: Final = ["job", "stage"]
_TOO_LARGE: Final = f"more than {MOST_BYTES // 10**6} MB in a stage or task"


def dependencies(frame: pl.DataFrame, verdicts: Verdicts) -> pl.DataFrame:
    """(job, stage, before, bytes) of what `after` and `reads_mb` say, checked for unknown stages and cycles."""
    stages = _stages(frame)
    wanted = (
        stages.filter(pl.col("after").is_not_null())
        .with_columns(before=pl.col("after").str.replace_all(r"[;\s]+", ";").str.split(";"))
        .explode("before")
        .filter(pl.col("before") != "")
        .unique([*_STAGE, "before"], maintain_order=True)
    )
    known = stages.select("job", before="stage", earlier="number")
    found = wanted.join(known, on=["job", "before"], how="left", maintain_order="left")
    lost = found.filter(pl.col("earlier").is_null())
    verdicts.reject(
        lost["said_in"].to_numpy(),
        "the job has no such stage",
        "after",
        lambda n: f'the job has no stage "{lost["before"][n]}"',
        _rows_of(frame, lost),
    )
    edges = found.filter(pl.col("earlier").is_not_null())
    _reject_cycles(frame, stages, edges, verdicts)
    _check_sizes(frame, edges, verdicts)
    # What the tasks of a stage read comes evenly from the stages before it.
    size = (pl.col("reads").clip(0, MOST_BYTES).cast(pl.Int64) // pl.len().over(_STAGE)).alias("bytes")
    return edges.select("job", "stage", "before", size)


def _stages(frame: pl.DataFrame) -> pl.DataFrame:
    """By first row: number, what they come after, the row that says so, and what their tasks read in all."""
    after = pl.col("after") if "after" in frame.columns else pl.lit(None, pl.String)
    reads = pl.col("reads_mb") if "reads_mb" in frame.columns else pl.lit(0, pl.Int64)
    rows = frame.select(*_STAGE, ROW, after=after, reads=reads.cast(pl.Float64))  # sums beyond 64 bits are refused
    found = rows.group_by(_STAGE, maintain_order=True).agg(pl.col("reads").sum())
    said = rows.filter(pl.col("after").is_not_null()).group_by(_STAGE).agg(pl.col("after", ROW).first())
    return found.join(said.rename({ROW: "said_in"}), on=_STAGE, how="left", maintain_order="left").with_row_index(
        "number"
    )


def _rows_of(frame: pl.DataFrame, stages: pl.DataFrame) -> npt.NDArray[Any]:
    return frame.join(stages.select(_STAGE).unique(), on=_STAGE, how="semi")[ROW].to_numpy()


def _reject_cycles(frame: pl.DataFrame, stages: pl.DataFrame, edges: pl.DataFrame, verdicts: Verdicts) -> None:
    waits, earlier = (edges[name].cast(pl.Int64).to_numpy() for name in ("number", "earlier"))
    cycles = find_cycles(waits, earlier, stages["job"].rank("dense").cast(pl.Int64).to_numpy())
    if not cycles:
        return
    first = stages[[cycle[0] for cycle in cycles]]

    def said(n: int) -> str:
        return f"cycle in job {first['job'][n]}: {in_words(stages['stage'].gather(cycles[n]).to_list())}"

    every = stages[sorted(stage for cycle in cycles for stage in cycle)]
    verdicts.reject(first["said_in"].to_numpy(), "stages wait for each other", "after", said, _rows_of(frame, every))


def _check_sizes(frame: pl.DataFrame, edges: pl.DataFrame, verdicts: Verdicts) -> None:
    if "reads_mb" in frame.columns:
        reading = frame.filter(pl.col("reads_mb") > 0)
        alone = reading.join(edges.select(_STAGE).unique(), on=_STAGE, how="anti", maintain_order="left")
        what = "the stage has no predecessor to read from"
        verdicts.reject(alone[ROW].to_numpy(), what, "reads_mb")
        total = pl.col("reads_mb").cast(pl.Float64).sum().over(_STAGE)
        verdicts.reject(frame.filter(total > MOST_BYTES)[ROW].to_numpy(), _TOO_LARGE, "reads_mb")
    if "input_mb" in frame.columns:
        large = frame.filter(pl.col("input_mb") > MOST_BYTES)[ROW].to_numpy()
        verdicts.reject(large.astype(np.int64), _TOO_LARGE, "input_mb")
