"""What each job of a workload asks its application master to do, as the text that ReplayMaster.java reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.model.errors import RunRefused
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.workload import AM, NO_SEGMENTS, PERMYRIAD, TASKS, Workload
from heddle.yarn.live.kinds import Kind, Kinds, replay_priorities, tags_of

Size = tuple[int, int]  # memory in MB, whole vcores
DEFAULT_AM: Final[Size] = (256, 1)
UNKNOWN_USE_PERCENT: Final = 90  # of what is reserved; a container that held all of it would be killed for its shell


@dataclass(frozen=True)
class ReplayJob:
    """A job, ready to be submitted. `after`: places in the list of jobs whose end it waits for."""

    name: str
    submit_at_ms: int
    queue: str
    priority: int
    am: Size
    after: tuple[int, ...]
    tasks: int
    lines: tuple[str, ...]  # of plan.txt, without the script's
    tags: tuple[str, ...] = ()  # which declare early reduces and rounds


def replay_jobs(workload: Workload) -> tuple[list[ReplayJob], list[str]]:
    """The jobs, and what of the workload a replay cannot do as written."""
    _refuse(workload)
    jobs = [_job(workload, number) for number in range(workload.n_jobs)]
    notes = Counter[str]()
    notes["jobs have no application master; each gets one of 256 MB"] = int((workload.jobs["has_am"] == 0).sum())
    notes["tasks have no recorded use: they hold 90% of their reservation and burn no CPU"] = int(
        (workload.tasks["first_segment"][_is_task(workload)] == NO_SEGMENTS).sum()
    )
    return jobs, [f"{count} {what}" for what, count in notes.items() if count]


def _is_task(workload: Workload) -> npt.NDArray[np.bool_]:
    return np.repeat(workload.stages["kind"] == TASKS, workload.stages["n_tasks"])


def _refuse(workload: Workload) -> None:
    why = []
    if strange := set(workload.stages["kind"].tolist()) - {TASKS, AM}:
        why.append(f"it has executors with slots (kinds {sorted(strange)}), which only Spark itself can run")
    if workload.resources[2:]:
        why.append(f"it asks for {', '.join(workload.resources[2:])}, which replay does not support")
    if workload.stages["label"].any():
        why.append("it asks for labelled nodes")
    if why:
        raise RunRefused(f"{workload.name} cannot be run as real containers: " + "; ".join(why))


def _job(workload: Workload, number: int) -> ReplayJob:
    row = workload.jobs[number]
    first, n_stages = int(row["first_stage"]), int(row["n_stages"])
    of_job = [stage for stage in range(first, first + n_stages) if workload.stages["kind"][stage] == TASKS]
    place = {stage: position for position, stage in enumerate(of_job)}
    lines, tasks = [], 0
    for stage in of_job:
        spec = workload.stages[stage]
        after = workload.stage_after[spec["first_after"] : spec["first_after"] + spec["n_after"]].tolist()
        memory_mb, vcores = _size(workload, stage)
        early = f" early={spec['slow_start_permille']}" if _is_early(workload, stage) else ""
        lines.append(f"stage {memory_mb} {vcores} {','.join(str(place[s]) for s in after if s in place) or '-'}{early}")
        shuffle = f" shuffle={spec['shuffle_ms']}" if spec["shuffle_ms"] else ""
        lines += _edges(workload, stage, place)
        for task in range(int(spec["first_task"]), int(spec["first_task"]) + int(spec["n_tasks"])):
            duration_ms = int(workload.tasks["duration_ms"][task])
            levels = _levels(workload, task, memory_mb)
            lines.append(f"task {place[stage]} {duration_ms} {levels}{shuffle}{_input(workload, task)}")
            tasks += 1
    am = _size(workload, first) if row["has_am"] else DEFAULT_AM
    return ReplayJob(
        name=workload.job_name(number),
        submit_at_ms=int(row["submit_at_ms"]),
        queue=workload.queues[row["queue"]],
        priority=int(row["priority"]),
        am=am,
        after=tuple(workload.job_after[row["first_after"] : row["first_after"] + row["n_after"]].tolist()),
        tasks=tasks,
        lines=tuple(lines),
        tags=tuple(tags_of(_kinds(workload, of_job, bool(row["iterative"])))),
    )


def _kinds(workload: Workload, stages: list[int], iterative: bool) -> Kinds:
    """By the priority at which ReplayMaster.java asks for each stage."""
    told = {}
    early = [_is_early(workload, stage) for stage in stages]
    for priority, stage in sorted(zip(replay_priorities(early), stages, strict=True)):
        kind = Kind(_is_early(workload, stage), int(workload.stages["iteration"][stage]) if iterative else 0)
        if kind.early or iterative:
            told[priority] = kind
    return Kinds(told, iterative)


def _is_early(workload: Workload, stage: int) -> bool:
    return bool(workload.stages["slow_start_permille"][stage] >= 0)


def _edges(workload: Workload, stage: int, place: dict[int, int]) -> list[str]:
    """What the stage reads of those before it."""
    if workload.edge_bytes is None:
        return []
    spec = workload.stages[stage]
    edges = range(int(spec["first_after"]), int(spec["first_after"]) + int(spec["n_after"]))
    read = {int(workload.stage_after[edge]): int(workload.edge_bytes[edge]) for edge in edges}
    return [f"reads {place[stage]} {place[other]} {count}" for other, count in read.items() if count and other in place]


def _input(workload: Workload, task: int) -> str:
    """Where its input lies: the number in the name of a node, and how much it is."""
    if workload.input_bytes is None or workload.prefers is None or not int(workload.input_bytes[task]):
        return ""
    host = workload.hosts[int(workload.prefers[task])] if int(workload.prefers[task]) >= 0 else ""
    number = host.rpartition("-")[2]
    return f" input={number}:{int(workload.input_bytes[task])}" if number.isdigit() else ""


def _size(workload: Workload, stage: int) -> Size:
    shape = workload.shapes[workload.stages["shape"][stage]]
    return int(shape[MEMORY]), max(1, -(-int(shape[VCORES]) // MILLI))  # YARN knows whole vcores only


def _levels(workload: Workload, task: int, reserved_mb: int) -> str:
    segment = int(workload.tasks["first_segment"][task])
    if segment == NO_SEGMENTS:
        return f"{reserved_mb * UNKNOWN_USE_PERCENT // 100}:0:{PERMYRIAD}"
    levels = []
    while True:
        row = workload.segments[segment]
        until = PERMYRIAD if row["last"] else int(row["until_permyriad"])
        levels.append(f"{int(row['use'][MEMORY])}:{int(row['use'][VCORES])}:{until}")
        if row["last"]:
            return ",".join(levels)
        segment += 1
