"""The life of a job: it arrives, begins, its stages become runnable and are done, it finishes or fails."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_ARRIVED, JOB_ADMITTED, JOB_ARRIVED, JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, EXECUTORS, INNER
from heddle.sim.books import end_later, return_unfinished, start_later, take_task
from heddle.sim.codes import END_JOB_FAILED, END_RELEASED, HOLDING, LOG_ARRIVED, LOG_JOB_ENDED, TIMER_ARRIVE
from heddle.sim.containers.early_stages import has_early_stages, hear, may_begin_early
from heddle.sim.containers.listeners import stop_listening
from heddle.sim.containers.slots import new_slot, slots_of_job
from heddle.sim.log import note
from heddle.sim.network.fetching import begin_task, write_outputs
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.asking import ask_now, ask_soon, waiting_inner, withdraw
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.reservations import starvation_may_show
from heddle.sim.timeline import due_clear, timer_push


@unit
def fill_executors(sim, job):
    """Puts waiting inner tasks, by number, into free slots of the job's executors, by number."""
    view, slot, stage_run = sim.shown, sim.slot, sim.stage_run
    executor = sim.job_run["first_executor"][job]
    first = view.job_spec["first_stage"][job]
    executors = -1
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] == EXECUTORS:
            executors = stage
        if view.stage_spec["kind"][stage] != INNER or stage_run["runnable"][stage] == 0:
            continue
        while stage_run["to_ask"][stage] > 0:
            while executor >= 0 and (
                slot["doomed"][executor]
                or slot["inner"][executor] >= view.stage_spec["slots"][view.container["stage"][executor]]
            ):
                executor = slot["next_executor"][executor]
            if executor < 0:
                break
            task = take_task(stage_run, sim.task, view.stage_spec, stage)
            stage_run["to_ask"][stage] -= 1
            due_clear(sim, executor)  # not idle any more
            slot["inner"][executor] += 1
            view.stage["held"][stage] += 1
            s = new_slot(sim, task, stage, view.container["node"][executor], executor)
            start_later(sim, s)
    if executors >= 0 and view.stage_spec["idle_timeout_ms"][executors] > 0 and waiting_inner(view, stage_run, job) > 0:
        ask_soon(sim, executors, view.clock["now_ms"][0])
    return 0


@inlined
def make_runnable(sim, stage):
    """The stage's predecessors are done, and its AM is there."""
    sim.stage_run["runnable"][stage] = 1
    if sim.shown.stage_spec["kind"][stage] == INNER:
        n_new = sim.shown.stage_spec["n_tasks"][stage] - sim.stage_run["asked"][stage]
        sim.stage_run["asked"][stage] += n_new
        sim.stage_run["to_ask"][stage] += n_new
        fill_executors(sim, sim.shown.stage_spec["job"][stage])
    else:
        ask_soon(sim, stage, sim.shown.clock["now_ms"][0])


@unit
def begin_job(sim, job):
    """The job's AM is ready, for the first time or again; or it has none and has arrived."""
    view, stage_run = sim.shown, sim.stage_run
    sim.job_run["begun"][job] = 1
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][stage]
        if kind == AM:
            continue
        if sim.setting["has_empty"][0] and view.stage_spec["n_tasks"][stage] == 0 and kind != EXECUTORS:
            continue
        if sim.setting["has_early"][0] and may_begin_early(sim, stage):
            return_unfinished(stage_run, sim.task, view.stage_spec, stage)
            left = view.stage_spec["n_tasks"][stage] - view.stage["done"][stage] - view.stage["held"][stage]
            stage_run["pending"][stage] = left
            stage_run["gave_way"][stage] = 0
            stage_run["runnable"][stage] = 1
        elif stage_run["runnable"][stage]:
            stage_run["to_ask"][stage] = return_unfinished(stage_run, sim.task, view.stage_spec, stage)
            stage_run["to_ask"][stage] += stage_run["asked"][stage] - stage_run["next_fresh"][stage]
            if kind == EXECUTORS and view.stage_spec["idle_timeout_ms"][stage] > 0:
                stage_run["to_ask"][stage] = 0
            if kind != INNER:
                ask_now(sim, stage)
        elif stage_run["after_left"][stage] == 0 or kind == EXECUTORS:
            if stage_run["next_fresh"][stage] > 0:  # containers of it were there before the run
                missing = return_unfinished(stage_run, sim.task, view.stage_spec, stage)
                comes_and_goes = kind == EXECUTORS and view.stage_spec["idle_timeout_ms"][stage] > 0
                stage_run["to_ask"][stage] = 0 if comes_and_goes else missing
            make_runnable(sim, stage)
    if sim.setting["has_empty"][0]:
        _finish_empty_stages(sim, job)
    if sim.setting["has_executors"][0]:
        fill_executors(sim, job)
    if has_early_stages(sim, job):
        hear(sim, job)
    if sim.job_run["stages_left"][job] == 0:
        finish_job(sim, job, JOB_FINISHED)
    return 0


@inlined
def _finish_empty_stages(sim, job):
    """Stages without any task that wait for no other stage are done as soon as their job begins."""
    view, stage_run = sim.shown, sim.stage_run
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        has_none = view.stage_spec["n_tasks"][stage] == 0 and view.stage_spec["kind"][stage] != EXECUTORS
        if has_none and stage_run["after_left"][stage] == 0 and stage_run["runnable"][stage] == 0:
            empty_stage_done(sim, stage)


@inlined
def arrive(sim, job):
    """The job is here: it asks for its AM, or begins."""
    view = sim.shown
    view.job["state"][job] = JOB_ARRIVED
    view.job["arrived_at_ms"][job] = view.clock["now_ms"][0]
    sim.queue_run["jobs"][view.job["queue"][job]] += 1
    first = view.job_spec["first_stage"][job]
    if sim.setting["logging"][0]:
        note(sim, LOG_ARRIVED, 0, job, -1, -1, 0)
    if sim.job_run["after_failed"][job]:
        finish_job(sim, job, JOB_FAILED)
        return
    if sim.setting["has_pools"][0]:
        view.job["pool"][job] = hooks.pool(sim, job)
    if sim.setting["listens"][0] >> EVENT_ARRIVED & 1:
        tell_levers(sim, EVENT_ARRIVED, -1, first, -1, 0)
    if view.job_spec["has_am"][job]:
        sim.stage_run["runnable"][first] = 1
        ask_now(sim, first)
    else:
        begin_job(sim, job)


@unit
def finish_job(sim, job, state):
    """The job is finished or has failed: what it holds or asks for is taken back, and its followers hear of it."""
    view = sim.shown
    if view.job["state"][job] >= JOB_FINISHED:
        return 0
    if view.job["state"][job] == JOB_ADMITTED:
        view.clock["running_jobs"][0] -= 1
        view.queue["running_jobs"][view.job["queue"][job]] -= 1
    if view.job["waiting"][job] > 0:
        withdraw(sim, job)
    view.job["state"][job] = state
    sim.queue_run["jobs"][view.job["queue"][job]] -= 1
    starvation_may_show(sim)
    if sim.setting["has_early"][0]:
        stop_listening(sim, job)
    sim.job_run["ended_at_ms"][job] = view.clock["now_ms"][0]
    sim.control["jobs_left"][0] -= 1
    if sim.setting["logging"][0]:
        note(sim, LOG_JOB_ENDED, state, job, -1, -1, 0)
    for i in range(slots_of_job(sim, job)):
        end_later(sim, sim.scratch[i], END_RELEASED if state == JOB_FINISHED else END_JOB_FAILED)
    if sim.setting["has_job_dag"][0]:
        for i in range(sim.job_before_first[job], sim.job_before_first[job + 1]):
            follower = sim.job_before[i]
            sim.job_run["after_left"][follower] -= 1
            if state == JOB_FAILED:
                sim.job_run["after_failed"][follower] = 1
            if sim.job_run["submitted"][follower] and (sim.job_run["after_left"][follower] == 0 or state == JOB_FAILED):
                sim.job_run["submitted"][follower] = 0  # it arrives once
                timer_push(sim, view.clock["now_ms"][0], TIMER_ARRIVE, follower)
    return 0


@inlined
def stage_done(sim, stage):
    """All tasks of the stage have finished: stages behind it may run, or are done if they have no tasks, and the job
    may be finished."""
    view, slot, stage_run = sim.shown, sim.slot, sim.stage_run
    job = view.stage_spec["job"][stage]
    if sim.edge_bytes.shape[0] > 0 and sim.setting["network"][0]:
        write_outputs(sim, stage)
    if sim.setting["has_dag"][0]:
        for i in range(sim.before_first[stage], sim.before_first[stage + 1]):
            follower = sim.before[i]
            stage_run["after_left"][follower] -= 1
            if stage_run["after_left"][follower] > 0:
                continue
            if stage_run["runnable"][follower]:  # an early stage: what it holds begins to work
                for k in range(slots_of_job(sim, job)):
                    s = sim.scratch[k]
                    if slot["phase"][s] == HOLDING and view.container["stage"][s] == follower:
                        begin_task(sim, s)
            elif sim.job_run["begun"][job]:
                if view.stage_spec["n_tasks"][follower] == 0:
                    empty_stage_done(sim, follower)
                else:
                    make_runnable(sim, follower)
    sim.job_run["stages_left"][job] -= 1
    if sim.job_run["stages_left"][job] == 0:
        finish_job(sim, job, JOB_FINISHED)


@unit
def empty_stage_done(sim, stage):
    """The stage could run, but has no tasks."""
    sim.stage_run["runnable"][stage] = 1
    stage_done(sim, stage)
    return 0
