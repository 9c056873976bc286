"""A workload from a table of tasks, whole columns at a time: a million rows need no Python loop.

Rows of a job with the same stage name are one stage; where they reserve different amounts they become several stages,
since all containers of a stage reserve the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.resources import BASE_RESOURCES
from heddle.model.workload import AM, JOB, STAGE, TASK, TASKS, Workload
from heddle.traces.task_hosts import hosts_of_tasks
from heddle.traces.use_profiles import use_of_tasks

DEFAULT_STAGE: Final = "tasks"
DEFAULT_QUEUE: Final = "root.default"
DEFAULT_USER: Final = "nobody"

# Columns that may be left out, with what then stands for them.
_OPTIONAL: Final[dict[str, tuple[Any, Any]]] = {
    "stage": (DEFAULT_STAGE, pl.String),
    "count": (1, pl.Int64),
    "queue": (DEFAULT_QUEUE, pl.String),
    "user": (DEFAULT_USER, pl.String),
    "priority": (0, pl.Int64),
    "label": ("", pl.String),
    "kind": (TASKS, pl.Int8),
    "slots": (1, pl.Int16),
    "slow_start_permille": (-1, pl.Int16),
    "shuffle_ms": (0, pl.Int64),
    "idle_timeout_ms": (0, pl.Int64),
}
_AM_RUNS: Final = {"am_runs_on": "runs_on", "am_started_at_ms": "started_at_ms"}  # as a task says it of itself
_OF_STAGE: Final = ("kind", "slots", "slow_start_permille", "shuffle_ms", "idle_timeout_ms")

Edges = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]


@dataclass
class TaskTable:
    """`tasks` has a row for each task, or for each `count` of equal ones.

    Columns: `job`, `submit_at_ms` (the earliest of a job's rows counts), `duration_ms`, one for each resource. May be
    left out: `stage`, `count`, `queue`, `user`, `priority`, `label`, `prefers` (a host), `input_bytes` (there),
    `used_<resource>` (null: not recorded), `am_<resource>` (null: no AM), `runs_on` (a host, when the workload begins)
    and `started_at_ms`, the same with `am_` in front, and the columns of a stage.
    """

    tasks: pl.DataFrame
    resources: tuple[str, ...] = BASE_RESOURCES
    stage_after: pl.DataFrame | None = None  # job, stage, before; may have bytes, of all tasks of both together
    job_after: pl.DataFrame | None = None  # job, before
    levels: pl.DataFrame | None = None  # row (of tasks), until_permyriad, one column for each resource: use over time
    about: dict[str, Any] = field(default_factory=dict)


def assemble(name: str, table: TaskTable) -> Workload:
    """The workload of these tasks, in canonical order: by submission, then by first row."""
    return assemble_with_rows(name, table)[0]


def assemble_with_rows(name: str, table: TaskTable) -> tuple[Workload, Numbers]:
    """The workload, and for each of its tasks the row of the table that it comes from; -1 for an AM."""
    resources = table.resources
    rows = _complete(table.tasks, resources)
    jobs = _jobs(rows, resources)
    rows = _with_masters(rows, jobs, resources)
    rows = rows.join(jobs.select("job", "job_number"), on="job", how="left", maintain_order="left")
    rows = rows.drop("job", "queue", "user", "priority", "submit_at_ms")  # of the job from here on
    names = rows["stage"].unique(maintain_order=True)
    rows = rows.with_columns(stage=rows["stage"].cast(pl.Enum(names)))
    labels = ["", *(label for label in rows["label"].unique(maintain_order=True) if label != "")]
    key = ["job_number", "stage", "kind", *resources]
    stages = _stages(rows, key)
    shapes = stages.select(resources).unique(maintain_order=True).with_row_index("shape")
    rows = rows.join(stages.select(*key, "stage_number"), on=key, how="left", maintain_order="left")
    stages = stages.join(shapes, on=list(resources), how="left", maintain_order="left")
    rows = rows.sort("stage_number", maintain_order=True)

    stage = np.zeros(stages.height, STAGE)
    stage["job"] = stages["job_number"].to_numpy()
    stage["label"] = _number(stages["label"], labels)
    for column in ("shape", "n_tasks", *_OF_STAGE):
        stage[column] = stages[column].to_numpy()
    stage["first_task"] = _starts(stage["n_tasks"])
    stage_after, edge_bytes = _stage_edges(table.stage_after, jobs, stages, stage)

    queues, users = (jobs[column].unique(maintain_order=True).to_list() for column in ("queue", "user"))
    job = np.zeros(jobs.height, JOB)
    job["submit_at_ms"] = jobs["submit_at_ms"].to_numpy()
    job["priority"] = jobs["priority"].cast(pl.Int64).clip(-(2**31), 2**31 - 1).to_numpy()
    job["queue"] = _number(jobs["queue"], queues)
    job["user"] = _number(jobs["user"], users)
    job["has_am"] = jobs["has_am"].to_numpy()
    job["n_stages"] = np.bincount(stage["job"], minlength=jobs.height)
    job["first_stage"] = _starts(job["n_stages"])
    job_after = _job_edges(table.job_after, jobs, job)

    counts = rows["count"].to_numpy()
    first_segment, segments = use_of_tasks(rows, resources, table.levels)
    task = np.zeros(int(counts.sum()), TASK)
    task["duration_ms"] = np.repeat(rows["duration_ms"].to_numpy(), counts)
    task["first_segment"] = np.repeat(first_segment, counts)
    placed = hosts_of_tasks(rows, counts)
    reads = rows["input_bytes"].fill_null(0).to_numpy() if "input_bytes" in rows.columns else np.zeros(0, np.int64)
    workload = Workload(
        name=name,
        resources=resources,
        queues=tuple(queue if queue.split(".")[0] == "root" else f"root.{queue}" for queue in queues),
        users=tuple(users),
        labels=tuple(labels),
        shapes=np.ascontiguousarray(shapes.select(resources).to_numpy()),
        jobs=job,
        stages=stage,
        tasks=task,
        segments=segments,
        stage_after=stage_after,
        job_after=job_after,
        job_names=jobs["job"].cast(pl.String).alias("job"),
        stage_names=_stage_names(stages),
        prefers=placed.prefers,
        running_on=placed.running_on,
        started_at_ms=placed.started_at_ms,
        edge_bytes=edge_bytes,
        input_bytes=np.repeat(reads, counts) if reads.any() else None,
        hosts=placed.hosts,
        about=table.about,
    )
    return workload, np.repeat(rows["row"].to_numpy(), counts)


def _complete(tasks: pl.DataFrame, resources: tuple[str, ...]) -> pl.DataFrame:
    """With all optional columns, and without nulls in them."""
    filled = [
        pl.col(column).fill_null(default) if column in tasks.columns else pl.lit(default, dtype).alias(column)
        for column, (default, dtype) in _OPTIONAL.items()
    ]
    amounts = [pl.col(column).cast(pl.Int64) for column in resources]
    return tasks.with_columns(*filled, *amounts).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))


def _jobs(rows: pl.DataFrame, resources: tuple[str, ...]) -> pl.DataFrame:
    of_am = [f"am_{resource}" for resource in resources if f"am_{resource}" in rows.columns]
    running = [column for column in _AM_RUNS if column in rows.columns]
    found = (
        rows.group_by("job", maintain_order=True)
        .agg(
            pl.col("submit_at_ms").min(),
            *(pl.col(column).first() for column in ("queue", "user", "priority")),
            *(pl.col(column).drop_nulls().first() for column in (*of_am, *running)),
        )
        .sort("submit_at_ms", maintain_order=True)
        .with_row_index("job_number")
    )
    return found.with_columns((pl.col(of_am[0]).is_not_null() if of_am else pl.lit(False)).alias("has_am"))


def _with_masters(rows: pl.DataFrame, jobs: pl.DataFrame, resources: tuple[str, ...]) -> pl.DataFrame:
    """The AMs as further rows, in front of all others."""
    masters = jobs.filter("has_am")
    if not masters.height:
        return rows
    amounts = [
        (pl.col(f"am_{one}") if f"am_{one}" in masters.columns else pl.lit(0)).cast(pl.Int64).alias(one)
        for one in resources
    ]
    running = [pl.col(column).alias(of_task) for column, of_task in _AM_RUNS.items() if column in masters.columns]
    plain = _complete(masters.select("job", "submit_at_ms", *amounts, *running), resources)
    plain = plain.with_columns(
        row=pl.lit(-1, pl.Int64), stage=pl.lit("am"), kind=pl.lit(AM, pl.Int8), duration_ms=pl.lit(0, pl.Int64)
    )
    return pl.concat([plain, rows], how="diagonal_relaxed")


def _stages(rows: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The stages in canonical order: of each job its AM, then its stages by first row."""
    return (
        rows.group_by(key, maintain_order=True)
        .agg(
            pl.col("row").first(),
            pl.col("count").sum().alias("n_tasks"),
            *(pl.col(column).first() for column in (*_OF_STAGE, "label") if column != "kind"),
        )
        .sort("job_number", "row", maintain_order=True)
        .with_row_index("stage_number")
    )


def _stage_names(stages: pl.DataFrame) -> pl.Series:
    """Their names; the second of a job's stages with one name is called `name#2`."""
    nth = pl.col("stage").cum_count().over("job_number", "stage")
    name = pl.col("stage").cast(pl.String)
    numbered = pl.when(nth > 1).then(name + "#" + nth.cast(pl.String)).otherwise(name)
    return stages.select(numbered.alias("stage")).to_series()


def _stage_edges(
    edges: pl.DataFrame | None, jobs: pl.DataFrame, stages: pl.DataFrame, stage: npt.NDArray[Any]
) -> tuple[Edges, Numbers | None]:
    """(which stage waits for which, by number; bytes if any); writes the counts into `stage`."""
    if edges is None or not edges.height:
        return np.zeros(0, np.int32), None
    number = stages.filter(pl.col("kind") != AM).select("job_number", pl.col("stage").cast(pl.String), "stage_number")
    found = (
        edges.unique(maintain_order=True)
        .join(jobs.select("job", "job_number"), on="job")
        .join(number, on=["job_number", "stage"])
        .join(number.rename({"stage": "before", "stage_number": "earlier"}), on=["job_number", "before"])
        .sort("stage_number", "earlier")
    )
    stage["n_after"] = np.bincount(found["stage_number"].to_numpy(), minlength=len(stage))
    stage["first_after"] = _starts(stage["n_after"])
    sizes = _shared_among_kinds(found, stages) if "bytes" in found.columns else np.zeros(0, np.int64)
    return found["earlier"].cast(pl.Int32).to_numpy(), sizes if sizes.any() else None


def _shared_among_kinds(edges: pl.DataFrame, stages: pl.DataFrame) -> Numbers:
    """The bytes of each edge: those between two names, by tasks, where one name stands for several stages."""
    n_tasks = pl.col("n_tasks")
    share = stages.select((n_tasks / n_tasks.sum().over("job_number", "stage", "kind")).fill_nan(1.0)).to_series()
    shares = share.to_numpy()
    sizes = edges["bytes"].to_numpy() * shares[edges["stage_number"].to_numpy()] * shares[edges["earlier"].to_numpy()]
    whole: Numbers = np.floor(sizes).astype(np.int64)
    return whole


def _job_edges(edges: pl.DataFrame | None, jobs: pl.DataFrame, job: npt.NDArray[Any]) -> Edges:
    if edges is None or not edges.height:
        return np.zeros(0, np.int32)
    found = (
        edges.unique(maintain_order=True)
        .join(jobs.select("job", "job_number"), on="job")
        .join(jobs.select(pl.col("job").alias("before"), pl.col("job_number").alias("earlier")), on="before")
        .sort("job_number", "earlier")
    )
    job["n_after"] = np.bincount(found["job_number"].to_numpy(), minlength=len(job))
    job["first_after"] = _starts(job["n_after"])
    return found["earlier"].cast(pl.Int32).to_numpy()


def _number(values: pl.Series, names: list[str]) -> Numbers:
    return values.replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()


def _starts(counts: npt.NDArray[Any]) -> Numbers:
    starts: Numbers = np.cumsum(counts, dtype=np.int64) - counts
    return starts
