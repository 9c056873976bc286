"""What is in a trace, what is missing for which policy, and which cluster it would load to 80%."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MEMORY, VCORES, display_name
from heddle.model.workload import EXECUTORS, INNER, NO_SEGMENTS, TASKS, Workload

LOAD: Final = 0.8
BINS: Final = 48
_POINTS: Final = (10, 50, 90, 99, 100)
_NODE: Final = (65536, 24_000)  # what is suggested where containers are not larger

Floats = npt.NDArray[np.float64]


def trace_facts(workload: Workload) -> dict[str, Any]:
    """Everything that `heddle traces describe` says, ready for JSON."""
    stages, jobs = workload.stages, workload.jobs
    kind = np.repeat(stages["kind"], stages["n_tasks"])
    stage = np.repeat(np.arange(len(stages)), stages["n_tasks"])
    working = (kind == TASKS) | (kind == INNER)
    duration_s = workload.tasks["duration_ms"][working] / 1000
    submit_s = jobs["submit_at_ms"] / 1000
    reserving = kind == TASKS
    shape = workload.shapes[stages["shape"][stage[reserving]]]
    area = _job_area(workload)
    span_s = _span_s(workload)
    tasks_of_job = np.bincount(stages["job"], stages["n_tasks"] * np.isin(stages["kind"], (TASKS, INNER)), len(jobs))
    return {
        "name": workload.name,
        "about": workload.about,
        "jobs": workload.n_jobs,
        "tasks": workload.n_tasks,
        "stages": len(stages),
        "users": len(workload.users),
        "queues": len(workload.queues),
        "span_s": span_s,
        "last_submit_s": float(submit_s.max()),
        "gap_s": _points(np.diff(np.sort(submit_s))),
        "tasks_per_job": _points(tasks_of_job),
        "duration_s": _points(duration_s),
        "reservation": {
            display_name(name): _points(shape[:, r] / (1000 if r == VCORES else 1))
            for r, name in enumerate(workload.resources)
        },
        "use": _use(workload, working, stage),
        "load": _load(workload, area, span_s),
        "missing": missing(workload),
        "cluster": suggest_cluster(workload, area, span_s),
    }


def _points(values: npt.NDArray[Any]) -> dict[str, float]:
    if not len(values):
        return {}
    found = np.percentile(values, _POINTS)
    return {("max" if point == 100 else f"p{point}"): float(value) for point, value in zip(_POINTS, found, strict=True)}


def _span_s(workload: Workload) -> float:
    """From the first submission to where the last job would end if none waited, by its longest task."""
    longest = np.zeros(workload.n_jobs, np.int64)
    job = np.repeat(workload.stages["job"], workload.stages["n_tasks"])
    np.maximum.at(longest, job, workload.tasks["duration_ms"])
    ends = workload.jobs["submit_at_ms"] + longest
    return float(max(1, int(ends.max() - workload.jobs["submit_at_ms"].min()))) / 1000


def _job_area(workload: Workload) -> Floats:
    """[job, resource]: reserved amount x seconds; executors are held for their inner tasks' time over their slots."""
    stages = workload.stages
    seconds = np.zeros(len(stages))
    nonempty = np.flatnonzero(stages["n_tasks"] > 0)
    if len(nonempty):
        seconds[nonempty] = (
            np.add.reduceat(workload.tasks["duration_ms"].astype(np.float64), stages["first_task"][nonempty]) / 1000
        )
    area = np.zeros((workload.n_jobs, len(workload.resources)))
    plain = stages["kind"] == TASKS
    np.add.at(area, stages["job"][plain], workload.shapes[stages["shape"][plain]] * seconds[plain, None])
    slots = np.zeros(workload.n_jobs)
    held = stages["kind"] == EXECUTORS
    np.add.at(slots, stages["job"][held], stages["slots"][held] * stages["n_tasks"][held])
    inner = np.bincount(stages["job"], seconds * (stages["kind"] == INNER), workload.n_jobs)
    life = np.divide(inner, slots, out=np.zeros_like(inner), where=slots > 0)
    whole = (
        workload.shapes[stages["shape"][held]] * stages["n_tasks"][held][:, None] * life[stages["job"][held]][:, None]
    )
    np.add.at(area, stages["job"][held], whole)
    return area


def _load(workload: Workload, area: Floats, span_s: float) -> dict[str, Any]:
    """What arrives in each of equal parts of the time of submissions, as the mean amount it would keep busy."""
    submit = workload.jobs["submit_at_ms"] / 1000
    edges = np.linspace(submit.min(), max(submit.max(), submit.min() + 1), BINS + 1)
    width = float(edges[1] - edges[0])
    place = np.clip(np.searchsorted(edges, submit, side="right") - 1, 0, BINS - 1)
    found = {
        display_name(name): (np.bincount(place, area[:, r], BINS) / width / (1000 if r == VCORES else 1)).tolist()
        for r, name in enumerate(workload.resources)
    }
    return {"bin_s": width, "jobs": np.bincount(place, minlength=BINS).tolist(), "busy": found}


def _use(workload: Workload, working: npt.NDArray[np.bool_], stage: npt.NDArray[np.int64]) -> dict[str, Any]:
    known = working & (workload.tasks["first_segment"] != NO_SEGMENTS)
    levels = len(workload.segments)
    return {
        "tasks_with_use": int(known.sum()),
        "tasks": int(working.sum()),
        "levels": levels,
        "over_time": bool(levels and not (workload.segments["last"] != 0).all()),
        "modelled": workload.about.get("usage_model"),
    }


def missing(workload: Workload) -> list[str]:
    """What the trace does not have, and which policies that concerns."""
    kind = np.repeat(workload.stages["kind"], workload.stages["n_tasks"])
    working = (kind == TASKS) | (kind == INNER)
    known = int((working & (workload.tasks["first_segment"] != NO_SEGMENTS)).sum())
    found = []
    if known == 0:
        found.append(
            "no use recorded, so it cannot judge usage-feedback and other sizing levers; `heddle traces import "
            "--usage-model` assumes one, `heddle yarn track` measures it"
        )
    elif known < working.sum():
        found.append(
            f"use recorded for {known} of {int(working.sum())} tasks only: sizing assumes that the others "
            "use their full reservation"
        )
    elif (workload.segments["last"] != 0).all():
        found.append("use is constant during each task, so peak predictors have nothing to predict")
    if not workload.jobs["has_am"].any():
        found.append("no application masters, so admission (am-share) has no effect")
    if len(np.unique(workload.jobs["queue"])) == 1:
        found.append("only one queue, so fair and capacity have nothing to share")
    if len(np.unique(workload.jobs["user"])) == 1:
        found.append("only one user, so user limits have no effect")
    if not len(workload.stage_after) and not len(workload.job_after):
        found.append("no dependencies: all tasks could start at once")
    if workload.prefers is None:
        found.append("no preferred nodes, so delay-locality behaves like most-free")
    return found


def suggest_cluster(workload: Workload, area: Floats, span_s: float) -> dict[str, Any]:
    """Equal nodes that the trace would load to 80% in its dominant resource, large enough for every container."""
    asks = workload.stages["kind"] != INNER
    largest = workload.shapes[np.unique(workload.stages["shape"][asks])].max(axis=0)
    node = [
        max(_NODE[MEMORY], _rounded(int(largest[MEMORY]))),
        max(_NODE[VCORES], -(-int(largest[VCORES]) // 1000) * 1000),
    ]
    node += [max(8 if name == "gpu" else 1, int(largest[r])) for r, name in enumerate(workload.resources) if r > VCORES]
    mean = area.sum(axis=0) / span_s
    count = max(1, int(np.ceil(max(mean[r] / node[r] for r in range(len(node))) / LOAD)))
    further = "".join(f"x{name}={node[r]}" for r, name in enumerate(workload.resources) if r > VCORES)
    return {
        "text": f"{count}x{node[MEMORY]}x{node[VCORES] // 1000}{further}",
        "nodes": count,
        "node": {name: node[r] for r, name in enumerate(workload.resources)},
        "load": {display_name(name): float(mean[r] / (count * node[r])) for r, name in enumerate(workload.resources)},
    }


def _rounded(memory_mb: int) -> int:
    """The next multiple of 4 GB."""
    return -(-memory_mb // 4096) * 4096
