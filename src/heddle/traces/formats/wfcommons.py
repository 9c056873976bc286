"""WfCommons' workflow instances (WfFormat 1.5): a DAG of tasks with run times and files (docs/traces/wfcommons.md)."""

from __future__ import annotations

from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import MOST_BYTES
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build, constant
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique
from heddle.traces.imports.json_items import Object, documents, inner, integer, items, real, shown, word
from heddle.traces.imports.source import Head, Source

_BYTES_PER_MB: Final = 1 << 20
_LONGEST_S: Final = 10**9


def _role(head: Head) -> str | None:
    start = head.text.lstrip()[:1]
    return "workflow" if start == "{" and '"schemaVersion"' in head.text and '"workflow"' in head.text else None


def _read(files: Files, given: Given) -> Imported:
    unique = Unique()
    notes = ["files that no task writes are there from the start: where they lie is not known, so reading them is free"]
    jobs: list[JobSpec] = []
    for source in files["workflow"]:
        for line, document in documents(source):
            job = _workflow(source, line, document, given, unique(source.stem), len(jobs), notes)
            if job is not None:
                jobs.append(job)
    if not jobs:
        raise BadInput.of("wfcommons", "no usable workflow in these files")
    return Imported(build("wfcommons", jobs, about=about("wfcommons", files, given)), notes=notes)


def _workflow(
    source: Source, line: int, document: Any, given: Given, name: str, number: int, notes: list[str]
) -> JobSpec | None:
    rows = source.rows
    top = rows.add_one(
        line, shown({k: v for k, v in document.items() if k != "workflow"} if isinstance(document, dict) else None)
    )
    workflow = inner(document, "workflow")
    runs: dict[str, tuple[int, Object]] = {}
    for run in items(inner(workflow, "execution"), "tasks"):
        row = rows.add_one(line, shown(run))
        if word(run, "id") in runs:
            rows.set_aside(row, "a run of a task that had one before")
        else:
            runs[word(run, "id")] = (row, run)
    found: dict[str, tuple[int, Object, Object]] = {}
    for task in items(inner(workflow, "specification"), "tasks"):
        row = rows.add_one(line, shown(task))
        identity = word(task, "id", word(task, "name"))
        run = runs.get(identity, (0, {}))[1]
        seconds = real(run, "runtimeInSeconds")
        if identity in found or not identity:
            rows.set_aside(row, "a task without a name, or of one that occurred before")
        elif seconds is None or not 0 <= seconds < _LONGEST_S:
            rows.set_aside(row, "a task that was not run, or whose run time is missing")
        else:
            rows.tasks(row)
            found[identity] = (row, task, run)
    for identity, (row, _) in runs.items():
        if identity in found:
            rows.merged(row, "their task (runs)")
        else:
            rows.set_aside(row, "a run of a task that is not specified or not usable")
    if not found:
        rows.set_aside(top, "a workflow without a usable task")
        return None
    rows.metadata(top, "workflows")
    if not any((integer(run, "memoryInBytes") or 0) > 0 for _, _, run in found.values()):
        notes.append(f"{source.name}: no memory was measured; {given.assumed['memory_mb']:g} MB assumed for each task")
    sizes = {
        word(file, "id"): integer(file, "sizeInBytes") or 0 for file in items(inner(workflow, "specification"), "files")
    }
    stages = []
    for identity, (_, task, run) in found.items():
        parents = dict.fromkeys(one for one in map(str, items(task, "parents")) if one in found and one != identity)
        stages.append(
            StageSpec(
                identity,
                _demand(run, given),
                [TaskSpec(round(1000 * (real(run, "runtimeInSeconds") or 0.0)), _use(run))],
                after=tuple(parents),
                after_bytes=tuple(_handed_on(found[parent][1], task, sizes) for parent in parents),
            )
        )
    return JobSpec(name, round(1000 * given.assumed["spacing_s"]) * number, stages, user=name.partition("-")[0])


def _handed_on(parent: Object, task: Object, sizes: dict[str, int]) -> int:
    """The bytes of the files that the parent writes and the task reads."""
    files = {str(one) for one in items(parent, "outputFiles")} & {str(one) for one in items(task, "inputFiles")}
    return min(MOST_BYTES, sum(max(0, sizes.get(file, 0)) for file in files))


def _memory_mb(run: Object) -> int | None:
    measured = integer(run, "memoryInBytes")
    return -(-measured // _BYTES_PER_MB) if measured is not None and measured > 0 else None


def _demand(run: Object, given: Given) -> tuple[int, int]:
    """What a careful user would have asked for: the measured memory with head room; the cores that were used."""
    measured = _memory_mb(run)
    memory = given.assumed["memory_mb"] if measured is None else measured * given.assumed["head_room"]
    cores = min(10**4, max(1, round(real(run, "coreCount") or 1)))
    return max(1, round(memory)), cores * MILLI


def _use(run: Object) -> Profile | None:
    memory, load = _memory_mb(run), real(run, "avgCPU")
    if memory is None or load is None or not 0 <= load < 1e7:
        return None
    return constant(memory, round(load * 10))


FORMAT = Format(
    name="wfcommons",
    summary="WfCommons' workflow instances (WfFormat): DAGs with run times and data sizes",
    roles={"workflow": "one workflow (JSON)"},
    role=_role,
    needs=("workflow",),
    read=_read,
    has="tasks with parents, files, run times, cores; CPU and memory in some",
    models="arrivals, requested memory; bytes between tasks from the files that one writes and the other reads",
    assumptions={
        "memory_mb": Assumption(2048, "reserved by a task whose memory was not measured", 1),
        "head_room": Assumption(1.25, "reserved memory over measured memory", 0.01),
        "spacing_s": Assumption(60, "between the submissions of two workflows"),
    },
)
