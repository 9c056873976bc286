"""Which instants there are: when something happens next, and what is due at an instant that has come."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import JOB_FINISHED
from heddle.sim.codes import FOREVER, ONLY_LOOKS, ONLY_REPORTS, TIMER_ASK, TIMER_LOOK, TIMER_RETRY
from heddle.sim.containers.early_stages import may_begin_early
from heddle.sim.containers.ends import comes_back
from heddle.sim.containers.listeners import tell_listeners
from heddle.sim.cycles import next_multiple
from heddle.sim.scheduling.heartbeats import next_heartbeat
from heddle.sim.scheduling.newcomers import hear_of_newcomers
from heddle.sim.scheduling.skipping import next_report_that_matters
from heddle.sim.timeline import timer_pop


@compiled
def stage_of_task(stage_spec, task):
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
        return not comes_back(sim, subject, stage_of_task(sim.shown.stage_spec, subject))
    if kind == TIMER_ASK:
        gone = may_begin_early(sim, subject) and sim.stage_run["to_ask"][subject] == 0
        return gone or sim.shown.job["state"][sim.shown.stage_spec["job"][subject]] >= JOB_FINISHED
    if kind == TIMER_LOOK:
        return sim.shown.job["state"][subject] >= JOB_FINISHED
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
def next_instant(sim, until_ms):
    control, setting = sim.control, sim.setting
    now = sim.shown.clock["now_ms"][0]
    at = FOREVER
    hear_of_newcomers(sim)
    if setting["has_early"][0]:
        tell_listeners(sim)
    while control["n_timers"][0] > 0 and _is_void(sim):
        timer_pop(sim)  # nothing happens then, so there is no such instant, and no pass
    if control["n_due"][0] > 0:
        at = sim.due["at_ms"][0]
    at = min(at, control["next_flow_ms"][0])
    looks = FOREVER  # when looks, and no other timers, are due first
    if control["n_timers"][0] > 0:
        if sim.timer["kind"][0] == TIMER_LOOK:
            looks = sim.timer["at_ms"][0]
        else:
            at = min(at, sim.timer["at_ms"][0])
    idle = 0
    if control["next_arrival"][0] < sim.shown.job.shape[0]:
        submitted = sim.shown.job_spec["submit_at_ms"][control["next_arrival"][0]]
        if submitted < at and setting["shares_out"][0] and not _anybody_arrives(sim, submitted):
            idle = ONLY_REPORTS
        at = min(at, submitted)
    if control["n_untold"][0] > 0:
        idle, at = 0, now + 1
    if control["waiting"][0] > 0:
        if setting["node_heartbeat_ms"][0] > 0:
            heartbeat = next_heartbeat(sim, now)
            if heartbeat <= at:
                idle, at = 0, heartbeat
            if setting["has_early"][0] and setting["shares_out"][0] and setting["reports_matter"][0]:
                # AMs look when what the nodes may promise has changed, which is at reports.
                reported = max(now + 1, control["next_report_ms"][0])
                if reported < at:
                    idle, at = ONLY_REPORTS, reported
        elif setting["reports_matter"][0]:
            other = min(at, looks)
            if other < FOREVER:
                reported = next_report_that_matters(sim, min(other, until_ms + 1, control["look_at_ms"][0]))
            else:  # perhaps nothing will ever come: the clock must see every report to find that out
                reported = max(now + 1, control["next_report_ms"][0])
                control["idle"][0] = ONLY_REPORTS
            # Of an instant that looks share with reports it is these that make it take place.
            if reported < other or (reported < at and control["next_report_ms"][0] <= looks):
                at = reported
                idle = control["idle"][0] if setting["shares_out"][0] else idle
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
    if looks < at:
        idle, at = ONLY_LOOKS, looks
    control["idle"][0] = idle
    return at


@inlined
def only_polls(sim):
    """Whether nothing is to come but polls of all kinds, or nodes that are lost and return for ever."""
    control = sim.control
    timers_end = control["n_timers"][0] > 0 and sim.setting["node_mtbf_ms"][0] == 0
    nothing_due = control["n_due"][0] == 0 and control["next_flow_ms"][0] == FOREVER
    return nothing_due and control["next_arrival"][0] == sim.shown.job.shape[0] and not timers_end


@inlined
def timer_due(sim, now, low, high):
    """Whether the first timer is due and of a kind from low to high."""
    if sim.control["n_timers"][0] == 0 or sim.timer["at_ms"][0] > now:
        return False
    return low <= sim.timer["kind"][0] <= high


@inlined
def round_is_due(sim, now):
    """Whether a round of preemption is due; there is one in an instant at most, and none at time 0."""
    every_ms = sim.setting["preemption_every_ms"][0]
    return every_ms > 0 and now % every_ms == 0 and sim.control["round_at_ms"][0] != now


@inlined
def tick_is_due(sim, now):
    """Whether levers are told that time has passed: once in an instant, not at time 0, and only if requests wait."""
    tick_ms = sim.setting["tick_ms"][0]
    return tick_ms > 0 and now % tick_ms == 0 and sim.control["tick_at_ms"][0] != now and sim.control["waiting"][0] > 0


@inlined
def nothing_else_now(sim, now):
    """Whether containers that ended are all of this instant: nobody waits, comes, looks or is told of anything."""
    control = sim.control
    busy = control["waiting"][0] + control["n_untold"][0] + control["broken"][0] + control["n_listeners"][0]
    if busy + sim.setting["not_plain"][0] != 0:
        return False
    if control["n_timers"][0] > 0 and sim.timer["at_ms"][0] <= now:
        return False
    i = control["next_arrival"][0]
    if i < sim.shown.job.shape[0] and sim.shown.job_spec["submit_at_ms"][i] <= now:
        return False
    return control["look_at_ms"][0] > now
