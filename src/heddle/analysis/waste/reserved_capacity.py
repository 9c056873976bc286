"""What containers reserved, attempt by attempt: used, idle, lost, or held for something else."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.measures.steps import Ints
from heddle.analysis.waste.ledger_lines import LedgerLines
from heddle.model.reasons import Outcome
from heddle.model.workload import AM, EXECUTORS, INNER
from heddle.record.run import Run

# Lines in the order in which they take their part: a thing that could stand in two lines stands in the first.
RESERVED_LINES: Final = {
    "lost": "lost to crashes, kills and re-runs",
    "am": "application masters",
    "early": "held by early reducers",
    "used": "used",
    "unrecorded": "reserved, use not recorded",
    "idle": "reserved but idle",
}
INFERRED: Final = ("early",)  # lines whose cause is not in the record and is inferred
_WELL_ENDED: Final = (int(Outcome.FINISHED), int(Outcome.RELEASED), -1)


def reserved_capacity(run: Run, stages: pl.DataFrame, attempts: pl.DataFrame, lines: LedgerLines) -> Ints:
    """Adds all attempts of some jobs, whose stages these are, to the lines of RESERVED_LINES; returns use beyond the
    own reservation. Use lies evenly over a task's run."""
    ended_well = pl.col("outcome").is_in(_WELL_ENDED)
    held = _with_early_hold(stages, attempts)
    containers = held.filter(pl.col("kind") != INNER)
    inner = held.filter(pl.col("kind") == INNER)
    beyond = np.zeros(len(run.resources), np.int64)
    for r, name in enumerate(run.resources):
        used = f"used_{name}_ms"
        frame = containers.with_columns(area=pl.col(name) * pl.col("span"))
        good = frame.filter(ended_well)
        for line, rows in (("lost", frame.filter(~ended_well)), ("am", good.filter(pl.col("kind") == AM))):
            lines.add(line, r, _of(rows, "allocated_at_ms"), _of(rows, "ended_at_ms"), _of(rows, "area"))
        tasks = good.filter(~pl.col("kind").is_in((AM, EXECUTORS)))
        amount, since, until = _of(tasks, name), _of(tasks, "since"), _of(tasks, "until")
        lines.add("early", r, since, until, amount * (until - since))
        known = tasks[used].is_not_null().to_numpy()
        for line, which in (("idle", known), ("unrecorded", ~known)):
            for begin, end in ((_of(tasks, "allocated_at_ms"), since), (until, _of(tasks, "ended_at_ms"))):
                lines.add(line, r, begin[which], end[which], (amount * (end - begin))[which])
        consumed = tasks[used].fill_null(0).to_numpy()[known]
        rest = (_of(tasks, "area") - amount * (until - since))[known]
        inside = np.minimum(consumed, rest)
        begin, end = until[known], _of(tasks, "ended_at_ms")[known]
        lines.add("used", r, begin, end, inside)
        lines.add("idle", r, begin, end, -inside)
        beyond[r] = np.maximum(0, consumed - _of(tasks, "area")[known]).sum()
        beyond[r] += _executors(lines, r, good.filter(pl.col("kind") == EXECUTORS), inner, name)
    return beyond


def _of(frame: pl.DataFrame, column: str) -> Ints:
    return frame[column].to_numpy()


def _executors(lines: LedgerLines, r: int, held: pl.DataFrame, inner: pl.DataFrame, name: str) -> int:
    """Executors: their own use and that of the tasks inside, job by job; returns what they used beyond theirs."""
    if not held.height:
        return 0
    used = f"used_{name}_ms"
    within = inner.group_by("job").agg(inside=pl.col(used).sum(), known=pl.col(used).is_not_null().any())
    jobs = (
        held.group_by("job", maintain_order=True)
        .agg(area=pl.col("area").sum(), own=pl.col(used).sum())
        .join(within, on="job", how="left", maintain_order="left")
        .with_columns(pl.col("inside", "own").fill_null(0), pl.col("known").fill_null(False))
        .with_columns(use=pl.col("inside") + pl.col("own"))
        .with_columns(taken=pl.min_horizontal("use", "area"))
    )
    known, taken = jobs.filter("known"), int(jobs.filter("known")["taken"].sum())
    lines.sums["used"][r] += taken
    lines.sums["idle"][r] += int(known["area"].sum()) - taken
    lines.sums["unrecorded"][r] += int(jobs.filter(~pl.col("known"))["area"].sum())
    _draw_executors(lines, r, held, inner, jobs, used)
    return int((known["use"] - known["taken"]).sum())


def _draw_executors(
    lines: LedgerLines, r: int, held: pl.DataFrame, inner: pl.DataFrame, jobs: pl.DataFrame, used: str
) -> None:
    """The same over time: the use of a job's tasks where these ran, cut evenly where it is more than was reserved."""
    part = jobs.select("job", "known", part=pl.col("taken") / pl.col("use").clip(1))
    of_job = held.join(part, on="job", how="left", maintain_order="left")
    for line, which in (("idle", of_job.filter("known")), ("unrecorded", of_job.filter(~pl.col("known")))):
        lines.draw(line, r, _of(which, "allocated_at_ms"), _of(which, "ended_at_ms"), _of(which, "area"))
    for rows in (held, inner):
        using = rows.join(part, on="job", how="inner", maintain_order="left").filter("known")
        area = (using[used].fill_null(0) * using["part"]).to_numpy()
        begin, end = _of(using, "since"), _of(using, "ended_at_ms")
        lines.draw("used", r, begin, end, area)
        lines.draw("idle", r, begin, end, -area)


def _with_early_hold(stages: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """With `since` and `until`: between these an attempt held its container while the maps of its job still ran.

    The record does not say which stages may start early, so that this goes by name: a stage `reduce...` that runs
    before the last end of its job's stages `map...` is taken to wait for them. Others hold from their start to it.
    """
    kind = stages.select("stage", role=pl.col("name").str.extract(r"^(map|reduce)", 1))
    rows = attempts.join(kind, on="stage", how="left", maintain_order="left")
    maps = rows.filter(pl.col("role") == "map").group_by("job").agg(maps_end=pl.col("ended_at_ms").max())
    rows = rows.join(maps, on="job", how="left", maintain_order="left").with_columns(
        since=pl.coalesce("started_at_ms", "ended_at_ms").clip("allocated_at_ms", "ended_at_ms")
    )
    maps_done = pl.min_horizontal("maps_end", "ended_at_ms")
    waits = (pl.col("role") == "reduce") & (maps_done > pl.col("since"))
    return rows.with_columns(until=pl.when(waits).then(maps_done).otherwise("since"))
