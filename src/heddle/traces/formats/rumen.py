"""Rumen's job traces: concatenated JSON, a job with its tasks and their attempts (docs/traces/rumen.md).

A task runs as long as its successful attempt did; earlier attempts are merged into it. Use over the attempt comes from
Rumen's twelve progress splits where they are there, else from the attempt's final counters.
"""

from __future__ import annotations

from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique, from_zero, leaf_queues, queue_name
from heddle.traces.imports.json_items import Object, documents, inner, integer, items, shown, word
from heddle.traces.imports.map_reduce_use import use_by_counters, use_by_splits
from heddle.traces.imports.source import Head, Source

_KINDS: Final = (("mapTasks", "map"), ("reduceTasks", "reduce"), ("otherTasks", "other"))


def _role(head: Head) -> str | None:
    return "jobs" if '"jobID"' in head.text and '"mapTasks"' in head.text else None


def _read(files: Files, given: Given) -> Imported:
    unique = Unique()
    found = [
        _job(source, line, document, given, unique) for source in files["jobs"] for line, document in documents(source)
    ]
    jobs = from_zero([job for job in found if job is not None])
    if not jobs:
        raise BadInput.of("rumen", "no usable job in these files")
    return Imported(build("rumen", leaf_queues(jobs), about=about("rumen", files, given)))


def _job(source: Source, line: int, job: Any, given: Given, unique: Unique) -> JobSpec | None:
    rows = source.rows
    row = rows.add_one(
        line, shown({k: v for k, v in job.items() if not isinstance(v, list | dict)} if isinstance(job, dict) else job)
    )
    stages: list[StageSpec] = []
    starts: list[int | None] = []
    for key, kind in _KINDS:
        tasks = []
        for task in items(job, key):
            made = _task(source, line, task)
            starts.append(integer(task, "startTime"))
            if made is not None:
                tasks.append(made)
        if tasks and kind != "other":
            maps = tuple(stage.name for stage in stages if stage.name == "map")
            after = maps if kind == "reduce" else ()
            stages.append(
                StageSpec(kind, _demand(job, kind, given), tasks, after=after, slow_start_permille=50 if after else -1)
            )
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


def _task(source: Source, line: int, task: Any) -> TaskSpec | None:
    """The task of its successful attempt; every attempt and the task itself are accounted for."""
    rows = source.rows
    attempts = items(task, "attempts")
    row = rows.add_one(
        line, shown({k: v for k, v in task.items() if k != "attempts"} if isinstance(task, dict) else task)
    )
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
    return TaskSpec(end - start, _use(best, end - start), host)


def _use(attempt: Object, duration: int) -> Profile | None:
    counters = inner(attempt, "resourceUsageMetrics")
    peak, cpu_ms = integer(counters, "physicalMemoryUsage"), integer(counters, "cumulativeCpuUsage")
    return use_by_splits(attempt) or use_by_counters(peak, cpu_ms, duration)


FORMAT = Format(
    name="rumen",
    summary="job traces written by Hadoop's Rumen",
    roles={"jobs": "jobs with tasks and attempts"},
    role=_role,
    needs=("jobs",),
    read=_read,
    has="jobs, maps and reduces with attempts, hosts, configuration, memory and CPU over twelve parts of an attempt",
    models="sizes where the configuration does not say; reduces start after 5% of the maps; failed attempts: none",
    assumptions={
        "memory_mb": Assumption(1024, "reserved by a task where the job's configuration does not say", 1),
        "am_memory_mb": Assumption(1536, "reserved by an application master, likewise", 1),
    },
)
