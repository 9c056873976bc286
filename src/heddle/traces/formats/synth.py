"""Settings of SLS's synthetic generator: not a trace but a recipe, from which jobs are drawn (docs/traces/synth.md)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.jobs import from_zero, leaf_queues, queue_name
from heddle.traces.imports.json_items import Object, documents, inner, integer, items, real, shown, word
from heddle.traces.imports.source import Head, Source

_MOST_JOBS: Final = 1_000_000
_OLD_STYLE: Final = (("map", "m", 20), ("reduce", "r", 10))  # kinds, prefix of their keys, priority


def _role(head: Head) -> str | None:
    return "settings" if '"job_classes"' in head.text and '"workloads"' in head.text else None


def _read(files: Files, given: Given) -> Imported:
    jobs: list[JobSpec] = []
    nodes = 0
    for source in files["settings"]:
        for line, settings in documents(source):
            made = _generate(source, line, settings, len(jobs))
            jobs += made
            nodes = max(nodes, integer(settings, "num_nodes") or 0)
    if not jobs:
        raise BadInput.of("synth", "no usable settings in these files")
    size = (int(given.assumed["node_memory_mb"]), int(given.assumed["node_vcores"] * MILLI))
    cluster = (
        Cluster(tuple(Node(f"node-{n}", size, size) for n in range(min(nodes, 100_000))), name="synth")
        if nodes
        else None
    )
    notes = ["settings of a generator, not a trace: jobs are drawn from them, and not the same ones as in Hadoop"]
    return Imported(build("synth", leaf_queues(from_zero(jobs)), about=about("synth", files, given)), cluster, notes)


def _generate(source: Source, line: int, settings: Any, first: int) -> list[JobSpec]:
    top = source.rows.add_one(
        line, shown({k: v for k, v in settings.items() if k != "workloads"} if isinstance(settings, dict) else None)
    )
    n_jobs = integer(settings, "num_jobs")
    if n_jobs is None or not 0 < n_jobs <= _MOST_JOBS:
        source.rows.set_aside(top, "settings without a number of jobs")
        return []
    source.rows.metadata(top, "settings")
    classes: list[tuple[float, Object, Object]] = []  # weight, workload, class
    for workload in items(settings, "workloads"):
        source.rows.metadata(source.rows.add_one(line, word(workload, "workload_name")), "settings")
        for one in items(workload, "job_classes"):
            row = source.rows.add_one(line, shown(one))
            weight = (real(workload, "workload_weight") or 0.0) * (real(one, "class_weight") or 0.0)
            if weight <= 0 or not _kinds(one):
                source.rows.set_aside(row, "a class without weight or tasks")
                continue
            source.rows.tasks(row)
            classes.append((weight, workload, one))
    if not classes:
        return []
    draws = np.random.default_rng(abs(integer(settings, "rand_seed") or 0))
    weights = np.array([weight for weight, _, _ in classes])
    jobs = []
    for number, chosen in enumerate(draws.choice(len(classes), n_jobs, p=weights / weights.sum())):
        _, workload, one = classes[chosen]
        submit = _time(items(workload, "time_distribution"), draws)
        jobs.append(
            JobSpec(
                f"{word(one, 'class_name', 'class')}-{first + number}",
                submit,
                _stages(_kinds(one), draws),
                am=(1024, MILLI),
                queue=queue_name(word(workload, "queue_name")),
                user=word(one, "user_name", "nobody"),
            )
        )
    return jobs


def _kinds(one: Any) -> list[Object]:
    """The kinds of tasks of a class: {type, count, time (s), max_memory, max_vcores}, each {val, std}; both styles."""
    if items(one, "tasks"):
        return [kind for kind in items(one, "tasks") if isinstance(kind, dict)]
    found = []
    for name, prefix, _ in _OLD_STYLE:
        if integer(one, f"{prefix}tasks_avg"):
            keys = {
                "count": f"{prefix}tasks",
                "time": f"{prefix}time",
                "max_memory": f"{name}_max_memory",
                "max_vcores": f"{name}_max_vcores",
            }
            figures = {
                key: {"val": one.get(f"{old}_avg"), "std": one.get(f"{old}_stddev", 0)} for key, old in keys.items()
            }
            found.append({"type": name, **figures})
    return found


def _stages(kinds: list[Object], draws: np.random.Generator) -> list[StageSpec]:
    stages: list[StageSpec] = []
    for number, kind in enumerate(kinds):
        count = min(100_000, max(1, round(_drawn(kind, "count", 1, draws))))
        demand = (
            max(1, round(_drawn(kind, "max_memory", 1024, draws))),
            max(1, round(_drawn(kind, "max_vcores", 1, draws))) * MILLI,
        )
        tasks = [TaskSpec(max(1, round(1000 * _drawn(kind, "time", 1, draws)))) for _ in range(count)]
        name = word(kind, "type", "task")
        after = tuple(stage.name for stage in stages) if name == "reduce" else ()
        taken = any(stage.name == name for stage in stages)
        stages.append(StageSpec(f"{name}-{number}" if taken else name, demand, tasks, after))
    return stages


def _drawn(kind: Object, key: str, default: float, draws: np.random.Generator) -> float:
    """A normal draw around `val` with `std`, never below 0."""
    figures = inner(kind, key)
    middle, spread = real(figures, "val"), abs(real(figures, "std") or 0.0)
    value = default if middle is None else middle
    return min(1e9, max(0.0, float(draws.normal(value, spread)) if spread else value))


def _time(points: list[Any], draws: np.random.Generator) -> int:
    """A bucket by weight, then a uniform instant in it; times are in seconds."""
    times = [max(0.0, real(point, "time") or 0.0) for point in points]
    weights = np.array([max(0.0, real(point, "weight") or 0.0) for point in points[:-1]])
    if len(times) < 2 or weights.sum() <= 0:
        return 0
    bucket = int(draws.choice(len(weights), p=weights / weights.sum()))
    low, high = sorted(times[bucket : bucket + 2])
    return round(1000 * float(draws.uniform(low, high)))


FORMAT = Format(
    name="synth",
    summary="settings of SLS's synthetic generator; jobs are drawn from them with their own seed",
    roles={"settings": "workloads with job classes and distributions"},
    role=_role,
    needs=("settings",),
    read=_read,
    has="classes of jobs with means and deviations, arrival weights, a seed, the number of nodes",
    models="draws are heddle's, not Hadoop's; node sizes; reduces wait for all maps; no use",
    assumptions={
        "node_memory_mb": Assumption(10240, "of a node", 1),
        "node_vcores": Assumption(10, "of a node", 1),
    },
)
