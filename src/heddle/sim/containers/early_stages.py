"""Stages that begin before those they come after have ended: reduces, and the maps that they must not starve."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY
from heddle.sim.books import end_later
from heddle.sim.codes import END_PREEMPTED, HOLDING, TIMER_STARVED
from heddle.sim.containers.physics import newer
from heddle.sim.numba.units import unit
from heddle.sim.timeline import timer_push


@compiled
def early_waiting(sim, stage):
    """How many tasks of the stages that an early stage comes after are neither done nor allocated."""
    view = sim.shown
    waiting = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        waiting += view.stage_spec["n_tasks"][before] - view.stage["done"][before] - view.stage["held"][before]
    return waiting


@unit
def early_limit(sim, stage):
    """How many tasks of an early stage may be asked for while stages it comes after still run."""
    view = sim.shown
    total, done, held = 0, 0, view.stage["held"][stage] * memory_of(view, stage)
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        total += view.stage_spec["n_tasks"][before]
        done += view.stage["done"][before]
        held += view.stage["held"][before] * memory_of(view, before)
    n_tasks = view.stage_spec["n_tasks"][stage]
    if done * 1000 < view.stage_spec["slow_start_permille"][stage] * total:
        return 0
    if early_waiting(sim, stage) == 0 or memory_of(view, stage) == 0:
        return n_tasks
    share = min(done * 1000 // total, sim.setting["ramp_up_limit_permille"][0])
    return min(n_tasks, share * held // 1000 // memory_of(view, stage))


@inlined
def memory_of(view, stage):
    return view.shape["demand"][view.stage_spec["shape"][stage], MEMORY]


@inlined
def is_early(sim, stage):
    return sim.shown.stage_spec["slow_start_permille"][stage] >= 0 and sim.stage_run["after_left"][stage] > 0


@unit
def maps_starve(sim, stage):
    """Whether tasks of the stages before an early stage wait, none is held, and the early stage holds idle ones."""
    view = sim.shown
    if sim.stage_run["after_left"][stage] == 0 or view.stage["held"][stage] == 0:
        return 0
    held = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        held += view.stage["held"][sim.after[i]]
    return 1 if held == 0 and early_waiting(sim, stage) > 0 else 0


@inlined
def look_for_starvation(sim, stage):
    """A container of an early stage started, or one before it ended: do its maps starve from now on?"""
    if sim.stage_run["starvation_watched"][stage] == 0 and maps_starve(sim, stage) != 0:
        _watch(sim, stage)


@inlined
def _watch(sim, stage):
    sim.stage_run["starvation_watched"][stage] = 1
    timer_push(sim, sim.shown.clock["now_ms"][0] + sim.setting["starved_ms"][0], TIMER_STARVED, stage)


@unit
def give_way_to_maps(sim, stage):
    """The maps before an early stage have starved long enough: its newest idle container gives way."""
    sim.stage_run["starvation_watched"][stage] = 0
    if maps_starve(sim, stage) == 0:
        return 0
    view, slot = sim.shown, sim.slot
    newest = -1
    s = sim.job_run["first_slot"][view.stage_spec["job"][stage]]
    while s >= 0:
        idle = slot["phase"][s] == HOLDING and view.container["stage"][s] == stage
        if idle and (newest < 0 or newer(view, slot, s, newest)):
            newest = s
        s = slot["next_of_job"][s]
    if newest >= 0:
        end_later(sim, newest, END_PREEMPTED)
        _watch(sim, stage)
    return 0
