"""A container of a node is given to a request."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_ALLOCATED, JOB_ADMITTED, JOB_ARRIVED
from heddle.model.workload import AM
from heddle.sim.books import count_allocated, count_waiting, next_am, start_later, take_task, take_this_task
from heddle.sim.codes import LOG_ADMITTED, WAIT_NONE
from heddle.sim.containers.early_stages import has_early_stages, hear
from heddle.sim.containers.slots import new_slot
from heddle.sim.log import note
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.asking import rekey_later
from heddle.sim.scheduling.choosing import this_offer, wait
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.lone import leave_line
from heddle.sim.scheduling.near_tasks import task_near
from heddle.sim.scheduling.observation import begin_watching
from heddle.sim.scheduling.reports import node_changed, reports_made, resize, settle_reports
from heddle.sim.scheduling.reservations import free_nodes_of
from heddle.sim.timeline import due_set


@unit
def allocate(sim, stage, n):
    """Gives one container of node n to the stage."""
    view, control, setting = sim.shown, sim.control, sim.setting
    now = view.clock["now_ms"][0]
    job = view.stage_spec["job"][stage]
    near = task_near(sim, stage, n) if setting["has_preferences"][0] else -1
    if near >= 0:
        task = near
        take_this_task(sim.stage_run, sim.task, view.stage_spec, stage, near)
    else:
        task = take_task(sim.stage_run, sim.task, view.stage_spec, stage)
    settle_reports(sim, n)
    s = new_slot(sim, task, stage, n, -1)
    if setting["observed"][0]:
        begin_watching(sim, s, n)
    else:
        sim.slot["reports_before"][s] = reports_made(sim, n)
    start = now
    if view.job_spec["has_am"][job] and view.stage_spec["kind"][stage] != AM and setting["am_heartbeat_ms"][0] > 0:
        start = next_am(sim, job, now + 1)
    start += setting["launch_ms"][0]
    if start == now:
        start_later(sim, s)
    else:
        due_set(sim, s, start)
    view.stage["waiting"][stage] -= 1
    count_waiting(sim, job, stage, -1)
    count_allocated(sim, job, stage, n, 1)
    if view.stage["waiting"][stage] == 0:
        leave_line(sim, stage)
        free_nodes_of(sim, stage)
        wait(sim, stage, WAIT_NONE)
        if setting["has_vetoes"][0]:
            control["epoch"][0] += 1  # who comes next may go where this one was refused
    if view.job["state"][job] == JOB_ARRIVED:
        view.job["state"][job] = JOB_ADMITTED
        view.clock["running_jobs"][0] += 1
        view.queue["running_jobs"][view.job["queue"][job]] += 1
        if sim.setting["logging"][0]:
            note(sim, LOG_ADMITTED, 0, job, stage, -1, 0)
        if setting["has_gate"][0]:
            rekey_later(sim, job)
    if setting["key_changes"][0]:
        rekey_later(sim, job)
    sim.stage_run["served"][stage] = this_offer(sim, n)
    if setting["blocking"][0] or setting["reserves"][0]:
        control["epoch"][0] += 1  # another head, or a node that need not be kept any more: news for every node
    view.clock["allocations"][0] += 1
    control["last_progress_ms"][0] = now
    if sim.setting["listens"][0] >> EVENT_ALLOCATED & 1:
        tell_levers(sim, EVENT_ALLOCATED, n, stage, s, 0)
    if setting["sizing_changes"][0]:
        resize(sim, n)
    node_changed(sim, n)
    if has_early_stages(sim, job):
        _map_may_run(sim, stage)
        hear(sim, job)
    return 0


@inlined
def _map_may_run(sim, stage):
    """A container of the stage was allocated: early stages behind it that made room for it may ask again."""
    if sim.setting["has_dag"][0]:
        for i in range(sim.before_first[stage], sim.before_first[stage + 1]):
            sim.stage_run["gave_way"][sim.before[i]] = 0
