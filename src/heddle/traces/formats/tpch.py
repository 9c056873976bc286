"""TPC-H queries on Spark as measured for Decima: DAGs of stages with task durations (docs/traces/tpch.md)."""

from __future__ import annotations

from typing import Any, Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique
from heddle.traces.imports.json_items import LARGEST, Object, inner, items, json_lines, word
from heddle.traces.imports.source import Head

_WAVES: Final = ("first_wave", "rest_wave")


def _role(head: Head) -> str | None:
    return "profiles" if '"durations_ms"' in head.text[:4096] and '"query"' in head.text[:4096] else None


def _read(files: Files, given: Given) -> Imported:
    unique = Unique()
    jobs: list[JobSpec] = []
    for source in files["profiles"]:
        for row, profile in json_lines(source):
            stages = _stages(profile, given)
            if stages is None:
                source.rows.set_aside(row, "not a profile: stages, edges and durations do not go together")
                continue
            source.rows.tasks(row)
            name = unique(f"q{word(profile, 'query', '0')}-{word(profile, 'size', 'any')}")
            submit = round(1000 * given.assumed["spacing_s"]) * len(jobs)
            jobs.append(JobSpec(name, submit, stages, user=f"size-{word(profile, 'size', 'any')}"))
    if not jobs:
        raise BadInput.of("tpch", "no usable profile in these files")
    notes = [
        f"durations are those measured with a number of executors nearest to {given.assumed['executors']:g}",
        "no memory, no bytes and no arrivals are known: all three are assumed",
    ]
    return Imported(build("tpch", jobs, about=about("tpch", files, given)), notes=notes)


def _stages(profile: Object, given: Given) -> list[StageSpec] | None:
    durations = items(profile, "durations_ms")
    demand = (int(given.assumed["memory_mb"]), int(given.assumed["vcores"] * MILLI))
    before: dict[int, list[str]] = {}
    for edge in items(profile, "edges"):
        if not (isinstance(edge, list) and len(edge) == 2 and all(isinstance(end, int) for end in edge)):
            return None
        parent, child = edge
        if not (0 <= parent < len(durations) and 0 <= child < len(durations) and parent != child):
            return None
        before.setdefault(child, []).append(f"stage-{parent}")
    stages = []
    for number, measured in enumerate(durations):
        tasks = _tasks(measured, given)
        if not tasks:
            return None
        after = tuple(dict.fromkeys(before.get(number, [])))
        stages.append(StageSpec(f"stage-{number}", demand, tasks, after))
    return stages or None


def _tasks(measured: Any, given: Given) -> list[TaskSpec]:
    """The first wave and the rest, for the nearest number of executors; a stage without them has fresh ones only."""
    counts = {key for wave in (*_WAVES, "fresh_durations") for key in inner(measured, wave) if key.isdecimal()}
    for wanted in sorted(counts, key=lambda key: (abs(int(key[:9]) - given.assumed["executors"]), int(key[:9]))):
        found = [one for wave in _WAVES for one in items(inner(measured, wave), wanted)]
        found = found or items(inner(measured, "fresh_durations"), wanted)
        if found and all(isinstance(one, int | float) and 0 <= one < LARGEST for one in found):
            return [TaskSpec(round(one)) for one in found]
    return []


FORMAT = Format(
    name="tpch",
    summary="TPC-H queries on Spark (Decima): DAGs with measured task durations",
    roles={"profiles": "one query at one size to a line (JSON)"},
    role=_role,
    needs=("profiles",),
    read=_read,
    has="stages, edges, task durations for several numbers of executors",
    models="arrivals and memory; a task is a container of its own; no use",
    assumptions={
        "executors": Assumption(20, "the measurement whose durations are taken", 1),
        "memory_mb": Assumption(2048, "reserved by a task", 1),
        "vcores": Assumption(1, "reserved by a task", 0.001),
        "spacing_s": Assumption(30, "between the submissions of two queries"),
    },
)
