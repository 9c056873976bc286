"""Stages that begin before those they come after have ended: reduces; and when their AM looks at what it asks for.

The AM looks on heartbeats, after something has changed (docs/semantics.md, "When MapReduce asks for reduces"). Here a
job hears of what changes in itself; listeners.py tells it of what others do.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY
from heddle.model.view import JOB_FINISHED
from heddle.sim.books import next_am
from heddle.sim.codes import TIMER_LOOK
from heddle.sim.numba.units import unit
from heddle.sim.timeline import timer_push


@inlined
def memory_of(view, stage):
    return view.shape["demand"][view.stage_spec["shape"][stage], MEMORY]


@inlined
def may_begin_early(sim, stage):
    return sim.shown.stage_spec["slow_start_permille"][stage] >= 0


@inlined
def is_early(sim, stage):
    """Whether it may begin although stages before it are not done."""
    return may_begin_early(sim, stage) and sim.stage_run["after_left"][stage] > 0


@inlined
def has_early_stages(sim, job):
    return sim.setting["has_early"][0] != 0 and sim.looks["n_stages"][job] > 0


@inlined
def early_stage(sim, job, i):
    """The i-th early stage of the job: their turns follow that of its AM."""
    return sim.stage_of_turn[sim.shown.job_spec["first_stage"][job] + sim.shown.job_spec["has_am"][job] + i]


@inlined
def asked_of(sim, stage):
    """How many tasks of the early stage are asked for, on their way to the scheduler included."""
    return sim.shown.stage["waiting"][stage] + sim.stage_run["to_ask"][stage]


@inlined
def is_open(sim, stage):
    """Whether the early stage is not done, and its maps can all run."""
    spec = sim.shown.stage_spec
    if sim.shown.stage["done"][stage] == spec["n_tasks"][stage]:
        return False
    for i in range(spec["first_after"][stage], spec["first_after"][stage] + spec["n_after"][stage]):
        if sim.stage_run["after_left"][sim.after[i]] > 0:
            return False
    return True


@compiled
def could_act(sim, stage):
    """Whether a look at the early stage could lead to anything, however much room there is."""
    view = sim.shown
    if not is_open(sim, stage):
        return False
    total, done, held = 0, 0, 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        total += view.stage_spec["n_tasks"][before]
        done += view.stage["done"][before]
        held += view.stage["held"][before]
    starves = held == 0 and done < total
    may_ask = done * 1000 >= view.stage_spec["slow_start_permille"][stage] * total
    if may_ask and sim.stage_run["gave_way"][stage] == 0 and (starves or sim.stage_run["pending"][stage] > 0):
        return True
    return starves and view.stage["held"][stage] + asked_of(sim, stage) > 0


@compiled
def look_could_act(sim, job):
    """Whether a look of the job's AM, if that is there, could lead to anything."""
    if sim.job_run["begun"][job] == 0 or sim.shown.job["state"][job] >= JOB_FINISHED:
        return False
    acts = False
    for i in range(sim.looks["n_stages"][job]):
        acts = acts or could_act(sim, early_stage(sim, job, i))
    return acts


@unit
def look_from(sim, job, from_ms):
    """The job's AM looks at its first heartbeat from then on."""
    at = next_am(sim, job, from_ms)
    if at < sim.looks["next_ms"][job]:
        sim.looks["next_ms"][job] = at
        timer_push(sim, at, TIMER_LOOK, job)
    return 0


@inlined
def after_change(sim):
    """From when on a change of now is looked at: what comes when looks have begun waits for the next heartbeat."""
    now = sim.shown.clock["now_ms"][0]
    return now + (sim.control["looks_begun_ms"][0] == now)


@unit
def hear(sim, job):
    """Something has changed in a job that has early stages."""
    if look_could_act(sim, job):
        look_from(sim, job, after_change(sim))
    return 0


@unit
def hear_at_once(sim, job):
    """A task of a job that has early stages came back: its AM looks in this instant, if it has not looked."""
    now = sim.shown.clock["now_ms"][0]
    if look_could_act(sim, job):
        over = sim.control["looks_over_ms"][0] == now or sim.looks["last_ms"][job] == now
        look_from(sim, job, now + over)
    return 0
