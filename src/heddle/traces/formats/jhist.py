"""MapReduce job history (.jhist): one event to a line, as Avro's JSON (docs/traces/jhist.md).

A task runs as long as its successful attempt. What a map or reduce reserved is not in the file, but follows from the
job's counters (megabyte-milliseconds over milliseconds) where Hadoop wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique, from_zero, leaf_queues, queue_name
from heddle.traces.imports.json_items import Object, inner, integer, items, json_lines, word
from heddle.traces.imports.map_reduce_use import use_by_counters, use_by_splits
from heddle.traces.imports.source import Head, Lines, Source

_FIRST_LINE: Final = "Avro-Json"
_LONGEST_SHUFFLE_MS: Final = 2**31 - 1
_JOB_EVENTS: Final = ("JOB_", "AM_STARTED", "NORMALIZED_RESOURCE")


def _role(head: Head) -> str | None:
    return "history" if head.first.strip() == _FIRST_LINE else None


@dataclass
class _Task:
    row: int  # of TASK_STARTED
    kind: str
    finished: bool = False
    failed: bool = False
    starts: dict[str, int] = field(default_factory=dict)  # of attempts
    hosts: dict[str, str] = field(default_factory=dict)
    success: Object = field(default_factory=dict)  # the event of the attempt that succeeded


_Found = list[tuple[_Task, tuple[int, int]]]  # tasks with start and end of the attempt that counts


@dataclass
class _Job:
    """What one file says of its job."""

    name: str = ""
    user: str = "nobody"
    queue: str = ""
    submit: int | None = None
    counters: dict[str, int] = field(default_factory=dict)
    tasks: dict[str, _Task] = field(default_factory=dict)


@dataclass
class _Sums:
    """What the tasks reserved (MB x ms) in jobs whose own counters tell the same."""

    here: int = 0
    by_hadoop: int = 0

    def add(self, job: _Job, by_kind: dict[str, _Found], given: Given) -> None:
        for kind, found in by_kind.items():
            if counted := job.counters.get(f"MB_MILLIS_{kind.upper()}S", 0):
                self.by_hadoop += counted
                self.here += _demand(job, kind, found, given)[0] * _ran_ms(found)

    def note(self) -> list[str]:
        """Failed attempts are in Hadoop's sum and not in ours."""
        if not self.by_hadoop:
            return []
        off = 100 * (self.here / self.by_hadoop - 1)
        here, there = (amount / 1024 / 3_600_000 for amount in (self.here, self.by_hadoop))
        return [
            f"maps and reduces reserve {here:,.3f} GB-h here and {there:,.3f} GB-h by the jobs' own counters "
            f"(MB_MILLIS; failed attempts are in them): {off:+.2f} %"
        ]


def _read(files: Files, given: Given) -> Imported:
    unique, sums = Unique(), _Sums()
    notes: list[str] = []
    found = [_read_file(source, given, unique, notes, sums) for source in files["history"]]
    notes += sums.note()
    jobs = from_zero([job for job in found if job is not None])
    if not jobs:
        raise BadInput.of("jhist", f"no job with a task that succeeded in {len(files['history'])} files")
    return Imported(build("jhist", leaf_queues(jobs), about=about("jhist", files, given)), notes=notes)


def _read_file(source: Source, given: Given, unique: Unique, notes: list[str], sums: _Sums) -> JobSpec | None:
    job = _Job()
    for row, event in _events(source):
        kind = word(event, "type")
        body: Any = next(iter(inner(event, "event").values()), {})
        if kind.startswith(_JOB_EVENTS):
            _learn(job, body)
            source.rows.metadata(row, "events of jobs and AMs")
        elif kind == "TASK_STARTED" and word(body, "taskid") not in job.tasks:
            job.tasks[word(body, "taskid")] = _Task(row, word(body, "taskType"))
        elif (task := job.tasks.get(word(body, "taskid"))) is None:
            source.rows.set_aside(row, "an event of a task that was never started")
        else:
            _follow(task, kind, body)
            source.rows.merged(row, "their task (attempts and ends)")
    by_kind = _tasks(source, job)
    if not any(by_kind.values()) or job.submit is None:
        notes.append(f"{source.name}: no job comes of it: no task succeeded, or its submission is missing")
        for tasks in by_kind.values():
            source.rows.set_aside([task.row for task, _ in tasks], "a task of a job without a submission")
        return None
    for tasks in by_kind.values():
        source.rows.tasks([task.row for task, _ in tasks])
    sums.add(job, by_kind, given)
    return _spec(job, by_kind, given, unique(job.name or source.stem))


def _events(source: Source) -> Iterator[tuple[int, Object]]:
    """The events of a file, after its two lines of heading."""
    for place, (row, value) in enumerate(json_lines(_Without(source))):
        if place == 0 and "fields" in value:
            source.rows.metadata(row, "heading and schema")
        else:
            yield row, value


class _Without(Source):
    """The file without its first line, which is no JSON."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.path, source.name, source.places)
        self.rows = source.rows

    def chunks(self) -> Iterator[Lines]:
        for lines in super().chunks():
            start = 0
            if lines.first_line == 1:
                self.rows.metadata(lines.rows[:1], "heading and schema")
                start = 1
            yield Lines(lines.text[start:], lines.rows[start:], lines.first_line + start)


def _learn(job: _Job, body: Any) -> None:
    job.name = word(body, "jobid", job.name)
    job.user = word(body, "userName", job.user)
    job.queue = word(body, "jobQueueName", job.queue)
    submit = integer(body, "submitTime")
    job.submit = submit if submit is not None and submit > 0 else job.submit
    job.counters |= _counters(body, "totalCounters")


def _counters(body: Any, key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in items(inner(body, key), "groups"):
        for counter in items(group, "counts"):
            value = integer(counter, "value")
            if value is not None:
                found[word(counter, "name")] = value
    return found


def _follow(task: _Task, kind: str, body: Any) -> None:
    attempt = word(body, "attemptId")
    if kind.endswith("_ATTEMPT_STARTED"):
        start = integer(body, "startTime")
        if start is not None:
            task.starts[attempt] = start
        task.hosts[attempt] = word(body, "trackerName")
    elif kind.endswith("_ATTEMPT_FINISHED") and word(body, "taskStatus", "SUCCEEDED") == "SUCCEEDED":
        task.success = body
    elif kind == "TASK_FINISHED":
        task.finished = True
    elif kind == "TASK_FAILED":
        task.failed = True


def _tasks(source: Source, job: _Job) -> dict[str, _Found]:
    """The usable tasks by kind, with start and end of the attempt that counts; the others are set aside."""
    found: dict[str, _Found] = {"map": [], "reduce": []}
    for task in job.tasks.values():
        start = task.starts.get(word(task.success, "attemptId"))
        end = integer(task.success, "finishTime")
        kind = {"MAP": "map", "REDUCE": "reduce"}.get(task.kind)
        if kind is None:
            source.rows.set_aside(task.row, "a task that is neither map nor reduce")
        elif task.failed:
            source.rows.set_aside(task.row, "a task that failed or was killed")
        elif not task.success:
            source.rows.set_aside(task.row, "a task whose end is not in the file (truncated, or still running)")
        elif start is None or end is None or end < start:
            source.rows.set_aside(task.row, "a task whose times are missing or run backwards")
        else:
            found[kind].append((task, (start, end)))
    return found


def _spec(job: _Job, by_kind: dict[str, _Found], given: Given, name: str) -> JobSpec:
    stages: list[StageSpec] = []
    last_map_end = max((end for _, (_, end) in by_kind["map"]), default=0)
    for kind, found in by_kind.items():
        if not found:
            continue
        # A reduce copies while maps still run; what counts as its shuffle is what it copied after the last of them.
        shuffled = [integer(task.success, "shuffleFinishTime") or start for task, (start, _) in found]
        shuffle_ms = 0
        if kind == "reduce":
            late = [max(0, at - max(start, last_map_end)) for at, (_, (start, _)) in zip(shuffled, found, strict=True)]
            shuffle_ms = min(_LONGEST_SHUFFLE_MS, *late)
        tasks = []
        for (task, (start, end)), at in zip(found, shuffled, strict=True):
            begin = at if kind == "reduce" and start <= at <= end else start
            tasks.append(_task(task, start, end, end - begin))
        after = tuple(stage.name for stage in stages)
        early = 50 if after else -1
        stages.append(
            StageSpec(
                kind, _demand(job, kind, found, given), tasks, after, slow_start_permille=early, shuffle_ms=shuffle_ms
            )
        )
    am = (int(given.assumed["am_memory_mb"]), int(given.assumed["am_vcores"] * MILLI))
    return JobSpec(name, job.submit or 0, stages, am=am, queue=queue_name(job.queue), user=job.user)


def _task(task: _Task, start: int, end: int, work: int) -> TaskSpec:
    counters = _counters(task.success, "counters")
    use = use_by_splits(task.success) or use_by_counters(
        counters.get("PHYSICAL_MEMORY_BYTES"), counters.get("CPU_MILLISECONDS"), end - start
    )
    return TaskSpec(work, use, task.hosts.get(word(task.success, "attemptId")) or None)


def _ran_ms(found: _Found) -> int:
    return sum(end - start for _, (start, end) in found)


def _demand(job: _Job, kind: str, found: _Found, given: Given) -> tuple[int, int]:
    """From the job's counters; where they lack the milliseconds, over those of the attempts that are here."""
    plural = f"{kind.upper()}S"
    millis = job.counters.get(f"MILLIS_{plural}", 0) or _ran_ms(found)
    memory, vcores = int(given.assumed["memory_mb"]), MILLI
    if millis > 0:
        by_memory, by_vcores = (job.counters.get(f"{what}_MILLIS_{plural}", 0) for what in ("MB", "VCORES"))
        memory = round(by_memory / millis) if by_memory > 0 else memory
        vcores = round(by_vcores / millis) * MILLI if by_vcores > 0 else vcores
    return max(1, memory), max(1, vcores)


FORMAT = Format(
    name="jhist",
    summary="MapReduce job history files (.jhist), and folders of them",
    roles={"history": "the events of one job"},
    role=_role,
    needs=("history",),
    read=_read,
    has="jobs, maps and reduces with attempts, hosts, memory and CPU over an attempt; sizes by the job's counters",
    models="sizes where the counters do not tell; reduces start after 5% of the maps; failed attempts are not re-run",
    assumptions={
        "memory_mb": Assumption(1024, "reserved by a task where the job's counters do not tell", 1),
        "am_memory_mb": Assumption(1536, "reserved by an application master", 1),
        "am_vcores": Assumption(1, "reserved by an application master", 1),
    },
)
