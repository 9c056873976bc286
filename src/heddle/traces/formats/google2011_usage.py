"""Use of Google's jobs in five-minute windows: beside the task events, or as a workload of its own."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD
from heddle.traces.assemble import TaskTable
from heddle.traces.imports.format import Files, Given, about
from heddle.traces.imports.source import Source

SAMPLES: Final = ("start_s", "job_id", "n_tasks", "cpu_mean", "cpu_max", "mem_used", "mem_assigned")
_WINDOW_S: Final = 300


def _samples(sources: list[Source]) -> pl.DataFrame:
    """The usable windows; those of no task are set aside."""
    parts = []
    for number, source in enumerate(sources):
        frame, rows = source.parquet(list(SAMPLES))
        with source.reading():
            frame = frame.select(
                pl.col("start_s", "job_id", "n_tasks").cast(pl.Int64),
                pl.col("cpu_mean", "cpu_max", "mem_used", "mem_assigned").cast(pl.Float64),
            ).with_columns(row=pl.Series(rows), file=pl.lit(number))
        amounts = ("cpu_mean", "cpu_max", "mem_used", "mem_assigned")
        good = pl.all_horizontal(pl.col(name).is_between(0, 1e6) for name in amounts) & (pl.col("n_tasks") > 0)
        good = good & (pl.col("n_tasks") < 10**7) & pl.col("start_s").is_between(0, 10**10)
        kept = frame.filter(good.fill_null(False))
        source.rows.set_aside(frame.filter(~good.fill_null(False))["row"].to_numpy(), "a window without tasks or use")
        parts.append(kept)
    return pl.concat(parts).sort("job_id", "start_s", maintain_order=True)


def mean_use(sources: list[Source], given: Given) -> pl.DataFrame:
    """job, used_memory_mb, used_vcores_milli: the mean use of one task of each job."""
    samples = _samples(sources)
    for number, source in enumerate(sources):
        source.rows.merged(samples.filter(pl.col("file") == number)["row"].to_numpy(), "the tasks of their job (use)")
    total = pl.col("n_tasks").sum()
    return (
        samples.group_by("job_id", maintain_order=True)
        .agg(
            used_memory_mb=(pl.col("mem_used").sum() / total * given.assumed["machine_memory_mb"])
            .ceil()
            .cast(pl.Int64),
            used_vcores_milli=(pl.col("cpu_mean").sum() / total * given.assumed["machine_vcores"] * MILLI)
            .ceil()
            .cast(pl.Int64),
        )
        .rename({"job_id": "job"})
    )


def usage_only(files: Files, given: Given) -> tuple[TaskTable, list[str]]:
    """Each job as tasks that live through its windows and use what the windows say."""
    sources = files["usage"]
    samples = _samples(sources).with_columns(
        memory=pl.col("mem_used") / pl.col("n_tasks") * given.assumed["machine_memory_mb"],
        vcores=pl.col("cpu_mean") / pl.col("n_tasks") * given.assumed["machine_vcores"] * MILLI,
        assigned=pl.col("mem_assigned") / pl.col("n_tasks") * given.assumed["machine_memory_mb"],
        most=pl.col("cpu_max") / pl.col("n_tasks") * given.assumed["machine_vcores"] * MILLI,
    )
    if not samples.height:
        raise BadInput.of("google2011", "no usable window of use in these files")
    jobs = samples.group_by("job_id", maintain_order=True).agg(
        submit=pl.col("start_s").min(),
        end=pl.col("start_s").max() + _WINDOW_S,
        count=pl.col("n_tasks").max(),
        memory_mb=pl.max_horizontal(pl.col("assigned").max(), pl.col("memory").max()).ceil().cast(pl.Int64),
        vcores_milli=pl.max_horizontal(pl.col("most").max(), pl.lit(1.0)).ceil().cast(pl.Int64),
    )
    jobs = jobs.with_row_index("place")
    origin = int(jobs["submit"].to_numpy().min())
    tasks = jobs.select(
        "count",
        "memory_mb",
        "vcores_milli",
        job=pl.col("job_id").cast(pl.String),
        submit_at_ms=(pl.col("submit") - origin) * 1000,
        duration_ms=(pl.col("end") - pl.col("submit")) * 1000,
    )
    span = pl.col("end") - pl.col("submit")
    levels = (
        samples.join(jobs.select("job_id", "place", "submit", "end"), on="job_id", maintain_order="left")
        .with_columns(until=((pl.col("start_s") + _WINDOW_S - pl.col("submit")) * PERMYRIAD // span))
        .group_by("place", "until", maintain_order=True)
        .agg(pl.col("memory").mean(), pl.col("vcores").mean())
        .select(
            row=pl.col("place").cast(pl.Int64),
            until_permyriad=pl.col("until").clip(1, PERMYRIAD),
            memory_mb=pl.col("memory").ceil().cast(pl.Int64),
            vcores_milli=pl.col("vcores").ceil().cast(pl.Int64),
        )
    )
    leaders = samples.filter(pl.col("job_id").is_first_distinct())
    for number, source in enumerate(sources):
        mine = leaders.filter(pl.col("file") == number)["row"].to_numpy()
        source.rows.tasks(mine)
        source.rows.merged(source.rows.undecided(), "the tasks of their job (use)")
    notes = [
        "use of whole jobs without task events: a job is its largest number of tasks, all living through its windows",
        "what a task reserves is what was assigned to it at most; its vcores are its largest use",
    ]
    return TaskTable(tasks, levels=levels, about=about("google2011", files, given)), notes
