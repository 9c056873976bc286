"""From the engine's memory over some jobs to its memory over others, between two instants (window.py).

Tables over jobs, stages and tasks are made anew as they are before a run; then those who stay take along what they
had. Everything that is a row of these is brought up to date wherever it stands. As rows keep their order, heaps and
sorted runs stay what they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.policy.carried_state import Staying, carried_state
from heddle.sim.codes import FREE, TIMER_ARRIVE, TIMER_ASK, TIMER_LOOK, TIMER_RETRY, WORKING
from heddle.sim.memory.buckets_carried import carry_buckets
from heddle.sim.memory.lever_memory import Levers, prepared
from heddle.sim.memory.making import made
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.shown import SHOWN
from heddle.sim.memory.sizes import Sizes
from heddle.sim.memory.tables import OWN, Sim
from heddle.sim.memory.window import Moved

Array = npt.NDArray[Any]

_SHOWN_OF_WINDOW: Final = ("job_spec", "job", "stage_spec", "stage")
_OF_WINDOW: Final = (
    "setting", "task_spec", "segment", "task", "stage_run", "keeping", "job_run", "looks", "listeners", "after",
    "before_first", "before", "job_before_first", "job_before", "prefers", "running_jobs", "running_on",
    "running_since_ms", "run", "heap", "turn", "stage_of_turn", "place_of_turn", "bucket", "want", "full",
    "stage_combo", "edge_bytes", "input_bytes", "output_node", "output_tasks", "scratch",
)  # fmt: skip


def carried(sim: Sim, run: RunInputs, moved: Moved, sizes: Sizes) -> Sim:
    """The memory of `sizes.run`, whose first jobs are those of `run` that stay. The old one is of no use after that."""
    shown = sim.shown._replace(**made({name: SHOWN[name] for name in _SHOWN_OF_WINDOW}, sizes))
    fresh = Sim(shown, sim.levers, sim.own | made({name: OWN[name] for name in _OF_WINDOW}, sizes))
    _carry_rows(sim, fresh, moved)
    _carry_containers(sim, fresh, moved)
    _carry_timers(fresh, moved)
    carry_buckets(sim, fresh, moved, by_stage=run.by_stage)
    _carry_control(sim, fresh, moved)
    return Sim(shown, _carried_levers(sim.levers, sizes, fresh, moved), fresh.own)


def _carry_rows(sim: Sim, fresh: Sim, moved: Moved) -> None:
    jobs, stages, tasks = moved
    shifts = {name: fresh.job_run[name].copy() for name in ("stages_before", "tasks_before")}
    for old, new, stays in (
        (sim.shown.job, fresh.shown.job, jobs),
        (sim.job_run, fresh.job_run, jobs),
        (sim.looks, fresh.looks, jobs),
        (sim.shown.stage, fresh.shown.stage, stages),
        (sim.stage_run, fresh.stage_run, stages),
        (sim.keeping, fresh.keeping, stages),
        (sim.task, fresh.task, tasks),
        (sim.output_node, fresh.output_node, tasks),
        (sim.output_tasks, fresh.output_tasks, tasks),
    ):
        if len(old):
            new[: int(stays.sum())] = old[stays]
    for name, values in shifts.items():
        fresh.job_run[name] = values
    _move(fresh.stage_run["returned"][: int(stages.sum())], moved.new_task)
    _move(fresh.task["link"][: int(tasks.sum())], moved.new_task)
    n_listeners = int(sim.control["n_listeners"][0])
    fresh.listeners[:n_listeners] = moved.new_job[sim.listeners[:n_listeners]]
    _move(fresh.shown.node["reserved_for"], moved.new_stage)


def _carry_containers(sim: Sim, fresh: Sim, moved: Moved) -> None:
    slot, rows = fresh.slot, np.flatnonzero(fresh.slot["phase"] != FREE)
    old_task = slot["task"][rows]
    task = moved.new_task[old_task]
    works = slot["phase"][rows] == WORKING
    within = slot["segment"][rows] - sim.task_spec["first_segment"][old_task]
    has_use = works & (slot["segment"][rows] >= 0)
    slot["segment"][rows[has_use]] = (fresh.task_spec["first_segment"][task] + within)[has_use]
    slot["task"][rows] = task
    slot["job"][rows] = moved.new_job[slot["job"][rows]]
    fresh.shown.container["stage"][rows] = moved.new_stage[fresh.shown.container["stage"][rows]]
    due = fresh.due[: int(fresh.control["n_due"][0])]
    due["task"] = moved.new_task[due["task"]]


def _carry_timers(fresh: Sim, moved: Moved) -> None:
    timers = fresh.timer[: int(fresh.control["n_timers"][0])]
    for kinds, new in (
        ((TIMER_ARRIVE, TIMER_LOOK), moved.new_job),
        ((TIMER_ASK,), moved.new_stage),
        ((TIMER_RETRY,), moved.new_task),
    ):
        rows = np.flatnonzero(np.isin(timers["kind"], kinds))
        timers["subject"][rows] = new[timers["subject"][rows]]


def _carry_control(sim: Sim, fresh: Sim, moved: Moved) -> None:
    control = fresh.control
    control["next_arrival"] = int(moved.jobs[: control["next_arrival"][0]].sum())
    for name, new in (("lone_stage", moved.new_stage), ("looker", moved.new_job)):
        if control[name][0] >= 0:
            control[name] = new[control[name][0]]


def _carried_levers(levers: Levers, sizes: Sizes, fresh: Sim, moved: Moved) -> Levers:
    staying = Staying(moved.jobs, moved.stages, moved.tasks)
    found = {}
    for question, kept in levers.items():
        anew = prepared(kept.lever, sizes, fresh.shown)
        state = carried_state(kept.lever.state, kept.state, anew.state, staying)
        found[question] = replace(kept, state=state)
    return found


def _move(rows: Array, new: npt.NDArray[np.int64]) -> None:
    """New rows in place of old ones; those below 0 stand for none."""
    there = rows >= 0
    rows[there] = new[rows[there]]
