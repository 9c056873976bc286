"""Early binding (paper 4, 3.2.2.2): when a job arrives, all its tasks are bound to nodes, level by level.

A bound task waits for its node, whatever else is free. Where the text takes "the first node that satisfies", residual
resources are what the bound tasks of the same level, of all jobs, leave of a node: one matrix for the cluster, updated
as tasks are bound and end, with a sum for each level since those of a job run one after another. When no node has any
left, the one with the smallest backlog takes it. A task whose node is lost, or that no node could hold, may go
anywhere, and is bound there.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import JOB_FINISHED
from heddle.policy.labels import may_go_to
from heddle.policy.levers.dag_data import has_data, look_around, move_input, write_place
from heddle.policy.levers.ranking import planned_rank

NOWHERE, ANYWHERE = -1, -2


@callable_too
def _may_hold(view, node, stage):
    """Whether the node, if it were empty, could take a container of the stage."""
    if view.node["alive"][node] == 0 or not may_go_to(view, view.stage_spec["label"][stage], node):
        return False
    shape = view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > view.node["allowance"][node, r]:
            return False
    return True


@callable_too
def _load_at(view, state, stage, node):
    """Where in LOAD the node has its resources, at the level of the stage."""
    return (state.level[stage] * view.node.shape[0] + node) * view.shape["demand"].shape[1]


@callable_too
def _has_room(view, state, node, stage):
    """Whether the node has CPU and memory left, beside the tasks of this level bound to it, for one more."""
    shape = view.stage_spec["shape"][stage]
    first = _load_at(view, state, stage, node)
    for r in range(view.shape["demand"].shape[1]):
        wanted = state.load[first + r] + view.shape["demand"][shape, r]
        if view.clock["counts"][0, r] and wanted > view.node["allowance"][node, r]:
            return False
    return True


@callable_too
def count_bound(view, state, stage, node, tasks):
    """So many tasks of the stage are bound to the node or, below 0, no longer are: what they leave of it follows."""
    state.node["backlog"][node] += tasks
    if state.level[stage] == 0:
        state.node["entry_tasks"][node] += tasks
    first, shape = _load_at(view, state, stage, node), view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        state.load[first + r] += tasks * view.shape["demand"][shape, r]


@callable_too
def _choose(view, state, params, stage):
    """The node for one more task of the stage: with room by rank, else by backlog; NOWHERE if none could hold it."""
    best, best_room, best_rank, best_backlog = NOWHERE, False, 0, 0
    for node in range(view.node.shape[0]):
        if not _may_hold(view, node, stage):
            continue
        room, backlog = _has_room(view, state, node, stage), state.node["backlog"][node]
        value = planned_rank(view, state, params, node, stage) if room else 0
        better = (value, -backlog) > (best_rank, -best_backlog)
        if best == NOWHERE or (room and not best_room) or (room == best_room and better):
            best, best_room, best_rank, best_backlog = node, room, value, backlog
    return best


@callable_too
def _note_bound(view, state, stage, node):
    """A task of the stage is bound to the node from now on. The place where that is kept."""
    state.sibling[stage] = node + 1
    state.job["last"][view.stage_spec["job"][stage]] = node + 1
    count_bound(view, state, stage, node, 1)
    return write_place(view, state, stage, node)


@callable_too
def _bind(view, state, params, stage):
    """Binds one task of the stage."""
    node = _choose(view, state, params, stage)
    if node == NOWHERE:
        return
    state.left[_note_bound(view, state, stage, node)] += 1
    move_input(view, state, stage, node, 1)


@callable_too
def _unbind_job(view, state, job):
    """What is still bound of a job that has ended will never run: it is as if it had never been."""
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        first_place = view.stage_spec["first_task"][stage]
        for place in range(first_place, first_place + state.places[stage]):
            tasks, state.left[place] = state.left[place], 0
            count_bound(view, state, stage, state.place_node[place], -tasks)
            move_input(view, state, stage, state.place_node[place], -tasks)


@callable_too
def forget_ended_jobs(view, state):
    """No event tells that a job has failed, so all planned jobs are looked through.

    A job fails by a container that stops, and only the hooks that come after that event see it.
    """
    state.table["stopped"][0] = 0
    previous, job = -1, state.table["first_planned"][0] - 1
    while job >= 0:
        following = state.job["next_planned"][job]
        if view.job["state"][job] < JOB_FINISHED:
            previous = job
        else:
            _unbind_job(view, state, job)
            if previous < 0:
                state.table["first_planned"][0] = following
            else:
                state.job["next_planned"][previous] = following
        job = following - 1


@callable_too
def bind_job(view, state, params, job):
    """Binds all tasks of the job: level by level, stage by stage."""
    forget_ended_jobs(view, state)
    state.job["next_planned"][job] = state.table["first_planned"][0]
    state.table["first_planned"][0] = job + 1
    first = view.job_spec["first_stage"][job]
    end = first + view.job_spec["n_stages"][job]
    deepest = 0
    for stage in range(first, end):
        deepest = max(deepest, state.level[stage])
    for level in range(deepest + 1):
        for stage in range(first, end):
            if state.level[stage] == level and has_data(view, stage):
                state.table["at_hand"][0] = 0
                look_around(view, state, stage)
                for _ in range(view.stage_spec["n_tasks"][stage]):
                    _bind(view, state, params, stage)


@callable_too
def bound_place(view, state, stage, node):
    """Where a task of the stage is bound that may go to the node: to it, or to a lost node (the first by number).

    ANYWHERE: it is not bound. NOWHERE: all are bound to others.
    """
    first = view.stage_spec["first_task"][stage]
    found, unbound = NOWHERE, view.stage_spec["n_tasks"][stage]
    for place in range(first, first + state.places[stage]):
        unbound -= state.place_tasks[place]
        if state.left[place] > 0:
            home = state.place_node[place]
            if home == node:
                return place
            if view.node["alive"][home] == 0 and (found == NOWHERE or home < state.place_node[found]):
                found = place
    return ANYWHERE if unbound > 0 else found


@callable_too
def _move_all(view, state, job, sign):
    """Counts the transfers to all tasks of the job (sign 1), or takes them back (-1)."""
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        first_place = view.stage_spec["first_task"][stage]
        for place in range(first_place, first_place + state.places[stage]):
            if state.left[place] > 0:
                node = state.place_node[place]
                move_input(view, state, stage, node, sign * state.left[place])
    for node in range(view.node.shape[0]):
        container = view.node["first_container"][node]
        while container >= 0:
            stage = view.container["stage"][container]
            if state.container["moving"][container] and view.stage_spec["job"][stage] == job:
                move_input(view, state, stage, node, sign)
            container = view.container["next"][container]


@callable_too
def rebind(view, state, stage, place, node):
    """A task bound to that place, whose node is lost, or to none (ANYWHERE), is bound to this node, with its container.

    What comes after it will read from here, so all transfers of the job are counted anew.
    """
    job = view.stage_spec["job"][stage]
    _move_all(view, state, job, -1)
    if place != ANYWHERE:
        state.left[place] -= 1
        state.place_tasks[place] -= 1
        count_bound(view, state, stage, state.place_node[place], -1)
    found = _note_bound(view, state, stage, node)
    _move_all(view, state, job, 1)
    move_input(view, state, stage, node, 1)
    return found
