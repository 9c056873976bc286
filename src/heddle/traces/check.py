"""What can be wrong with a workload as a whole, and whether it can run on a cluster at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.errors import Problem
from heddle.model.resources import BASE_RESOURCES, MEMORY, MEMORY_MB, MILLI, VCORES_MILLI
from heddle.model.workload import (
    AM,
    INNER,
    KIND_NAMES,
    MOST_BYTES,
    NO_PREFERENCE,
    NO_SEGMENTS,
    NOT_RUNNING,
    PERMYRIAD,
    Workload,
)
from heddle.traces.cycles import find_cycles, in_words
from heddle.traces.parquet_layout import Arrays
from heddle.traces.problems import SHOWN_PER_KIND, Problems
from heddle.traces.starting_state import check_running_fits, running_problems

Column = npt.NDArray[Any]


def check_structure(workload: Workload, where: str) -> Problems:
    """Everything in which the arrays are not a workload: numbers out of range, overlaps, cycles, negative sizes."""
    problems = Problems(where)
    check_names(workload, problems, workload.n_jobs)
    arrays = Arrays.of(workload)
    allowed = limits_of(workload, arrays.lengths())
    for section in arrays.columns(workload.resources).values():
        for name, column in section.items():
            check_column(name, column, allowed, problems)
    _check_consecutive(workload, problems)
    if not problems.found:  # what follows uses these numbers as indices
        check_relations(workload, problems)
    return problems


def check_names(workload: Workload, problems: Problems, n_jobs: int) -> None:
    """The small tables: resources, labels, shapes. The workload has so many jobs, here or elsewhere."""
    if tuple(workload.resources[:2]) != BASE_RESOURCES:
        problems.add(f"the first two resources must be {' and '.join(BASE_RESOURCES)}", field="resources")
    if not workload.labels or workload.labels[0] != "":
        problems.add("the first label must be empty: it stands for any node", field="labels")
    if n_jobs == 0:
        problems.add("no jobs")
    problems.add_rows(np.unique(np.nonzero(workload.shapes < 0)[0]), "negative", field="shapes")


def limits_of(workload: Workload, lengths: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For each stored column the smallest and the largest value it may have, where sections have so many rows."""
    free = 2**62
    found = {
        "job.submit_at_ms": (0, free),
        "job.queue": (0, len(workload.queues) - 1),
        "job.user": (0, len(workload.users) - 1),
        "job.n_stages": (1, free),
        "job.n_after": (0, free),
        "job.has_am": (0, 1),
        "job.iterative": (0, 1),
        "stage.shape": (0, len(workload.shapes) - 1),
        "stage.n_tasks": (0, free),
        "stage.n_after": (0, free),
        "stage.shuffle_ms": (0, free),
        "stage.idle_timeout_ms": (0, free),
        "stage.slow_start_permille": (-1, 1000),
        "stage.slots": (1, free),
        "stage.iteration": (0, free),
        "stage.label": (0, len(workload.labels) - 1),
        "stage.kind": (0, len(KIND_NAMES) - 1),
        "task.duration_ms": (0, free),
        "task.first_segment": (NO_SEGMENTS, lengths["segment"] - 1),
        "task.prefers": (NO_PREFERENCE, len(workload.hosts) - 1),
        "task.running_on": (NOT_RUNNING, len(workload.hosts) - 1),
        "task.started_at_ms": (-free, 0),
        "task.input_bytes": (0, MOST_BYTES),
        "segment.until_permyriad": (1, PERMYRIAD),
        "segment.last": (0, 1),
        "stage_after": (0, lengths["stage"] - 1),
        "stage_after.bytes": (0, MOST_BYTES),
        "job_after": (0, lengths["job"] - 1),
    }
    return found | {f"segment.use.{resource}": (0, free) for resource in workload.resources}


def check_column(
    name: str, values: Column, allowed: dict[str, tuple[int, int]], problems: Problems, first_row: int = 0
) -> None:
    """Values of a column, or of a part of it that begins at `first_row`, against its limits."""
    if name not in allowed or not len(values):
        return
    low, high = allowed[name]
    if values.min() < low or values.max() > high:
        wrong = (values < low) | (values > high)
        problems.add_where(
            wrong, lambda place: f"{values[place]} is not between {low} and {high}", field=name, first_row=first_row
        )


def _check_consecutive(workload: Workload, problems: Problems) -> None:
    """The stages of a job, the tasks of a stage and their dependencies follow each other without gaps."""
    jobs, stages = workload.jobs, workload.stages
    for field, table, first, count, total in (
        ("job.first_stage", jobs, "first_stage", "n_stages", len(stages)),
        ("stage.first_task", stages, "first_task", "n_tasks", len(workload.tasks)),
        ("job.first_after", jobs, "first_after", "n_after", len(workload.job_after)),
        ("stage.first_after", stages, "first_after", "n_after", len(workload.stage_after)),
    ):
        expected = np.cumsum(table[count], dtype=np.int64)
        end = int(expected[-1]) if len(expected) else 0
        expected -= table[count]
        problems.add_where(table[first] != expected, "does not follow what is in front of it", field=field)
        if end != total:
            problems.add(f"these lists have {end} members in all, the workload has {total}", field=field)
    if jobs["n_stages"].sum() == len(stages):
        owner = np.repeat(np.arange(len(jobs), dtype=np.int32), jobs["n_stages"])
        problems.add_where(stages["job"] != owner, "is not among the stages of that job", field="stage.job")


def check_relations(workload: Workload, problems: Problems) -> None:
    """What rows say about each other: order, AMs, levels of use, dependencies. The columns must be in range."""
    jobs, stages, segments = workload.jobs, workload.stages, workload.segments
    backwards = jobs["submit_at_ms"][1:] < jobs["submit_at_ms"][:-1]
    problems.add_where(backwards, "submitted before the job in front of it", field="job.submit_at_ms", first_row=1)
    open_end = (segments["last"] != 0) != (segments["until_permyriad"] == PERMYRIAD)
    open_end[-1:] |= segments["last"][-1:] == 0
    problems.add_where(open_end, f"the last level of a use, and only it, ends at {PERMYRIAD}", field="segment.last")
    is_am = stages["kind"] == AM
    masters = jobs["first_stage"][jobs["has_am"] != 0]
    if len(masters) or is_am.any():
        due = np.zeros(len(stages), bool)
        due[masters] = True
        what = "the AM is the first stage of a job that has one, and no other"
        problems.add_where(is_am != due, what, field="stage.kind")
        problems.add_where(is_am & (stages["n_tasks"] != 1), "an AM is one task", field="stage.n_tasks")
    if len(workload.stage_after):
        _check_stage_after(workload, problems)
    if len(workload.job_after):
        waits = np.repeat(np.arange(len(jobs), dtype=np.int64), jobs["n_after"])
        for cycle in find_cycles(waits, workload.job_after.astype(np.int64), np.zeros(len(jobs), np.int64)):
            problems.add(f"cycle: {in_words([workload.job_name(job) for job in cycle])}", field="job_after")
    for wrong, what in running_problems(workload):
        problems.add_where(wrong, what, field="task.running_on")


def _check_stage_after(workload: Workload, problems: Problems) -> None:
    owner = workload.stages["job"].astype(np.int64)
    waits = np.repeat(np.arange(len(owner), dtype=np.int64), workload.stages["n_after"])
    before = workload.stage_after.astype(np.int64)
    foreign = owner[waits] != owner[before]
    problems.add_rows(waits[foreign], "waits for a stage of another job", field="stage_after")
    if not foreign.any():
        for cycle in find_cycles(waits, before, owner)[:SHOWN_PER_KIND]:
            names = in_words([workload.stage_name(stage) for stage in cycle])
            problems.add(f"cycle: {names}", field=f"job {workload.job_name(int(owner[cycle[0]]))}")


def check_fits(workload: Workload, cluster: Cluster) -> list[Problem]:
    """What of the workload cannot run on this cluster: too large, unknown resources or nodes, parent queues."""
    problems = Problems(workload.name)
    _check_queues(workload, cluster, problems)
    check_running_fits(workload, cluster, problems)
    stages = workload.stages
    asks = stages["kind"] != INNER  # inner tasks live in their executors
    pair = stages["shape"].astype(np.int64) * len(workload.labels) + stages["label"]
    room = {label: _Room(cluster, label) for label in workload.labels}
    reasons: dict[int, str] = {}
    for code in np.unique(pair[asks]).tolist():
        shape_number, label_number = divmod(code, len(workload.labels))
        shape = dict(zip(workload.resources, workload.shapes[shape_number].tolist(), strict=True))
        if reason := room[workload.labels[label_number]].why_never(shape):
            reasons[code] = f"a container needs {in_units(shape)}; {reason}"
    never = np.flatnonzero(asks & np.isin(pair, list(reasons)))
    for stage in never[:SHOWN_PER_KIND].tolist():
        job = workload.job_name(int(stages["job"][stage]))
        problems.add(reasons[int(pair[stage])], field=f"job {job}, stage {workload.stage_name(stage)}")
    if len(never) > SHOWN_PER_KIND:
        problems.add(f"and {len(never) - SHOWN_PER_KIND} more stages that fit no node")
    return problems.found


def _check_queues(workload: Workload, cluster: Cluster, problems: Problems) -> None:
    parents = {"root"} | {queue.name.rpartition(".")[0] for queue in cluster.queues}
    stopped = tuple(queue.name for queue in cluster.queues if queue.stopped)
    count = np.bincount(workload.jobs["queue"], minlength=len(workload.queues))
    for number, queue in enumerate(workload.queues):
        if not count[number]:
            continue
        if queue in parents:
            why = "is a parent queue: jobs are submitted to leaves"
        elif any(queue == one or queue.startswith(f"{one}.") for one in stopped):
            why = "is stopped and accepts no jobs"
        else:
            continue
        first = workload.job_name(int(np.argmax(workload.jobs["queue"] == number)))
        problems.add(f"{queue} {why} ({count[number]} jobs, the first is {first})", field="queue")


class _Room:
    """What the nodes of a label can hold when empty, in the resources that count."""

    def __init__(self, cluster: Cluster, label: str) -> None:
        self.resources = cluster.resources
        self.nodes = [node for node in cluster.nodes if not label or node.label == label]
        self.which = f'node with label "{label}"' if label else "node"
        self.counting = [
            r
            for r, resource in enumerate(cluster.resources)
            if cluster.calculator == "dominant" or r == MEMORY or resource in cluster.exclusive
        ]
        steps = dict(enumerate(cluster.increment))  # may say nothing of further resources
        step = np.array([steps.get(r, 1) for r in self.counting])
        allowances = [[node.allowance[r] for r in self.counting] for node in self.nodes]
        self.room = np.array(allowances, dtype=np.int64).reshape(-1, len(self.counting)) // step * step

    def why_never(self, shape: dict[str, int]) -> str:
        """Why no node, even empty, can hold the shape; empty if one can."""
        for resource, amount in shape.items():
            if amount > 0 and resource not in self.resources:
                return f"the cluster has no {resource}"
        if not self.nodes:
            return f"there is no {self.which}"
        fits = self.room >= np.array([shape.get(self.resources[r], 0) for r in self.counting])
        if fits.all(axis=1).any():
            return ""
        nearest = self.nodes[int(np.argmax(fits.sum(axis=1)))]
        allowed = dict(zip(self.resources, nearest.allowance, strict=True))
        return f"no {self.which} is large enough (the nearest, {nearest.name}: {in_units(allowed)})"


def in_units(amounts: dict[str, int]) -> str:
    """`2048 MB, 1.5 vcores, 1 gpu`, as people say it."""
    parts = []
    for resource, amount in amounts.items():
        if resource == MEMORY_MB:
            parts.append(f"{amount} MB")
        elif resource == VCORES_MILLI:
            parts.append(f"{amount / MILLI:g} vcores")
        elif amount:
            parts.append(f"{amount} {resource}")
    return ", ".join(parts)
