"""Jobs of YARN's scheduler load simulator: concatenated JSON, an object for each job or rack (docs/traces/sls.md)."""

from __future__ import annotations

import json
from typing import Any, Final

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import AM, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique, leaf_queues, queue_name
from heddle.traces.imports.json_items import Object, documents, integer, items, shown, word
from heddle.traces.imports.source import Head, Source

_MOST_COPIES: Final = 100_000  # of one container or job entry


def _role(head: Head) -> str | None:
    if '"job.tasks"' in head.text:
        return "jobs"
    return "nodes" if '"rack"' in head.text and '"nodes"' in head.text and "{" in head.first else None


def _read(files: Files, given: Given) -> Imported:
    jobs: list[JobSpec] = []
    unique = Unique()
    notes: list[str] = []
    for source in files["jobs"]:
        for line, document in documents(source):
            jobs += _jobs(source, line, document, given, unique)
    if not jobs:
        raise BadInput.of("sls", "no usable job in these files")
    nodes = [node for source in files.get("nodes", []) for node in _nodes(source, given, notes)]
    cluster = Cluster(tuple(_distinct(nodes, notes)), name="sls") if nodes else None
    return Imported(build("sls", leaf_queues(jobs), about=about("sls", files, given)), cluster, notes)


def _jobs(source: Source, line: int, job: Any, given: Given, unique: Unique) -> list[JobSpec]:
    row = source.rows.add_one(
        line, shown({k: v for k, v in job.items() if k != "job.tasks"} if isinstance(job, dict) else job)
    )
    copies = integer(job, "job.count")
    copies = 1 if copies is None else copies
    stages = _stages(source, line, job, given)
    if not stages or not 0 < copies <= _MOST_COPIES:
        source.rows.set_aside(row, "a job without a usable container")
        return []
    source.rows.metadata(row, "jobs")
    name = word(job, "job.id", f"job-{source.stem}-{line}")
    am_mb = integer(job, "am.memory-mb") or integer(job, "am.memory") or int(given.assumed["am_memory_mb"])
    am_vcores = integer(job, "am.vcores") or int(given.assumed["am_vcores"])
    return [
        JobSpec(
            unique(name),
            max(0, integer(job, "job.start.ms") or 0),
            stages,
            am=(abs(am_mb), abs(am_vcores) * MILLI),
            queue=queue_name(word(job, "job.queue.name")),
            user=word(job, "job.user", "default"),
            priority=max(-_MOST_COPIES, min(_MOST_COPIES, integer(job, "job.priority") or 0)),
        )
        for _ in range(copies)
    ]


def _stages(source: Source, line: int, job: Any, given: Given) -> list[StageSpec]:
    """One stage for each kind of container and size; SLS has no order between them but reduces after maps."""
    found: dict[tuple[str, int, int], list[TaskSpec]] = {}
    for task in items(job, "job.tasks"):
        row = source.rows.add_one(line, shown(task))
        duration = _duration(task)
        count = integer(task, "count")
        count = 1 if count is None else count
        memory = (
            integer(task, "container.memory-mb") or integer(task, "container.memory") or int(given.assumed["memory_mb"])
        )
        vcores = integer(task, "container.vcores") or int(given.assumed["vcores"])
        if duration is None or duration <= 0:
            source.rows.set_aside(row, "a container without a duration")
            continue
        if not 0 < count <= _MOST_COPIES or memory < 0 or vcores < 0:
            source.rows.set_aside(row, "a container with a negative or absurd size or count")
            continue
        host = word(task, "container.host").rpartition("/")[2] or None
        kind = word(task, "container.type", "map")
        found.setdefault((kind, memory, vcores), []).extend([TaskSpec(duration, prefers=host)] * count)
        source.rows.tasks(row)
    names = Unique()
    named = [(names(kind), kind, (memory, vcores * MILLI), tasks) for (kind, memory, vcores), tasks in found.items()]
    maps = tuple(name for name, kind, _, _ in named if kind == "map")
    return [
        StageSpec(name, demand, tasks, after=maps if kind == "reduce" else ())
        for name, kind, demand, tasks in sorted(named, key=lambda one: one[1] == "reduce")
    ]


def _duration(task: Any) -> int | None:
    for key in ("container.duration.ms", "duration.ms"):
        if (said := integer(task, key)) is not None:
            return said
    start, end = integer(task, "container.start.ms"), integer(task, "container.end.ms")
    return None if start is None or end is None else end - start


def _nodes(source: Source, given: Given, notes: list[str]) -> list[Node]:
    found: list[Node] = []
    for line, rack in documents(source):
        source.rows.metadata(source.rows.add_one(line, shown(rack)), "racks")
        for entry in items(rack, "nodes"):
            row = source.rows.add_one(line, shown(entry))
            name = word(entry, "node")
            memory = integer(entry, "memory-mb")
            vcores = integer(entry, "vcores")
            size = (
                int(given.assumed["node_memory_mb"]) if memory is None else memory,
                (int(given.assumed["node_vcores"]) if vcores is None else vcores) * MILLI,
            )
            if not name or min(size) <= 0:
                source.rows.set_aside(row, "a node without a name or size")
                continue
            source.rows.metadata(row, "nodes")
            labels = [part.strip().partition("(")[0] for part in word(entry, "labels").split(",") if part.strip()]
            if len(labels) > 1:
                notes.append(f"{source.name}: node {name} has several labels; heddle keeps the first, {labels[0]}")
            found.append(Node(name, size, size, rack=word(rack, "rack", "rack-0"), label=labels[0] if labels else ""))
    return found


def _distinct(nodes: list[Node], notes: list[str]) -> list[Node]:
    by_name = {node.name: node for node in reversed(nodes)}
    if len(by_name) < len(nodes):
        notes.append(f"{len(nodes) - len(by_name)} nodes were named more than once; the first of each name is kept")
    return list(reversed(by_name.values()))


def write_sls(workload: Workload) -> tuple[str, list[str]]:
    """(the workload as SLS reads it, what SLS cannot hold and was left out)."""
    lost = []
    if len(workload.stage_after):
        lost.append("dependencies between stages: SLS knows none but reduces after maps")
    if len(workload.job_after):
        lost.append("dependencies between jobs")
    if len(workload.segments):
        lost.append("use: SLS containers use what they reserve")
    if len(workload.resources) > 2:
        lost.append(f"resources beyond memory and vcores: {', '.join(workload.resources[2:])}")
    jobs = [json.dumps(_written(workload, number), indent=2, ensure_ascii=False) for number in range(workload.n_jobs)]
    return "\n".join(jobs) + "\n", lost


def _written(workload: Workload, number: int) -> Object:
    job = workload.jobs[number]
    stages = range(int(job["first_stage"]), int(job["first_stage"] + job["n_stages"]))
    # SLS takes every value for text, numbers included.
    document: Object = {
        "am.type": "mapreduce",
        "job.start.ms": int(job["submit_at_ms"]),
        "job.end.ms": int(job["submit_at_ms"]) + _longest(workload, stages),
        "job.queue.name": workload.queues[int(job["queue"])].removeprefix("root."),
        "job.id": workload.job_name(number),
        "job.user": workload.users[int(job["user"])],
        "job.priority": int(job["priority"]),
    }
    tasks: list[Object] = []
    for stage in stages:
        row = workload.stages[stage]
        memory, vcores = (int(amount) for amount in workload.shapes[row["shape"]][:2])
        if row["kind"] == AM:
            document |= {"am.memory-mb": memory, "am.vcores": -(-vcores // MILLI)}
            continue
        name = workload.stage_name(stage)
        first = int(row["first_task"])
        durations = workload.tasks["duration_ms"][first : first + int(row["n_tasks"])].tolist()
        for place, duration in enumerate(durations):
            task: Object = {
                "container.duration.ms": max(1, duration),
                "container.memory-mb": memory,
                "container.vcores": -(-vcores // MILLI),
                "container.priority": 10 if name.startswith("reduce") else 20,
                "container.type": "reduce" if name.startswith("reduce") else "map",
            }
            if workload.prefers is not None and workload.prefers[first + place] >= 0:
                task["container.host"] = f"/default-rack/{workload.hosts[workload.prefers[first + place]]}"
            tasks.append(_as_text(task))
    return _as_text(document) | {"job.tasks": tasks}


def _as_text(document: Object) -> Object:
    return {key: str(value) for key, value in document.items()}


def _longest(workload: Workload, stages: range) -> int:
    """SLS wants an end of each job and does nothing with it; the longest tasks in turn are a guess without harm."""
    total = 0
    for stage in stages:
        row = workload.stages[stage]
        durations = workload.tasks["duration_ms"][int(row["first_task"]) : int(row["first_task"] + row["n_tasks"])]
        total += int(durations.max(initial=0))
    return total


FORMAT = Format(
    name="sls",
    summary="jobs and nodes of YARN's scheduler load simulator (SLS)",
    roles={"jobs": "jobs with their containers", "nodes": "racks with their nodes"},
    role=_role,
    needs=("jobs",),
    read=_read,
    has="jobs with queue, user, start, containers with type, duration, host and (newer) size; nodes",
    models="sizes that are not said: SLS's own defaults; reduces wait for all maps; no use",
    assumptions={
        "memory_mb": Assumption(1024, "reserved by a container that does not say", 1),
        "vcores": Assumption(1, "reserved by a container that does not say", 1),
        "am_memory_mb": Assumption(1024, "reserved by an application master that does not say", 1),
        "am_vcores": Assumption(1, "reserved by an application master that does not say", 1),
        "node_memory_mb": Assumption(10240, "of a node that does not say", 1),
        "node_vcores": Assumption(10, "of a node that does not say", 1),
    },
    writes=True,
)
