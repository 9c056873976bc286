"""Coflows of an hour at Facebook: who sends how much to whom (docs/traces/coflow.md).

Only the data is known. A coflow becomes a MapReduce job: maps write what is shuffled and reduces read it, at a rate.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.model.workload import MOST_BYTES
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import Unique
from heddle.traces.imports.source import Head, Source

_FIRST: Final = re.compile(r"\d+ \d+")
_REDUCER: Final = re.compile(r"(\d+):(\d+(?:\.\d+)?)")
_MOST: Final = 1_000_000
_MOST_MB: Final = 1e9


def _role(head: Head) -> str | None:
    lines = head.lines[:2]
    is_ours = len(lines) == 2 and _FIRST.fullmatch(lines[0].strip()) and _parsed(lines[1]) is not None
    return "coflows" if is_ours else None


def _parsed(line: str) -> tuple[str, int, list[str], list[float]] | None:
    """(name, arrival in ms, ports of mappers, MB of each reducer); None where the line is not such."""
    parts = line.split()
    try:
        n_mappers = int(parts[2])
        n_reducers = int(parts[3 + n_mappers]) if 0 <= n_mappers <= _MOST else -1
        reducers = [_REDUCER.fullmatch(part) for part in parts[4 + n_mappers :]]
        arrival = int(parts[1])
    except (IndexError, ValueError):
        return None
    if n_reducers != len(reducers) or not all(reducers) or not 0 <= arrival < 1 << 40 or n_reducers == 0:
        return None
    megabytes = [float(match[2]) for match in reducers if match]
    return None if max(megabytes) > _MOST_MB else (parts[0], arrival, parts[3 : 3 + n_mappers], megabytes)


def _read(files: Files, given: Given) -> Imported:
    unique = Unique()
    jobs: list[JobSpec] = []
    flows = 0
    megabytes = 0.0
    for source in files["coflows"]:
        found, more = _file(source, given, unique)
        jobs += found
        flows += more[0]
        megabytes += more[1]
    if not jobs:
        raise BadInput.of("coflow", "no usable coflow in these files")
    notes = [
        f"{flows} flows of {megabytes / 1e6:.1f} TB; maps prefer the node of their sender's port (port 7: node-7), "
        "reduces run where the policy puts them",
        "no computing times are known: tasks take the time that their data needs at the assumed rate",
    ]
    return Imported(build("coflow", jobs, about=about("coflow", files, given)), notes=notes)


def _file(source: Source, given: Given, unique: Unique) -> tuple[list[JobSpec], tuple[int, float]]:
    jobs: list[JobSpec] = []
    flows, total = 0, 0.0
    lines = source.lines()
    for place, (row, text) in enumerate(zip(lines.rows.tolist(), lines.text, strict=True)):
        if not text.strip():
            source.rows.metadata(row, "empty lines")
        elif place == 0 and _FIRST.fullmatch(text.strip()):
            source.rows.metadata(row, "header")
        elif (one := _parsed(text)) is None:
            source.rows.set_aside(row, "not a coflow: id, arrival, mappers, reducers")
        else:
            source.rows.tasks(row)
            name, arrival, ports, sizes = one
            jobs.append(_job(unique(f"coflow-{name}"), arrival, ports, sizes, given))
            flows += len(ports) * len(sizes)
            total += sum(sizes)
    return jobs, (flows, total)


def _job(name: str, arrival: int, ports: list[str], sizes: list[float], given: Given) -> JobSpec:
    """Reducers that receive equally much are one stage, since what a stage reads is spread evenly over its tasks."""
    rate, start_ms = given.assumed["mb_per_s"], round(1000 * given.assumed["start_s"])
    maps_ms = start_ms + round(1000 * sum(sizes) / max(1, len(ports)) / rate)
    maps = [TaskSpec(maps_ms, None, f"node-{port}") for port in ports]
    demand = (int(given.assumed["reduce_memory_mb"]), MILLI)
    unique = Unique()
    reduces = [
        StageSpec(
            unique("reduce"),
            demand,
            [TaskSpec(start_ms + round(1000 * size / rate))] * count,
            after=("map",) if ports else (),
            after_bytes=(min(MOST_BYTES, round(1e6 * size * count)),) if ports else (),
        )
        for size, count in Counter(sizes).items()
    ]
    stages = [StageSpec("map", (int(given.assumed["map_memory_mb"]), MILLI), maps)] if ports else []
    return JobSpec(name, arrival, [*stages, *reduces])


FORMAT = Format(
    name="coflow",
    summary="coflows of Facebook's cluster: arrivals, senders, receivers, megabytes",
    roles={"coflows": "ports and coflows, then one coflow to a line"},
    role=_role,
    needs=("coflows",),
    read=_read,
    has="coflows with arrival, racks of mappers and reducers, MB of each reducer",
    models="tasks, durations by a rate, memory; senders' ports are preferred nodes of maps, receivers' are dropped",
    assumptions={
        "mb_per_s": Assumption(100, "what a task writes or reads in a second", 0.001),
        "start_s": Assumption(1, "of each task, beside its data"),
        "map_memory_mb": Assumption(1024, "reserved by a map", 1),
        "reduce_memory_mb": Assumption(2048, "reserved by a reduce", 1),
    },
)
