"""advance(): the clock. It runs a simulated cluster until it ends, stalls, is told to pause, or needs more memory.

An instant is a sequence of phases (docs/semantics.md, "Time"); each turn of the loop does one thing of the present
phase and then settles all that follows from it.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import EVENT_TICK, JOB_AWAY, JOB_FINISHED
from heddle.sim.books import end_later, start_later
from heddle.sim.codes import (
    AM_READY,
    AM_STARTING,
    ARRIVALS,
    ASKS,
    CONTAINERS,
    CRASHES,
    END_RELEASED,
    EXECUTOR,
    FETCHING,
    FINISHED,
    FLOWS_FULL,
    FOREVER,
    LAUNCHING,
    LOG_FULL,
    LOOK,
    NEXT,
    NODES,
    OFFERS,
    ONLY_REPORTS,
    PAUSED,
    SLOTS_FULL,
    STALLED,
    TIMER_ARRIVE,
    TIMER_ASK,
    TIMER_BACKGROUND,
    TIMER_NODE_RETURN,
    TIMER_RETRY,
    TIMER_STARVED,
    TIMER_WAKE,
    TIMERS_FULL,
)
from heddle.sim.containers.early_stages import give_way_to_maps
from heddle.sim.containers.ends import come_back, comes_back
from heddle.sim.containers.jobs import arrive, begin_job
from heddle.sim.containers.physics import check_memory, renew_rates
from heddle.sim.containers.starting_state import go_on_with_running
from heddle.sim.containers.working import pass_mark
from heddle.sim.cycles import next_multiple
from heddle.sim.network.fair_rates import renew_flows
from heddle.sim.network.fetching import begin_flows, end_fetching
from heddle.sim.network.flows import end_flows
from heddle.sim.nodes import begin_background, node_event, plan_fault
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.allocating import allocate
from heddle.sim.scheduling.asking import ask_now
from heddle.sim.scheduling.choosing import choose
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.heartbeats import next_heartbeat, serve_heartbeats, tell_of_ends
from heddle.sim.scheduling.preemption import preempt
from heddle.sim.scheduling.promises import look_at_promises
from heddle.sim.scheduling.reports import catch_up_reports, node_changed, resize
from heddle.sim.scheduling.room import close_pass, next_offer_node
from heddle.sim.scheduling.skipping import next_report_that_matters
from heddle.sim.settle import settle
from heddle.sim.timeline import due_clear, timer_pop, timer_push


@compiled
def _stage_of_task(stage_spec, task):
    """Tasks are numbered through the stages, so the stage is found by bisection."""
    low, high = 0, stage_spec.shape[0] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if stage_spec["first_task"][middle] <= task:
            low = middle
        else:
            high = middle - 1
    return low


@inlined
def _is_void(sim):
    """Whether the first timer is about a task that comes back no more, or about a job that has ended."""
    kind, subject = sim.timer["kind"][0], sim.timer["subject"][0]
    if kind == TIMER_RETRY:
        return not comes_back(sim, subject, _stage_of_task(sim.shown.stage_spec, subject))
    if kind in (TIMER_ASK, TIMER_STARVED):
        return sim.shown.job["state"][sim.shown.stage_spec["job"][subject]] >= JOB_FINISHED
    return False


@compiled
def _anybody_arrives(sim, at):
    """Whether one of the jobs submitted at that time waits for no other job."""
    job_run, spec = sim.job_run, sim.shown.job_spec
    for i in range(sim.control["next_arrival"][0], spec.shape[0]):
        if spec["submit_at_ms"][i] > at:
            return False
        if job_run["after_left"][i] == 0 or job_run["after_failed"][i] != 0:
            return True
    return False


@inlined
def _next_instant(sim, until_ms):
    control, setting = sim.control, sim.setting
    now = sim.shown.clock["now_ms"][0]
    at = FOREVER
    while control["n_timers"][0] > 0 and _is_void(sim):
        timer_pop(sim)  # nothing happens then, so there is no such instant, and no pass
    if control["n_due"][0] > 0:
        at = sim.due["at_ms"][0]
    if control["n_timers"][0] > 0:
        at = min(at, sim.timer["at_ms"][0])
    at = min(at, control["next_flow_ms"][0])
    idle = 0
    if control["next_arrival"][0] < sim.shown.job.shape[0]:
        submitted = sim.shown.job_spec["submit_at_ms"][control["next_arrival"][0]]
        if submitted < at and setting["shares_out"][0] and not _anybody_arrives(sim, submitted):
            idle = ONLY_REPORTS
        at = min(at, submitted)
    if control["n_untold"][0] > 0:
        at = now + 1
    if control["waiting"][0] > 0:
        if setting["node_heartbeat_ms"][0] > 0:
            at = min(at, next_heartbeat(sim, now))
        elif setting["reports_matter"][0]:
            other = at
            if at < FOREVER:
                at = next_report_that_matters(sim, min(at, until_ms + 1, control["look_at_ms"][0]))
            else:  # perhaps nothing will ever come: the clock must see every report to find that out
                at = max(now + 1, control["next_report_ms"][0])
            if setting["shares_out"][0] and at < other:
                idle = ONLY_REPORTS
    if control["waiting"][0] > 0:  # else nobody is called for, and no lever hears of time
        polled = FOREVER
        if setting["preemption_every_ms"][0] > 0:
            polled = next_multiple(now, setting["preemption_every_ms"][0])
        if setting["tick_ms"][0] > 0:
            polled = min(polled, next_multiple(now, setting["tick_ms"][0]))
        if polled < at:
            idle, at = 1, polled
    if control["look_at_ms"][0] < at:
        idle, at = 1, control["look_at_ms"][0]  # unless whoever looks turns a knob
    control["idle"][0] = idle
    return at


@inlined
def _only_polls(sim):
    """Whether nothing is to come but polls of all kinds, or nodes that are lost and return for ever."""
    control = sim.control
    timers_end = control["n_timers"][0] > 0 and sim.setting["node_mtbf_ms"][0] == 0
    nothing_due = control["n_due"][0] == 0 and control["next_flow_ms"][0] == FOREVER
    return nothing_due and control["next_arrival"][0] == sim.shown.job.shape[0] and not timers_end


@inlined
def _integrate(sim, at_ms):
    control = sim.control
    elapsed = at_ms - control["integrated_at_ms"][0]
    control["integrated_at_ms"][0] = at_ms
    for r in range(sim.shown.shape["demand"].shape[1]):
        control["reserved_ms"][0, r] += elapsed * control["reserved_now"][0, r]
        control["used_ms"][0, r] += elapsed * control["used_now"][0, r]


@inlined
def _due_now(sim):
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
def _next_arrival(sim, now):
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
def _offer_all(sim):
    """One allocation of an ideal pass; False when the pass is over."""
    control = sim.control
    if control["waiting"][0] == 0 or (control["news"][0] == 0 and control["n_gained"][0] == 0):
        return False
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
def _short_of_memory(sim):
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
def _check_memory_of_touched(sim):
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
        come_back(sim, subject, _stage_of_task(sim.shown.stage_spec, subject))
    elif kind == TIMER_STARVED:
        give_way_to_maps(sim, subject)
    else:
        control["news"][0] = 1
        control["epoch"][0] += 1
    return 0


@inlined
def _timer_due(sim, now, low, high):
    """Whether the first timer is due and of a kind from low to high."""
    if sim.control["n_timers"][0] == 0 or sim.timer["at_ms"][0] > now:
        return False
    return low <= sim.timer["kind"][0] <= high


@inlined
def _round_is_due(sim, now):
    """Whether a round of preemption is due; there is one in an instant at most, and none at time 0."""
    every_ms = sim.setting["preemption_every_ms"][0]
    return every_ms > 0 and now % every_ms == 0 and sim.control["round_at_ms"][0] != now


@inlined
def _tick_is_due(sim, now):
    """Whether levers are told that time has passed: once in an instant, not at time 0, and only if requests wait."""
    tick_ms = sim.setting["tick_ms"][0]
    return tick_ms > 0 and now % tick_ms == 0 and sim.control["tick_at_ms"][0] != now and sim.control["waiting"][0] > 0


@inlined
def _nothing_else_now(sim, now):
    """Whether containers that ended are all of this instant: nobody waits, comes, looks or is told of anything."""
    control = sim.control
    if control["waiting"][0] + control["n_untold"][0] + control["broken"][0] + sim.setting["not_plain"][0] != 0:
        return False
    if control["n_timers"][0] > 0 and sim.timer["at_ms"][0] <= now:
        return False
    i = control["next_arrival"][0]
    if i < sim.shown.job.shape[0] and sim.shown.job_spec["submit_at_ms"][i] <= now:
        return False
    return control["look_at_ms"][0] > now


@compiled
def advance(sim, until_ms):
    """Runs until one of the statuses of codes.py; call again to go on.

    The phases stand in their order; control["phase"] says which of them have been left behind, so that a run that came
    back for more memory, or for a look from outside, goes on where it was.
    """
    control, setting, clock = sim.control, sim.setting, sim.shown.clock
    ideal = setting["node_heartbeat_ms"][0] == 0
    reports_matter = setting["reports_matter"][0]
    while True:
        if control["phase"][0] == NEXT:
            if control["jobs_left"][0] == 0:
                return FINISHED
            at = _next_instant(sim, until_ms)
            if at == FOREVER or (_only_polls(sim) and at - control["last_progress_ms"][0] > setting["quiet_ms"][0]):
                return STALLED
            if at > until_ms:
                return PAUSED
            _integrate(sim, at)
            clock["now_ms"][0] = at
            control["phase"][0] = CONTAINERS
        now = clock["now_ms"][0]
        if control["phase"][0] == CONTAINERS:
            if control["next_flow_ms"][0] <= now:
                control["last_progress_ms"][0] = now
                end_flows(sim, now)
            while control["n_due"][0] > 0 and sim.due["at_ms"][0] <= now:
                short = _short_of_memory(sim)
                if short != 0:
                    return short
                control["last_progress_ms"][0] = now
                _due_now(sim)
                settle(sim)
            if control["n_touched"][0] > 0:
                _check_memory_of_touched(sim)
            elif _nothing_else_now(sim, now):
                control["phase"][0] = NEXT
                continue
            control["phase"][0] = NODES
        if control["phase"][0] == NODES:
            while _timer_due(sim, now, TIMER_NODE_RETURN, TIMER_BACKGROUND):
                short = _short_of_memory(sim)
                if short != 0:
                    return short
                kind, subject = sim.timer["kind"][0], sim.timer["subject"][0]
                timer_pop(sim)
                if setting["node_mtbf_ms"][0] == 0:  # else nodes come and go for ever
                    control["last_progress_ms"][0] = now
                node_event(sim, kind, subject, now)
                settle(sim)
            if control["n_touched"][0] > 0:
                _check_memory_of_touched(sim)
            control["phase"][0] = ARRIVALS
        if control["phase"][0] == ARRIVALS:
            while _next_arrival(sim, now):
                control["last_progress_ms"][0] = now
                settle(sim)
                short = _short_of_memory(sim)
                if short != 0:
                    return short
            control["phase"][0] = ASKS
        if control["phase"][0] == ASKS:
            while _timer_due(sim, now, TIMER_ASK, TIMER_WAKE):
                short = _short_of_memory(sim)
                if short != 0:
                    return short
                serve_timer(sim, now)
                settle(sim)
            look_at_promises(sim, now)
            if _round_is_due(sim, now):
                short = _short_of_memory(sim)
                if short != 0:
                    return short
                control["round_at_ms"][0] = now
                if control["waiting"][0] > 0 and preempt(sim, now) > 0:
                    control["idle"][0] = 0
                    settle(sim)
            if _tick_is_due(sim, now):
                control["tick_at_ms"][0] = now
                if tell_levers(sim, EVENT_TICK, -1, -1, -1, 0) != 0:
                    control["idle"][0] = 0
                    settle(sim)
            if control["look_at_ms"][0] <= now:
                return LOOK
            control["phase"][0] = OFFERS
            control["passes"][0] += 1
            control["offer_node"][0] = 0
            if not ideal and control["heartbeats_at_ms"][0] != now:  # each node is offered once in an instant
                control["heartbeats_at_ms"][0] = now
                control["offer_node"][0] = -1
                tell_of_ends(sim)
            elif not ideal:
                control["offer_node"][0] = sim.heartbeat_order.shape[0]
            if ideal and control["waiting"][0] > 0:
                if reports_matter:
                    catch_up_reports(sim, now)
                elif setting["sizes_with_time"][0] and control["idle"][0] == 0:
                    for n in range(sim.shown.node.shape[0]):
                        if sim.shown.node["alive"][n]:
                            resize(sim, n)
        if control["phase"][0] == OFFERS:
            while control["waiting"][0] > 0 and (control["idle"][0] == 0 or not ideal):
                short = _short_of_memory(sim)
                if short != 0:
                    return short
                if ideal:
                    if not _offer_all(sim):
                        break
                elif serve_heartbeats(sim, now) == 0:
                    break
                settle(sim)
            if ideal and control["idle"][0] == 0 and (control["n_gained"][0] > 0 or control["news"][0] != 0):
                close_pass(sim)
            control["n_telling"][0] = 0
            control["phase"][0] = CRASHES
        if control["n_touched"][0] > 0:
            if _check_memory_of_touched(sim) and ideal:
                timer_push(sim, now + 1, TIMER_WAKE, 0)
            for i in range(control["n_touched"][0]):
                n = sim.touched[i]
                sim.node_run["touched"][n] = 0
                renew_rates(sim, n)
            control["n_touched"][0] = 0
        if control["n_fetchers"][0] + control["n_changed_links"][0] + control["flows_are_news"][0] > 0:
            while control["n_fetchers"][0] > 0:
                if min(control["n_free_flows"][0], control["n_free_routes"][0]) < setting["flow_margin"][0]:
                    return FLOWS_FULL
                begin_flows(sim)
            renew_flows(sim, now)
        control["phase"][0] = NEXT
        if (control["n_due"][0] > 0 and sim.due["at_ms"][0] <= now) or _timer_due(sim, now, 0, TIMER_WAKE):
            control["phase"][0] = CONTAINERS
        if control["broken"][0] != 0:
            return control["broken"][0]


@compiled
def prepare_run(sim):
    """Time 0: the placement index, first background levels, first faults, containers that are there already."""
    for n in range(sim.shown.node.shape[0]):
        if sim.setting["sizing_changes"][0]:
            resize(sim, n)
        node_changed(sim, n)
        begin_background(sim, n)
        if sim.setting["node_mtbf_ms"][0] > 0:
            plan_fault(sim, n, 0)
    go_on_with_running(sim)
