"""Rows for containers and the inner tasks of executors: taken, linked to their node and job, dropped."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import FREE, HELD, LAUNCHING, NEVER
from heddle.sim.linked import link_first, unlink
from heddle.sim.log import next_place
from heddle.sim.timeline import due_clear


@compiled
def _forget_last(sim, s):
    """Levers begin anew with the container that takes row s."""
    for i in range(sim.queues_container.shape[1]):
        sim.queues_container[s, i] = 0
    for i in range(sim.ordering_container.shape[1]):
        sim.ordering_container[s, i] = 0
    for i in range(sim.admission_container.shape[1]):
        sim.admission_container[s, i] = 0
    for i in range(sim.sizing_container.shape[1]):
        sim.sizing_container[s, i] = 0
    for i in range(sim.partition_container.shape[1]):
        sim.partition_container[s, i] = 0
    for i in range(sim.placement_container.shape[1]):
        sim.placement_container[s, i] = 0


@inlined
def new_slot(sim, task, stage, n, host):
    """A row for a container (or inner task) of this task on node n, linked before the node's others."""
    view, slot, container = sim.shown, sim.slot, sim.shown.container
    s = sim.control["free_slot"][0]
    sim.control["free_slot"][0] = slot["next_free"][s]
    sim.control["n_free"][0] -= 1
    now = view.clock["now_ms"][0]
    container["stage"][s] = stage
    container["node"][s] = n
    container["allocated_at_ms"][s] = now
    container["started_at_ms"][s] = -1
    link_first(container["next"], container["previous"], view.node["first_container"], n, s)
    job = view.stage_spec["job"][stage]
    link_first(slot["next_of_job"], slot["previous_of_job"], sim.job_run["first_slot"], job, s)
    for r in range(view.shape["demand"].shape[1]):
        container["used"][s, r] = 0
        slot["use"][s, r] = 0
        slot["seen"][s, r] = 0
        slot["used_ms"][s, r] = 0
    if sim.setting["keeps_containers"][0]:
        _forget_last(sim, s)
    slot["integrated_at_ms"][s] = now
    slot["rise_at_ms"][s] = -1
    slot["inner_memory"][s] = 0
    slot["inner"][s] = 0
    slot["task"][s] = task
    slot["job"][s] = job
    slot["host"][s] = host
    slot["doomed"][s] = 0
    slot["phase"][s] = LAUNCHING
    if sim.setting["network"][0]:
        slot["fetched_at_ms"][s] = NEVER
    if sim.setting["logging"][0]:
        again = sim.task["attempts"][task] > 0
        slot["asked_at_ms"][s] = sim.task["ended_at_ms"][task] if again else view.stage["asked_at_ms"][stage]
        slot["allocated_place"][s] = next_place(sim)
    sim.task["state"][task] = HELD
    sim.task["node"][task] = n
    return s


@inlined
def drop_slot(sim, s):
    """Unlinks the row of slot s and frees it."""
    view, slot, container = sim.shown, sim.slot, sim.shown.container
    if sim.due_place[s] >= 0:
        due_clear(sim, s)
    unlink(container["next"], container["previous"], view.node["first_container"], container["node"][s], s)
    unlink(slot["next_of_job"], slot["previous_of_job"], sim.job_run["first_slot"], slot["job"][s], s)
    slot["phase"][s] = FREE
    container["stage"][s] = -1
    slot["next_free"][s] = sim.control["free_slot"][0]
    sim.control["free_slot"][0] = s
    sim.control["n_free"][0] += 1


@compiled
def _order_scratch(sim, size):
    """Sorts the first entries of scratch (a heap sort: a job may hold very many)."""
    entries = sim.scratch
    top = size // 2
    while size > 1:
        if top > 0:
            top -= 1
            moved = entries[top]
        else:
            size -= 1
            moved = entries[size]
            entries[size] = entries[0]
        i = top
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and entries[child + 1] > entries[child]:
                child += 1
            if entries[child] <= moved:
                break
            entries[i] = entries[child]
            i = child
        entries[i] = moved


@compiled
def slots_of_job(sim, job):
    """Puts what the job holds and what is not ending yet into scratch, in the order of rows; how many."""
    slot = sim.slot
    count = 0
    s = sim.job_run["first_slot"][job]
    while s >= 0:
        if slot["doomed"][s] == 0:
            sim.scratch[count] = s
            count += 1
        s = slot["next_of_job"][s]
    _order_scratch(sim, count)
    return count


@compiled
def inner_slots(sim, executor):
    """As slots_of_job, of the inner tasks of an executor; they are on its node."""
    slot, container = sim.slot, sim.shown.container
    count = 0
    s = sim.shown.node["first_container"][container["node"][executor]]
    while s >= 0:
        if slot["host"][s] == executor and slot["doomed"][s] == 0:
            sim.scratch[count] = s
            count += 1
        s = container["next"][s]
    _order_scratch(sim, count)
    return count


@inlined
def link_executor(sim, job, s):
    slot = sim.slot
    at = sim.job_run["first_executor"][job]
    if at < 0 or slot["task"][at] > slot["task"][s]:
        slot["next_executor"][s] = at
        sim.job_run["first_executor"][job] = s
        return
    while slot["next_executor"][at] >= 0 and slot["task"][slot["next_executor"][at]] < slot["task"][s]:
        at = slot["next_executor"][at]
    slot["next_executor"][s] = slot["next_executor"][at]
    slot["next_executor"][at] = s


@inlined
def unlink_executor(sim, job, s):
    slot = sim.slot
    at = sim.job_run["first_executor"][job]
    if at == s:
        sim.job_run["first_executor"][job] = slot["next_executor"][s]
        return
    while at >= 0:
        if slot["next_executor"][at] == s:
            slot["next_executor"][at] = slot["next_executor"][s]
            return
        at = slot["next_executor"][at]
