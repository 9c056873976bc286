"""What the phases of an instant do: one thing that is due, one arrival, one timer, one allocation at a time."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import JOB_AWAY
from heddle.sim.books import end_later, start_later
from heddle.sim.codes import (
    AM_READY,
    AM_STARTING,
    END_RELEASED,
    EXECUTOR,
    FETCHING,
    FOREVER,
    LAUNCHING,
    LOG_FULL,
    SLOTS_FULL,
    TIMER_ARRIVE,
    TIMER_ASK,
    TIMER_LOOK,
    TIMER_RETRY,
    TIMERS_FULL,
)
from heddle.sim.containers.ends import come_back
from heddle.sim.containers.jobs import arrive, begin_job
from heddle.sim.containers.physics import check_memory
from heddle.sim.containers.working import pass_mark
from heddle.sim.instants import stage_of_task
from heddle.sim.network.fetching import end_fetching
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.allocating import allocate
from heddle.sim.scheduling.asking import ask_now
from heddle.sim.scheduling.choosing import choose
from heddle.sim.scheduling.lone import node_for_lone
from heddle.sim.scheduling.looking import look
from heddle.sim.scheduling.room import next_offer_node
from heddle.sim.settle import settle
from heddle.sim.timeline import due_clear, timer_pop


@inlined
def due_now(sim):
    """The first container that is due: launched, ready, idle too long, or at a mark of its work."""
    s = sim.due["slot"][0]
    due_clear(sim, s)
    phase = sim.slot["phase"][s]
    if phase == LAUNCHING:
        start_later(sim, s)
    elif phase == AM_STARTING:
        sim.slot["phase"][s] = AM_READY
        begin_job(sim, sim.slot["job"][s])
    elif phase == EXECUTOR:
        end_later(sim, s, END_RELEASED)
    elif phase == FETCHING:
        end_fetching(sim, s)
    else:
        pass_mark(sim, s)


@inlined
def next_arrival(sim, now):
    """The next job that arrives now, by number, whether submitted now or released by a job it comes after. Or none."""
    control, view = sim.control, sim.shown
    submitted = FOREVER
    i = control["next_arrival"][0]
    if i < view.job.shape[0] and view.job_spec["submit_at_ms"][i] <= now:
        submitted = i
    released = FOREVER
    if control["n_timers"][0] > 0 and sim.timer["at_ms"][0] == now and sim.timer["kind"][0] == TIMER_ARRIVE:
        released = sim.timer["subject"][0]
    if submitted == FOREVER and released == FOREVER:
        return False
    if released < submitted:
        timer_pop(sim)
        if view.job["state"][released] == JOB_AWAY:
            arrive(sim, released)
        return True
    control["next_arrival"][0] = i + 1
    if sim.job_run["after_left"][submitted] > 0 and sim.job_run["after_failed"][submitted] == 0:
        sim.job_run["submitted"][submitted] = 1
    elif view.job["state"][submitted] == JOB_AWAY:  # else it was there from the start
        arrive(sim, submitted)
    return True


@inlined
def offer_all(sim):
    """One allocation of an ideal pass; False when the pass is over."""
    control = sim.control
    if control["waiting"][0] == 0 or (control["news"][0] == 0 and control["n_gained"][0] == 0):
        return False
    if control["lone_stage"][0] >= 0:
        stage = control["lone_stage"][0]
        n = node_for_lone(sim)
        if n >= 0:
            allocate(sim, stage, n)
            return True
    if sim.setting["uses_fit"][0]:
        n = next_offer_node(sim, control["offer_node"][0])
        if n < 0:
            return False
        stage = choose(sim, n)
        control["offer_node"][0] = n if stage >= 0 else n + 1
    else:
        stage = choose(sim, -1)
        n = control["offer_node"][0]
        if stage < 0:
            return False
    if stage >= 0:
        allocate(sim, stage, n)
    return True


@inlined
def short_of_memory(sim):
    control, setting = sim.control, sim.setting
    if control["n_free"][0] < setting["slot_margin"][0]:
        return SLOTS_FULL
    if control["n_timers"][0] + setting["timer_margin"][0] > sim.timer.shape[0]:
        return TIMERS_FULL
    if setting["logging"][0]:
        margin = setting["log_margin"][0]
        if control["n_log"][0] + margin > sim.log.shape[0] or control["n_attempts"][0] + margin > sim.attempt.shape[0]:
            return LOG_FULL
    return 0


@inlined
def check_memory_of_touched(sim):
    """Crashes containers of oversold nodes, node by node in order of number, until none is. Whether any crashed."""
    crashed = False
    n = -1
    while True:
        following = sim.shown.node.shape[0]
        for i in range(sim.control["n_touched"][0]):
            if n < sim.touched[i] < following:
                following = sim.touched[i]
        n = following
        if n == sim.shown.node.shape[0]:
            return crashed
        first = 1
        while check_memory(sim, n, first) != 0:
            crashed = True
            first = 0
            settle(sim)


@unit
def serve_timer(sim, now):
    """The first timer, which is due and not about a node or an arrival."""
    control = sim.control
    kind, subject = sim.timer["kind"][0], sim.timer["subject"][0]
    timer_pop(sim)
    if kind == TIMER_ASK:
        ask_now(sim, subject)
    elif kind == TIMER_RETRY:
        control["last_progress_ms"][0] = now
        come_back(sim, subject, stage_of_task(sim.shown.stage_spec, subject))
    elif kind == TIMER_LOOK:
        look(sim, subject)
    else:
        control["news"][0] = 1
        control["epoch"][0] += 1
    return 0
