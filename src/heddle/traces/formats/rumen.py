"""Rumen's job traces: concatenated JSON, a job with its tasks and their attempts (docs/traces/rumen.md).

A task runs as long as its successful attempt did; earlier attempts are merged into it. Memory use over the attempt comes
from Rumen's twelve progress splits where they are there, else from the attempt's final counters.
"""

from __future__ import annotations

from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build, constant
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.json_items import Object, documents, inner, integer, items, shown, word
from heddle.traces.imports.names import Unique, leaf_queues, queue_name
from heddle.traces.imports.source import Head, Source

_KINDS: Final = (("mapTasks", "map", 0), ("reduceTasks", "reduce", 1), ("otherTasks", "other", -1))
_BYTES_PER_MB: Final = 1 << 20
_KB_PER_MB: Final = 1024


def _role(head: Head) -> str | None:
    return "jobs" if '"jobID"' in head.text and '"mapTasks"' in head.text else None


def _read(files: Files, given: Given) -> Imported:
    jobs: list[JobSpec] = []
    submits: list[int] = []
    unique = Unique()
    for source in files["jobs"]:
        for line, document in documents(source):
            job = _job(source, line, document, given, unique)
            if job is not None:
                jobs.append(job)
                submits.append(job.submit_at_ms)
    if not jobs:
        raise BadInput.of("rumen", "no usable job in these files")
    first = min(submits)
    moved = [JobSpec(**{**vars(job), "submit_at_ms": job.submit_at_ms - first}) for job in jobs]
    return Imported(build("rumen", leaf_queues(moved), about=about("rumen", files, given)))


def _job(source: Source, line: int, job: Any, given: Given, unique: Unique) -> JobSpec | None:
    rows = source.rows
    row = rows.add_one(line, shown({k: v for k, v in job.items() if not isinstance(v, list | dict)} if isinstance(job, dict) else job))
    stages = []
    starts = []
    for key, kind, _ in _KINDS:
        tasks = []
        for task in items(job, key):
            made = _task(source, line, task, _demand(job, kind, given))
            starts.append(integer(task, "startTime"))
            if made is not None:
                tasks.append(made)
        if tasks and kind != "other":
            maps = tuple(stage.name for stage in stages if stage.name == "map")
            after = maps if kind == "reduce" else ()
            stages.append(StageSpec(kind, _demand(job, kind, given), tasks, after=after, slow_start_permille=50 if after else -1))
    submit = integer(job, "submitTime")
    if submit is None or submit < 0:
        submit = min((start for start in starts if start is not None and start >= 0), default=None)
    if not stages or submit is None:
        rows.set_aside(row, "a job without a usable task or without a time")
        return None
    rows.metadata(row, "jobs")
    am_mb = _property(job, "yarn.app.mapreduce.am.resource.mb") or int(given.assumed["am_memory_mb"])
    return JobSpec(
        unique(word(job, "jobID", f"{source.stem}-{line}")),
        submit,
        stages,
        am=(am_mb, MILLI),
        queue=queue_name(word(job, "queue")),
        user=word(job, "user", "nobody"),
    )


def _property(job: Any, name: str) -> int | None:
    value = integer(inner(job, "jobProperties"), name)
    return value if value is not None and value > 0 else None


def _demand(job: Any, kind: str, given: Given) -> tuple[int, int]:
    said = _property(job, f"mapreduce.{kind}.memory.mb")
    vcores = _property(job, f"mapreduce.{kind}.cpu.vcores") or 1
    return said or int(given.assumed["memory_mb"]), vcores * MILLI


def _task(source: Source, line: int, task: Any, demand: tuple[int, int]) -> TaskSpec | None:
    """The task of its successful attempt; every attempt and the task itself are accounted for."""
    rows = source.rows
    attempts = items(task, "attempts")
    row = rows.add_one(line, shown({k: v for k, v in task.items() if k != "attempts"} if isinstance(task, dict) else task))
    best: Object | None = None
    for attempt in attempts:
        one = rows.add_one(line, shown(attempt))
        rows.merged(one, "their task (attempts)")
        if word(attempt, "result") in ("SUCCESS", "SUCCEEDED"):
            best = attempt
    if word(task, "taskType") in ("SETUP", "CLEANUP"):
        rows.set_aside(row, "set-up and clean-up tasks, which newer Hadoop does not have")
        return None
    if best is None:
        rows.set_aside(row, "a task none of whose attempts succeeded")
        return None
    start, end = integer(best, "startTime"), integer(best, "finishTime")
    if start is None or end is None or end < start:
        rows.set_aside(row, "a task whose times are missing or run backwards")
        return None
    rows.tasks(row)
    host = word(best, "hostName").rpartition("/")[2] or None
    return TaskSpec(end - start, _use(best, end - start, demand), host)


def _use(attempt: Object, duration: int, demand: tuple[int, int]) -> Profile | None:
    """Use by progress: Rumen splits an attempt into twelve parts of its progress."""
    clocks, cpu, memory = (items(attempt, key) for key in ("clockSplits", "cpuUsages", "physMemKbytes"))
    numbers = all(isinstance(value, int) and 0 <= value < 1 << 40 for part in (clocks, cpu, memory) for value in part)
    if clocks and len(clocks) == len(cpu) == len(memory) and numbers and sum(clocks) > 0:
        levels = []
        done = 0
        for clock, busy, kb in zip(clocks, cpu, memory, strict=True):
            done += clock
            until = PERMYRIAD * done // sum(clocks)
            if clock and (not levels or until > levels[-1][0]):
                levels.append((until, (-(-kb // _KB_PER_MB), min(busy * MILLI // clock, 64 * demand[1]))))
        return tuple(levels)
    counters = inner(attempt, "resourceUsageMetrics")
    peak, cpu_ms = integer(counters, "physicalMemoryUsage"), integer(counters, "cumulativeCpuUsage")
    if not peak or peak < 0 or cpu_ms is None or cpu_ms < 0 or not duration:
        return None
    return constant(-(-peak // _BYTES_PER_MB), min(cpu_ms * MILLI // duration, 64 * demand[1]))


FORMAT = Format(
    name="rumen",
    summary="job traces written by Hadoop's Rumen",
    roles={"jobs": "jobs with tasks and attempts"},
    role=_role,
    needs=("jobs",),
    read=_read,
    has="jobs, maps and reduces with attempts, hosts, configuration, memory and CPU over twelve parts of an attempt",
    models="sizes where the configuration does not say; reduces start after 5% of the maps; failed attempts are not re-run",
    assumptions={
        "memory_mb": Assumption(1024, "reserved by a task where the job's configuration does not say", 1),
        "am_memory_mb": Assumption(1536, "reserved by an application master, likewise", 1),
    },
)
