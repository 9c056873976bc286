"""Containers that were there before the run (docs/semantics.md, "Starting state"): put in place before instant 0."""

from __future__ import annotations

from heddle.model.compiled import compiled
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, EVENT_STARTED, JOB_ADMITTED
from heddle.model.workload import AM, EXECUTORS
from heddle.sim.books import count_allocated
from heddle.sim.codes import AM_STARTING, EXECUTOR, HOLDING, LOG_ADMITTED, LOG_ARRIVED, TIMER_WAKE, WORKING
from heddle.sim.containers.early_stages import is_early
from heddle.sim.containers.jobs import begin_job
from heddle.sim.containers.physics import change_use
from heddle.sim.containers.slots import link_executor, new_slot
from heddle.sim.containers.working import begin_work
from heddle.sim.log import next_place, note
from heddle.sim.numba import hooks
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.observation import begin_watching
from heddle.sim.scheduling.reports import node_changed, resize
from heddle.sim.settle import settle
from heddle.sim.timeline import due_set, timer_push


@compiled
def go_on_with_running(sim):
    """The jobs that have containers already arrive with them, by number. Instant 0 then takes place in any case."""
    for i in range(sim.running_jobs.shape[0]):
        _go_on_with_job(sim, sim.running_jobs[i])
        settle(sim)
    if sim.running_jobs.shape[0] > 0:
        timer_push(sim, 0, TIMER_WAKE, 0)


@compiled
def _go_on_with_job(sim, job):
    """The job is here, admitted, with its containers; without an AM it begins."""
    view, stage_run = sim.shown, sim.stage_run
    first = view.job_spec["first_stage"][job]
    view.job["state"][job] = JOB_ADMITTED
    view.job["arrived_at_ms"][job] = 0
    view.clock["running_jobs"][0] += 1
    view.queue["running_jobs"][view.job["queue"][job]] += 1
    sim.queue_run["jobs"][view.job["queue"][job]] += 1
    if sim.setting["logging"][0]:
        note(sim, LOG_ARRIVED, 0, job, -1, -1, 0)
        note(sim, LOG_ADMITTED, 0, job, first, -1, 0)
    if sim.setting["has_pools"][0]:
        view.job["pool"][job] = hooks.pool(sim, job)
    if sim.setting["listens"][0] >> EVENT_ARRIVED & 1:
        tell_levers(sim, EVENT_ARRIVED, -1, first, -1, 0)
    if view.job_spec["has_am"][job]:
        stage_run["runnable"][first] = 1
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        first_task = view.stage_spec["first_task"][stage]
        for task in range(first_task, first_task + view.stage_spec["n_tasks"][stage]):
            if sim.running_on[task] >= 0:
                _go_on(sim, stage, task, sim.running_on[task], sim.running_since_ms[task])
                # Those before it that do not run are found when the job begins.
                stage_run["next_fresh"][stage] = task + 1 - first_task
                stage_run["asked"][stage] = max(stage_run["asked"][stage], task + 1 - first_task)
    if view.job_spec["has_am"][job] == 0:
        begin_job(sim, job)


@compiled
def _go_on(sim, stage, task, n, since_ms):
    """The task has been running on node n since then: its first attempt."""
    view, slot = sim.shown, sim.slot
    job = view.stage_spec["job"][stage]
    kind = view.stage_spec["kind"][stage]
    s = new_slot(sim, task, stage, n, -1)
    slot["reports_before"][s] = 0
    if sim.setting["observed"][0]:
        begin_watching(sim, s, n)
    view.container["allocated_at_ms"][s] = since_ms
    view.container["started_at_ms"][s] = since_ms
    sim.task["started_at_ms"][task] = since_ms
    sim.task["attempts"][task] = 1
    count_allocated(sim, job, stage, n, 1)
    if sim.setting["listens"][0] >> EVENT_ALLOCATED & 1:
        tell_levers(sim, EVENT_ALLOCATED, n, stage, s, 0)
    if kind == AM:
        sim.job_run["am_started_at_ms"][job] = 0  # nobody has waited for it in this run
        slot["phase"][s] = AM_STARTING
        due_set(sim, s, max(0, since_ms + sim.setting["am_start_ms"][0]))
    else:
        sim.job_run["started_at_ms"][job] = 0
        if kind == EXECUTORS:
            slot["phase"][s] = EXECUTOR
            link_executor(sim, job, s)
            if view.stage_spec["idle_timeout_ms"][stage] > 0:
                due_set(sim, s, view.stage_spec["idle_timeout_ms"][stage])
        elif is_early(sim, stage):
            slot["phase"][s] = HOLDING
        else:
            begin_work(sim, s, -since_ms)
    if sim.setting["has_use"][0] and slot["phase"][s] != WORKING:
        change_use(sim, s, sim.task_spec["first_segment"][task], True, slot["phase"][s] != HOLDING)
    slot["rise_at_ms"][s] = -1  # its use did not rise now
    if sim.setting["listens"][0] >> EVENT_STARTED & 1:
        tell_levers(sim, EVENT_STARTED, n, stage, s, 0)
    if sim.setting["sizing_changes"][0]:
        resize(sim, n)
    node_changed(sim, n)
    if sim.setting["logging"][0]:
        slot["asked_at_ms"][s] = since_ms
        slot["allocated_place"][s] = next_place(sim)  # after the node was made large enough for it
        slot["started_place"][s] = next_place(sim)
