"""Google's cluster trace of 2011: task and machine events, and usage (docs/traces/google2011.md).

A task is a job's task index; its last run counts. Requests are shares of the largest machine, whose size is not public.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.formats.google2011_usage import SAMPLES, mean_use, usage_only
from heddle.traces.imports.columns import MORE, drop_empty, fields_of, number, set_aside_where, typed_blocks, whole
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head, Source

_TASK: Final = (
    "time", "missing", "job", "index", "machine", "event", "user", "class", "priority", "cpu", "memory", "disk",
    "apart",
)  # fmt: skip
_FRACTIONS: Final = ("cpu", "memory", "disk")
_TYPES: Final = {
    name: pl.String if name == "user" else pl.Float64 if name in _FRACTIONS else pl.Int64 for name in _TASK
}
_MACHINE: Final = ("time", "machine", "event", "platform", "cpu", "memory")
_SCHEDULE: Final = 1
_ENDS: Final = (2, 3, 4, 5, 6)
_REASONS: Final = (
    "of a task that never began to run in these files",
    "of a task without a request",
    "of a task with an absurd request",
)
_MOST: Final = 1e6  # times the largest machine
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


def _events(source: Source, place: int) -> pl.DataFrame:
    """The rows of a file that are events of tasks; what is not is set aside."""
    parts = []
    for rows in typed_blocks(source, ",", _TYPES):
        wrong = pl.any_horizontal(pl.col(name).is_null() for name in ("time", "job", "index", "event"))
        wrong = wrong | pl.col(MORE).is_not_null() | (pl.col("time") < 0) | ~pl.col("event").is_between(0, 8)
        kept = set_aside_where(source, rows, wrong, "not an event of a task")
        parts.append(
            kept.select(
                "time",
                "job",
                "cpu",
                "memory",
                pl.col("index").clip(0, 2**31 - 1).cast(pl.Int32),
                pl.col("event", "apart").cast(pl.Int8, strict=False),
                pl.col("priority").clip(-1, 2**15 - 1).cast(pl.Int16),
                pl.col("user").cast(pl.Categorical),
                pl.col("row").cast(pl.Int32),
            )
        )
    return pl.concat(parts).with_columns(file=pl.lit(place, pl.Int16))


def _tasks(events: pl.DataFrame, sources: list[Source], given: Given, notes: list[str]) -> pl.DataFrame:
    """One row for each task: its first submission, its last run. Decides on every event."""
    events = events.sort("job", "index", "time", maintain_order=True)
    same = events.select((pl.col("job") == pl.col("job").shift()) & (pl.col("index") == pl.col("index").shift()))
    first = np.flatnonzero(~same.to_series().fill_null(False).to_numpy())
    if not len(first):
        return pl.DataFrame()
    last = np.append(first[1:], events.height) - 1
    time, event = events["time"].to_numpy(), events["event"].to_numpy()
    place = np.arange(events.height)
    start = np.maximum.reduceat(np.where(event == _SCHEDULE, place, -1), first)
    after = place > np.repeat(start, last - first + 1)
    end = np.minimum.reduceat(np.where(np.isin(event, _ENDS) & after, place, events.height), first)
    cpu, memory = (np.fmax.reduceat(events[name].fill_null(np.nan).to_numpy(), first) for name in ("cpu", "memory"))
    absurd = (cpu > _MOST) | (memory > _MOST) | (cpu < 0) | (memory < 0)
    reason = np.select([start < 0, np.isnan(cpu) | np.isnan(memory), absurd], [1, 2, 3], 0)
    _decide(events, np.repeat(reason, last - first + 1), first, sources)
    good = reason == 0
    running = int((good & (end == events.height)).sum())
    if running:
        notes.append(f"{running} tasks were still running when the files end: they run for as long as was seen")
    apart = np.maximum.reduceat(events["apart"].fill_null(0).to_numpy(), first)
    if n_apart := int((good & (apart == 1)).sum()):
        notes.append(f"{n_apart} tasks must not share a machine with others of their job: this constraint is ignored")
    ended = np.append(time, time.max())[end]  # the last one stands for "still running"
    began = np.maximum(time[np.maximum(start, 0)], _OFFSET_US)
    head = events[first[good]]
    return pl.DataFrame(
        {
            "job": head["job"],
            "user": head["user"].cast(pl.String).str.slice(0, 12),
            "priority": events["priority"].gather(last[good]),
            "submit_at_ms": (np.maximum(time[first], _OFFSET_US) - _OFFSET_US)[good] // 1000,
            "duration_ms": np.maximum(0, ended - began)[good] // 1000,
            "memory_mb": np.ceil(memory[good] * given.assumed["machine_memory_mb"]).astype(np.int64),
            "vcores_milli": np.ceil(cpu[good] * given.assumed["machine_vcores"] * MILLI).astype(np.int64),
        }
    )


def _decide(
    events: pl.DataFrame, reason: npt.NDArray[np.int64], first: npt.NDArray[np.int64], sources: list[Source]
) -> None:
    """The fate of every event: the first of a task stands for it, the others are parts of it."""
    leads = np.zeros(events.height, bool)
    leads[first] = True
    row, file = events["row"].to_numpy(), events["file"].to_numpy()
    for place, source in enumerate(sources):
        mine = file == place
        source.rows.tasks(row[mine & leads & (reason == 0)])
        source.rows.merged(row[mine & ~leads & (reason == 0)], "their task (events)")
        for number_of_reason, words in enumerate(_REASONS, 1):
            source.rows.set_aside(row[mine & (reason == number_of_reason)], words)


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
        rows = set_aside_where(source, rows, wrong | pl.col(MORE).is_not_null(), "not an event of a machine")
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
