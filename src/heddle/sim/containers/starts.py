"""A container begins to run."""

from __future__ import annotations

from heddle.model.view import EVENT_STARTED
from heddle.model.workload import AM, EXECUTORS, INNER, TASKS
from heddle.sim.codes import AM_STARTING, EXECUTOR, HOLDING
from heddle.sim.containers.early_stages import is_early
from heddle.sim.containers.jobs import fill_executors
from heddle.sim.containers.physics import change_use
from heddle.sim.containers.slots import link_executor
from heddle.sim.containers.working import check_limit
from heddle.sim.log import next_place
from heddle.sim.network.fetching import begin_task
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.reports import resize, settle_reports
from heddle.sim.timeline import due_set


@unit
def start_slot(sim, s):
    """Slot s begins to run."""
    view, slot = sim.shown, sim.slot
    now = view.clock["now_ms"][0]
    stage = view.container["stage"][s]
    job = slot["job"][s]
    task = slot["task"][s]
    kind = view.stage_spec["kind"][stage]
    settle_reports(sim, view.container["node"][s])
    view.container["started_at_ms"][s] = now
    sim.task["started_at_ms"][task] = now
    sim.task["attempts"][task] += 1
    if sim.setting["logging"][0]:
        slot["started_place"][s] = next_place(sim)
    if kind == AM:
        sim.job_run["am_started_at_ms"][job] = now
        slot["phase"][s] = AM_STARTING
        if sim.setting["has_use"][0]:
            change_use(sim, s, sim.task_spec["first_segment"][task], True, True)
        due_set(sim, s, now + sim.setting["am_start_ms"][0])
    else:
        if sim.job_run["started_at_ms"][job] < 0 and kind != INNER:
            sim.job_run["started_at_ms"][job] = now
        if kind == EXECUTORS:
            slot["phase"][s] = EXECUTOR
            if sim.setting["has_use"][0]:
                change_use(sim, s, sim.task_spec["first_segment"][task], True, True)
            link_executor(sim, job, s)
            if view.stage_spec["idle_timeout_ms"][stage] > 0:
                due_set(sim, s, now + view.stage_spec["idle_timeout_ms"][stage])
            fill_executors(sim, job)
        elif kind == TASKS and is_early(sim, stage):
            slot["phase"][s] = HOLDING
            if sim.setting["has_use"][0]:
                change_use(sim, s, sim.task_spec["first_segment"][task], True, False)
                check_limit(sim, s)
        else:
            begin_task(sim, s)
    if sim.setting["sizing_changes"][0]:
        resize(sim, view.container["node"][s])
    if sim.setting["listens"][0] >> EVENT_STARTED & 1:
        tell_levers(sim, EVENT_STARTED, view.container["node"][s], stage, s, 0)
    return 0
