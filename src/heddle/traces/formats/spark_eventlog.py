"""Spark event logs: one listener event to a line (docs/traces/spark-eventlog.md).

An application is a job: its executors are containers with slots, its tasks run inside them. Executors of one size are
one stage; stages wait for their parents. A log has peaks and no use over time: use is constant where there is any.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build, constant
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique, from_zero, leaf_queues, queue_name
from heddle.traces.imports.json_items import Object, inner, integer, items, json_lines, real, word
from heddle.traces.imports.source import Head, Source

_SIZE: Final = re.compile(r"\s*(\d+)\s*([kmgtp]?)(i?b)?\s*", re.IGNORECASE)
_UNITS: Final = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1 << 20, "p": 1 << 30}
_LEAST_OVERHEAD_MB: Final = 384  # Spark's own rule: 10% of the heap, at least this
_BYTES_PER_MB: Final = 1 << 20
_MOST_MB: Final = 10**9
_MOST_CORES: Final = 10_000


def _role(head: Head) -> str | None:
    return "log" if '"Event":"SparkListener' in head.text[:4096].replace(" ", "") else None


def size_mb(text: str, default_unit: str = "m") -> int | None:
    """Spark's sizes: `40G`, `512m`; a bare number is in the unit that the property has by default."""
    match = _SIZE.fullmatch(text)
    if match is None or len(match[1]) > 12:
        return None
    return min(_MOST_MB, round(int(match[1]) * _UNITS[(match[2] or default_unit).lower()]))


@dataclass
class _App:
    """What one log says of its application."""

    name: str = ""
    user: str = "nobody"
    start: int | None = None
    properties: Object = field(default_factory=dict)
    executors: list[int] = field(default_factory=list)  # cores of each
    parents: dict[str, list[str]] = field(default_factory=dict)  # by stage
    tasks: dict[str, dict[int, tuple[int, Object]]] = field(default_factory=dict)  # by stage and index: row, end event
    profile: Object = field(default_factory=dict)
    peak_heap: int = 0


def _read(files: Files, given: Given) -> Imported:
    notes: list[str] = []
    unique = Unique()
    found = [application(source, given, unique, notes) for source in files["log"]]
    jobs = from_zero([job for job in found if job is not None])
    if not jobs:
        raise BadInput.of("spark-eventlog", "no application with a task that succeeded in these files")
    return Imported(build("spark", leaf_queues(jobs), about=about("spark-eventlog", files, given)), notes=notes)


def application(source: Source, given: Given, unique: Unique, notes: list[str]) -> JobSpec | None:
    """The job of a log, named by its application, if tasks of it succeeded; it is submitted in ms since 1970."""
    app = _App()
    started: Counter[tuple[str, int | None]] = Counter()
    starts: dict[tuple[str, int | None], list[int]] = {}
    for row, event in json_lines(source):
        kind = word(event, "Event").rpartition(".")[2].removeprefix("SparkListener")
        if kind == "TaskStart":
            starts.setdefault((_stage(event), integer(inner(event, "Task Info"), "Task ID")), []).append(row)
        elif kind == "TaskEnd":
            started[(_stage(event), integer(inner(event, "Task Info"), "Task ID"))] += 1
            _end(source, app, row, event)
        elif kind:
            _learn(app, kind, event)
            known = kind in _LEARNT
            source.rows.metadata(row, "applications, executors, stages" if known else "other listener events")
        else:
            source.rows.set_aside(row, "not a listener event")
    for key, rows in starts.items():
        if started[key]:
            source.rows.merged(rows, "their task (starts)")
        else:
            source.rows.set_aside(rows, "a task that began but whose end is not in the log")
    job = _spec(source, app, given, unique, notes)
    if job is None:
        notes.append(f"{source.name}: no job comes of it: no task succeeded, or its start is missing")
    return job


def _stage(event: Object) -> str:
    return word(event, "Stage ID", "?")


_LEARNT: Final = (
    "ApplicationStart", "EnvironmentUpdate", "ExecutorAdded", "StageSubmitted", "StageCompleted",
    "ResourceProfileAdded", "StageExecutorMetrics",
)  # fmt: skip


def _learn(app: _App, kind: str, event: Object) -> None:
    if kind == "ApplicationStart":
        app.name, app.user = word(event, "App ID", word(event, "App Name")), word(event, "User", "nobody")
        app.start = integer(event, "Timestamp")
    elif kind == "EnvironmentUpdate":
        app.properties = inner(event, "Spark Properties")
    elif kind == "ExecutorAdded" and word(event, "Executor ID") != "driver":
        app.executors.append(_cores(integer(inner(event, "Executor Info"), "Total Cores")))
    elif kind in ("StageSubmitted", "StageCompleted"):
        info = inner(event, "Stage Info")
        app.parents[word(info, "Stage ID", "?")] = [str(one) for one in items(info, "Parent IDs")]
    elif kind == "ResourceProfileAdded" and integer(event, "Resource Profile Id") == 0:
        app.profile = inner(event, "Executor Resource Requests")
    elif kind == "StageExecutorMetrics" and word(event, "Executor ID") != "driver":
        app.peak_heap = max(app.peak_heap, _peak(inner(event, "Executor Metrics")))


def _cores(said: int | None) -> int:
    return min(_MOST_CORES, max(1, said or 1))


def _peak(metrics: Any) -> int:
    """Resident memory where the process tree was measured, else heap and off-heap."""
    resident = sum(integer(metrics, f"ProcessTree{part}RSSMemory") or 0 for part in ("JVM", "Python", "Other"))
    return resident or sum(integer(metrics, f"JVM{part}Memory") or 0 for part in ("Heap", "OffHeap"))


def _end(source: Source, app: _App, row: int, event: Object) -> None:
    """The end of an attempt: the first success of a task's index counts, the others are merged or set aside."""
    info = inner(event, "Task Info")
    index, launch, finish = (integer(info, key) for key in ("Index", "Launch Time", "Finish Time"))
    app.peak_heap = max(app.peak_heap, _peak(inner(event, "Task Executor Metrics")))
    if word(inner(event, "Task End Reason"), "Reason") != "Success":
        source.rows.merged(row, "their task (attempts that failed or were killed)")
    elif index is None or launch is None or finish is None or not 0 <= finish - launch < 1 << 40:
        source.rows.set_aside(row, "a task whose index or times are missing or run backwards")
    elif index in app.tasks.setdefault(_stage(event), {}):
        source.rows.merged(row, "their task (further successes: stage retries, speculation)")
    else:
        app.tasks[_stage(event)][index] = (row, event)


def _spec(source: Source, app: _App, given: Given, unique: Unique, notes: list[str]) -> JobSpec | None:
    rows = [row for tasks in app.tasks.values() for row, _ in tasks.values()]
    if not rows or app.start is None:
        source.rows.set_aside(rows, "a task of an application whose start is not in the log")
        return None
    source.rows.tasks(rows)
    memory_mb = _executor_mb(app, given)
    executors = app.executors
    if not executors:
        executors = [_cores(integer(app.properties, "spark.executor.cores"))]
        notes.append(
            f"{source.name}: no executor is in the log (local mode?); one with {executors[0]} cores stands for it"
        )
    cpus = max(1, round(real(app.properties, "spark.task.cpus") or 1))
    idle = 60_000 if word(app.properties, "spark.dynamicAllocation.enabled") == "true" else 0
    stages = [
        StageSpec(
            f"executors-{cores}",
            (memory_mb, cores * MILLI),
            [TaskSpec(0, _executor_use(app))] * count,
            kind=EXECUTORS,
            slots=max(1, cores // cpus),
            idle_timeout_ms=idle,
        )
        for cores, count in sorted(Counter(executors).items())
    ]
    known = {name for name, tasks in app.tasks.items() if tasks}
    for name, tasks in app.tasks.items():
        if tasks:
            before = sorted(_ancestors(app, name, known))
            stages.append(
                StageSpec(f"stage-{name}", (0, 0), [_task(end) for _, end in tasks.values()], tuple(before), INNER)
            )
    am = (int(given.assumed["am_memory_mb"]), MILLI)
    queue = queue_name(word(app.properties, "spark.yarn.queue"))
    return JobSpec(unique(app.name or source.stem), app.start, stages, am=am, queue=queue, user=app.user)


def _ancestors(app: _App, name: str, known: set[str]) -> set[str]:
    """The nearest ancestors that have tasks: a skipped stage has none, but its own parents count."""
    found: set[str] = set()
    seen = {name}
    todo = list(app.parents.get(name, []))
    while todo:
        parent = todo.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in known:
            found.add(f"stage-{parent}")
        else:
            todo += app.parents.get(parent, [])
    return found


def _task(end: Object) -> TaskSpec:
    info = inner(end, "Task Info")
    duration = (integer(info, "Finish Time") or 0) - (integer(info, "Launch Time") or 0)
    metrics = inner(end, "Task Metrics")
    cpu_ns = integer(metrics, "Executor CPU Time")
    use: Profile | None = None
    if cpu_ns is not None and cpu_ns >= 0 and duration > 0:
        memory = integer(metrics, "Peak Execution Memory") or 0
        use = constant(max(0, memory) // _BYTES_PER_MB, min(cpu_ns // (duration * 1000), 1024 * MILLI))
    return TaskSpec(duration, use)


def _executor_use(app: _App) -> Profile | None:
    """What the executor itself holds: the peak that was measured, all of its life."""
    return constant(-(-app.peak_heap // _BYTES_PER_MB), 0) if app.peak_heap > 0 else None


def _executor_mb(app: _App, given: Given) -> int:
    """Heap and overhead: the resource profile says both; else the properties, with Spark's rule for what is unset."""
    heap = integer(inner(app.profile, "memory"), "Amount")
    overhead = integer(inner(app.profile, "memoryOverhead"), "Amount")
    off_heap = integer(inner(app.profile, "offHeap"), "Amount") or 0
    if heap is None:
        heap = size_mb(word(app.properties, "spark.executor.memory")) or int(given.assumed["executor_memory_mb"])
    if overhead is None:
        said = word(app.properties, "spark.executor.memoryOverhead") or word(
            app.properties, "spark.yarn.executor.memoryOverhead"
        )
        overhead = size_mb(said) if said else None
    if overhead is None:
        overhead = max(_LEAST_OVERHEAD_MB, heap // 10)
    return min(_MOST_MB, max(1, heap + overhead + off_heap))


FORMAT = Format(
    name="spark-eventlog",
    summary="Spark event logs, plain or packed, one application each",
    roles={"log": "the listener events of one application"},
    role=_role,
    needs=("log",),
    read=_read,
    has="executors with cores and memory, stages with parents, tasks with times and CPU; peaks of memory in newer logs",
    models="executor memory that is not said; the AM; all executors are asked for at the start; failed attempts: none",
    assumptions={
        "executor_memory_mb": Assumption(1024, "heap of an executor where no property says it (Spark's default)", 1),
        "am_memory_mb": Assumption(1024, "reserved by the application master", 1),
    },
)
