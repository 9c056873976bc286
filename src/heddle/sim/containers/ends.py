"""A container ends, one way or another, and what that means for its task and its job."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_FINISHED, EVENT_INNER_FINISHED, EVENT_STOPPED, JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, INNER
from heddle.sim.books import count_allocated, end_later, give_back, next_am, note_in_pass, order_endings, put_on_list
from heddle.sim.codes import (
    ASKED,
    DONE,
    END_AM_LOST,
    END_CRASHED,
    END_FAILED,
    END_FINISHED,
    END_LIMIT_KILLED,
    END_NODE_LOST,
    END_PREEMPTED,
    END_RELEASED,
    EXECUTOR,
    FETCHING,
    FOREVER,
    LAUNCHING,
    LIVELOCK,
    RETURNING,
    TIMER_RETRY,
    UNASKED,
)
from heddle.sim.containers.early_stages import has_early_stages, hear, hear_at_once, may_begin_early
from heddle.sim.containers.jobs import fill_executors, finish_job, stage_done
from heddle.sim.containers.physics import change_use
from heddle.sim.containers.slots import drop_slot, inner_slots, slots_of_job, unlink_executor
from heddle.sim.log import keep_attempt
from heddle.sim.network.fetching import stop_fetching
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.asking import ask_again, rekey_later, withdraw
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.reports import mark_gained, node_changed, reports_since_allocation, resize, settle_reports
from heddle.sim.timeline import due_set, timer_push


@inlined
def _am_lost(sim, job, outcome):
    """The job's AM is gone: so are its other containers; then it tries again, or gives up."""
    view = sim.shown
    sim.job_run["begun"][job] = 0
    if sim.setting["has_early"][0]:
        sim.looks["next_ms"][job] = sim.looks["alarm_ms"][job] = FOREVER
    if outcome == END_NODE_LOST:
        sim.job_run["am_losses"][job] += 1
        if sim.job_run["am_losses"][job] >= sim.setting["am_max_attempts"][0]:
            finish_job(sim, job, JOB_FAILED)
            return
    withdraw(sim, job)
    ending = sim.control["n_endings"][0]
    for i in range(slots_of_job(sim, job)):
        end_later(sim, sim.scratch[i], END_AM_LOST)
    order_endings(sim, ending)
    am_task = view.stage_spec["first_task"][view.job_spec["first_stage"][job]]
    _retry(sim, job, am_task)


@inlined
def _retry(sim, job, task):
    sim.task["state"][task] = RETURNING
    sim.control["retried"][0] += 1
    at = next_am(sim, job, sim.shown.clock["now_ms"][0] + sim.setting["retry_ms"][0])
    timer_push(sim, at, TIMER_RETRY, task)


@inlined
def comes_back(sim, task, stage):
    """Whether a retry still counts: not if the job has ended, or has no AM now (its next AM will ask for the task)."""
    job = sim.shown.stage_spec["job"][stage]
    if sim.task["state"][task] != RETURNING or sim.shown.job["state"][job] >= JOB_FINISHED:
        return False
    return sim.shown.stage_spec["kind"][stage] == AM or sim.job_run["begun"][job] != 0


@unit
def come_back(sim, task, stage):
    """A retry is due: the task waits again."""
    view = sim.shown
    job = view.stage_spec["job"][stage]
    kind = view.stage_spec["kind"][stage]
    if not comes_back(sim, task, stage):
        return 0
    sim.task["state"][task] = ASKED
    sim.task["ended_at_ms"][task] = view.clock["now_ms"][0]
    give_back(sim.stage_run, sim.task, stage, task)
    if may_begin_early(sim, stage):
        sim.stage_run["pending"][stage] += 1
    else:
        sim.stage_run["to_ask"][stage] += 1
        if kind == INNER:
            fill_executors(sim, job)
        else:
            ask_again(sim, stage)
    if has_early_stages(sim, job):
        hear_at_once(sim, job)
    return 0


@unit
def end(sim, s, outcome):
    """Slot s ends, one way or another."""
    view, slot, task_run = sim.shown, sim.slot, sim.task
    now = view.clock["now_ms"][0]
    stage = view.container["stage"][s]
    n = view.container["node"][s]
    job = slot["job"][s]
    task = slot["task"][s]
    kind = view.stage_spec["kind"][stage]
    phase = slot["phase"][s]
    host = slot["host"][s]
    settle_reports(sim, n)
    if phase == EXECUTOR:
        unlink_executor(sim, job, s)
        if slot["inner"][s] > 0:
            for i in range(inner_slots(sim, s)):
                end_later(sim, sim.scratch[i], outcome)
    if phase == FETCHING:
        stop_fetching(sim, s)
    if phase != LAUNCHING and sim.setting["has_use"][0]:
        change_use(sim, s, -1, False, False)
    if sim.setting["logging"][0]:
        keep_attempt(sim, s, outcome)
    if phase == LAUNCHING:
        task_run["attempts"][task] += 1  # it was an attempt, though it never ran
    task_run["ended_at_ms"][task] = now
    if host < 0:
        age = reports_since_allocation(sim, n, s)
        sim.stage_run["last_end_ms"][stage] = now
        count_allocated(sim, job, stage, n, -1)
        if sim.setting["listens"][0] >> (EVENT_FINISHED if outcome == END_FINISHED else EVENT_STOPPED) & 1:
            tell_levers(sim, EVENT_FINISHED if outcome == END_FINISHED else EVENT_STOPPED, n, stage, s, age)
        if sim.setting["has_queue_limits"][0] or sim.setting["has_pools"][0] or sim.setting["has_gate"][0]:
            sim.control["news"][0] = 1
            sim.control["epoch"][0] += 1
        if sim.setting["key_changes"][0]:
            rekey_later(sim, job)
    else:
        view.stage["held"][stage] -= 1
        if outcome == END_FINISHED:
            if sim.setting["listens"][0] >> EVENT_INNER_FINISHED & 1:
                tell_levers(sim, EVENT_INNER_FINISHED, n, stage, s, 0)
                rekey_later(sim, job)
            slot["inner"][host] -= 1
            timeout = view.stage_spec["idle_timeout_ms"][view.container["stage"][host]]
            if slot["inner"][host] == 0 and timeout > 0 and slot["doomed"][host] == 0:
                due_set(sim, host, now + timeout)
    drop_slot(sim, s)
    if host < 0:
        if sim.setting["sizing_changes"][0]:
            resize(sim, n)
        node_changed(sim, n)
        mark_gained(sim, n)
        if sim.setting["heartbeat_at_end"][0]:
            put_on_list(sim.node_run["untold"], sim.untold, sim.control["n_untold"], n)
        if note_in_pass(sim):
            sim.control["passes"][0] += 1  # who was tested in this pass has not seen this room, and may not ask again
    over = view.job["state"][job] >= JOB_FINISHED
    if outcome == END_FINISHED:
        task_run["state"][task] = DONE
        view.stage["done"][stage] += 1
        sim.control["last_progress_ms"][0] = now
        sim.control["finished"][0] += 1
        if view.stage["done"][stage] == view.stage_spec["n_tasks"][stage]:
            stage_done(sim, stage)
        if has_early_stages(sim, job):
            hear(sim, job)
        if host >= 0 and view.job["state"][job] < JOB_FINISHED:
            fill_executors(sim, job)
        return 0
    if outcome == END_RELEASED:
        if kind == EXECUTORS and not over:
            task_run["state"][task] = UNASKED
            give_back(sim.stage_run, task_run, stage, task)
        else:
            task_run["state"][task] = DONE
        return 0
    if outcome == END_CRASHED:
        sim.control["crashed"][0] += 1
        _count_crash(sim, task)
    elif outcome == END_LIMIT_KILLED:
        sim.control["killed"][0] += 1
    elif outcome == END_PREEMPTED:
        sim.control["preempted"][0] += 1
    if over:
        task_run["state"][task] = UNASKED
        return 0
    if kind == AM:
        _am_lost(sim, job, outcome)
        return 0
    if outcome == END_AM_LOST:
        task_run["state"][task] = RETURNING  # the next AM asks for it
        return 0
    if outcome in (END_LIMIT_KILLED, END_FAILED):
        task_run["failures"][task] += 1
        if task_run["failures"][task] >= sim.setting["max_attempts"][0]:
            finish_job(sim, job, JOB_FAILED)
            return 0
    _retry(sim, job, task)
    if has_early_stages(sim, job):
        hear(sim, job)
    return 0


@inlined
def _count_crash(sim, task):
    """Many crashes of one task while no task of any job finishes: the run leads nowhere."""
    finished = sim.control["finished"][0] & 0xFFFF
    if sim.task["finished_before"][task] != finished:
        sim.task["finished_before"][task] = finished
        sim.task["crashes"][task] = 0
    sim.task["crashes"][task] += 1
    if sim.task["crashes"][task] >= sim.setting["livelock_crashes"][0]:
        sim.control["broken"][0] = LIVELOCK
