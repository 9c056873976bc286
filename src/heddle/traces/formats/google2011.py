"""Google's cluster trace of 2011: task and machine events, and usage (docs/traces/google2011.md).

A task is a job's task index; its last run counts. Requests are shares of the largest machine, whose size is not public.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import polars as pl

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.formats.google2011_usage import SAMPLES, mean_use, usage_only
from heddle.traces.imports.columns import drop_empty, fields_of, number, set_aside_where, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head, Source

_TASK: Final = (
    "time", "missing", "job", "index", "machine", "event", "user", "class", "priority", "cpu", "memory", "disk",
    "apart",
)  # fmt: skip
_MACHINE: Final = ("time", "machine", "event", "platform", "cpu", "memory")
_SCHEDULE: Final = 1
_ENDS: Final = (2, 3, 4, 5, 6)
_OFFSET_US: Final = 600_000_000  # the trace begins at 600 s; what is at 0 was there before
_HASH: Final = r"[A-Za-z0-9+/=]*"
_LINES: Final = {
    "task events": re.compile(rf"\d+,\d*,\d+,\d+,\d*,\d,{_HASH},\d*,\d+,[\d.e-]*,[\d.e-]*,[\d.e-]*,[01]?"),
    "machine events": re.compile(rf"\d+,\d+,\d,{_HASH},[\d.e-]*,[\d.e-]*"),
    "job events": re.compile(rf"\d+,\d*,\d+,\d,{_HASH},\d*,{_HASH},{_HASH}"),
}


def _role(head: Head) -> str | None:
    if head.columns:
        return "usage" if set(SAMPLES) <= set(head.columns) else None
    return next((role for role, line in _LINES.items() if line.fullmatch(head.first.strip())), None)


def _read(files: Files, given: Given) -> Imported:
    if "task events" not in files:
        if "usage" not in files:
            raise BadInput.of("google2011", "neither task events nor usage are among the files")
        table, notes = usage_only(files, given)
        return Imported(assemble("google2011-usage", table), notes=notes)
    events = pl.concat([_events(source, number) for number, source in enumerate(files["task events"])])
    notes = [
        f"requests are shares of the largest machine, taken as {given.assumed['machine_memory_mb']:g} MB and "
        f"{given.assumed['machine_vcores']:g} vcores"
    ]
    tasks = _tasks(events, files["task events"], given, notes)
    if not tasks.height:
        raise BadInput.of("google2011", "no task that ran in these files")
    if "usage" in files:
        use = mean_use(files["usage"], given)
        tasks = tasks.join(use, on="job", how="left", maintain_order="left")
    for source in files.get("job events", []):
        lines = source.lines()
        source.rows.metadata(lines.rows, "job events: tasks tell the same")
    cluster = _cluster(files, given, notes)
    tasks = tasks.with_columns(job=pl.col("job").cast(pl.String))
    return Imported(assemble("google2011", TaskTable(tasks, about=about("google2011", files, given))), cluster, notes)


def _events(source: Source, file_number: int) -> pl.DataFrame:
    """The rows of a file that are events of tasks, as numbers."""
    parts = []
    for lines in source.chunks():
        rows = fields_of(drop_empty(source, lines), ",", _TASK)
        rows = rows.select(
            "row",
            "user",
            "more",
            *(whole(name) for name in ("time", "job", "index", "event", "priority", "apart")),
            *(number(name) for name in ("cpu", "memory")),
        )
        wrong = pl.any_horizontal(pl.col(name).is_null() for name in ("time", "job", "index", "event"))
        wrong = wrong | pl.col("more").is_not_null() | (pl.col("time") < 0) | ~pl.col("event").is_between(0, 8)
        rows = set_aside_where(source, rows, wrong, "not an event of a task")
        parts.append(rows.drop("more").with_columns(pl.col("event").cast(pl.Int8), pl.col("user").cast(pl.Categorical)))
    return pl.concat(parts).with_columns(file=pl.lit(file_number, pl.Int16))


def _tasks(events: pl.DataFrame, sources: list[Source], given: Given, notes: list[str]) -> pl.DataFrame:
    """One row for each task: its first submission, its last run. Decides on every event."""
    events = events.sort("job", "index", "time", maintain_order=True)
    time, event = pl.col("time"), pl.col("event")
    last_start = time.filter(event == _SCHEDULE).last()
    end_of_trace = int(events["time"].to_numpy().max(initial=0))
    found = events.group_by("job", "index", maintain_order=True).agg(
        submit=time.min(),
        start=last_start,
        end=time.filter(event.is_in(_ENDS) & (time >= last_start)).first(),
        cpu=pl.col("cpu").max(),
        memory=pl.col("memory").max(),
        user=pl.col("user").first(),
        priority=pl.col("priority").last(),
        apart=pl.col("apart").max(),
        leader=pl.col("row").first(),
        leader_file=pl.col("file").first(),
    )
    reason = (
        pl.when(pl.col("start").is_null())
        .then(pl.lit("of a task that never began to run in these files"))
        .when(pl.col("cpu").is_null() | pl.col("memory").is_null())
        .then(pl.lit("of a task without a request"))
    )
    found = found.with_columns(reason=reason)
    _decide(events.join(found.select("job", "index", "reason", "leader", "leader_file"), on=["job", "index"]), sources)
    good = found.filter(pl.col("reason").is_null())
    running = int(good["end"].null_count())
    if running:
        notes.append(f"{running} tasks were still running when the files end: they run for as long as was seen")
    if apart := int((good["apart"] == 1).sum()):
        notes.append(f"{apart} tasks must not share a machine with others of their job: this constraint is ignored")
    return good.select(
        "job",
        "priority",
        user=pl.col("user").cast(pl.String).str.slice(0, 12),
        submit_at_ms=(pl.col("submit").clip(_OFFSET_US) - _OFFSET_US) // 1000,
        duration_ms=(pl.col("end").fill_null(end_of_trace) - pl.col("start").clip(_OFFSET_US)).clip(0) // 1000,
        memory_mb=(pl.col("memory") * given.assumed["machine_memory_mb"]).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cpu") * given.assumed["machine_vcores"] * MILLI).ceil().cast(pl.Int64),
    )


def _decide(events: pl.DataFrame, sources: list[Source]) -> None:
    """The fate of every event: the first of a task stands for it, the others are parts of it."""
    is_leader = (pl.col("row") == pl.col("leader")) & (pl.col("file") == pl.col("leader_file"))
    for place, source in enumerate(sources):
        own = events.filter(pl.col("file") == place)
        good = own.filter(pl.col("reason").is_null())
        source.rows.tasks(good.filter(is_leader)["row"].to_numpy())
        source.rows.merged(good.filter(~is_leader)["row"].to_numpy(), "their task (events)")
        for reason in own["reason"].drop_nulls().unique(maintain_order=True):
            source.rows.set_aside(own.filter(pl.col("reason") == reason)["row"].to_numpy(), reason)


def _cluster(files: Files, given: Given, notes: list[str]) -> Cluster | None:
    """The machines that were there at the beginning."""
    sizes: dict[int, tuple[int, int]] = {}
    later = 0
    for source in files.get("machine events", []):
        rows = fields_of(drop_empty(source, source.lines()), ",", _MACHINE)
        rows = rows.with_columns(
            *(whole(name) for name in ("time", "machine", "event")), number("cpu"), number("memory")
        )
        wrong = pl.any_horizontal(pl.col(name).is_null() for name in ("time", "machine", "event"))
        rows = set_aside_where(source, rows, wrong | pl.col("more").is_not_null(), "not an event of a machine")
        first = rows.filter((pl.col("time") == 0) & (pl.col("event") == 0))
        later += rows.height - first.height
        source.rows.metadata(rows["row"].to_numpy(), "machines")
        for machine, cpu, memory in first.select("machine", "cpu", "memory").drop_nulls().rows():
            sizes[machine] = (
                int(np.ceil(memory * given.assumed["machine_memory_mb"])),
                int(np.ceil(cpu * given.assumed["machine_vcores"] * MILLI)),
            )
    if not sizes:
        return None
    if later:
        notes.append(
            f"{later} later machine events (added, removed, changed) are not modelled: the machines of the start stay"
        )
    nodes: list[Node] = []
    for number_of_class, size in enumerate(sorted(set(sizes.values()), reverse=True)):
        count = sum(1 for one in sizes.values() if one == size)
        nodes += [Node(f"class{number_of_class}-{one}", size, size) for one in range(count) if min(size) > 0]
    return Cluster(tuple(nodes), name="google2011")


FORMAT = Format(
    name="google2011",
    summary="Google's cluster trace of 2011: task and machine events, usage",
    roles={
        "task events": "task_events parts",
        "machine events": "machine_events",
        "job events": "job_events parts",
        "usage": "use of jobs in windows of five minutes (Parquet)",
    },
    role=_role,
    read=_read,
    has="tasks with requests, users, priorities, every event; machines with sizes; use in five-minute windows",
    models="sizes in MB and vcores; machines that come and go; constraints are ignored",
    assumptions={
        "machine_memory_mb": Assumption(65536, "memory of the largest machine, 1.0 in the trace", 1),
        "machine_vcores": Assumption(32, "vcores of the largest machine, 1.0 in the trace", 0.001),
    },
)
