"""Whether tasks still find a node with room, wherever the AMs to come are placed (`rule=placeable`).

What AMs leave in sum need not fit a task on any one *node*: so a node is kept, for each label, with room for the
largest task of any job that runs.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MAX_RESOURCES
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM, INNER
from heddle.policy.labels import may_go_to
from heddle.policy.levers.admission_reserve import am_demand, lost_ams


@callable_too
def largest_of_job(view, job, label, r):
    """The most that one of the job's tasks with this label reserves."""
    largest = 0
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][stage]
        if kind != AM and kind != INNER and view.stage_spec["label"][stage] == label:
            largest = max(largest, view.shape["demand"][view.stage_spec["shape"][stage], r])
    return largest


@callable_too
def largest_task(view, state, job, label, r):
    """Of the tasks with this label, of jobs that run and of this one."""
    largest = largest_of_job(view, job, label, r)
    if state.table["n_lost"][0] == 0:
        return max(largest, state.largest[label * MAX_RESOURCES + r])
    other = state.table["newest"][0] - 1  # of those without an AM some may have ended, and nobody said so
    while other >= 0:
        if view.job["state"][other] < JOB_FINISHED:
            largest = max(largest, largest_of_job(view, other, label, r))
        other = state.job["next"][other] - 1
    return largest


@callable_too
def task_has_room(view, state, job, ahead):
    """Whether, wherever the AMs to come are placed, each running job's tasks find a node with room beside its AMs.

    So it is if one node holds them all and the task; or if more nodes have room for the task than AMs are to come.
    """
    n_to_come = 1 + (ahead >= 0) + lost_ams(view, state, -1)
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        n_nodes = 0
        is_used = 0
        for r in range(view.shape["demand"].shape[1]):
            is_used = max(is_used, largest_task(view, state, job, label, r))
        enough = is_used == 0
        for node in range(view.node.shape[0]):
            if view.node["alive"][node] == 0 or not may_go_to(view, label, node):
                continue
            fits, holds_all = True, True
            for r in range(view.shape["demand"].shape[1]):
                if view.clock["counts"][0, r]:
                    room = view.node["allowance"][node, r] - state.node["ams"][node, r]
                    room -= largest_task(view, state, job, label, r)
                    to_come = am_demand(view, job, r) + lost_ams(view, state, r)
                    if ahead >= 0:
                        to_come += am_demand(view, ahead, r)
                    fits = fits and room >= 0
                    holds_all = holds_all and room >= to_come
            n_nodes += fits
            if holds_all or n_nodes > n_to_come:
                enough = True
                break
        if not enough:
            return False
    return True


@callable_too
def learn_sizes(view, state, job):
    """The job runs: its tasks count among the largest, and it among those that have such a task."""
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        for r in range(view.shape["demand"].shape[1]):
            at = label * MAX_RESOURCES + r
            before = state.largest[at]
            state.largest[at] = largest_task(view, state, job, label, r)
            if state.table["n_lost"][0] > 0 or state.n_largest[at] < 0:
                state.n_largest[at] = -1
            elif state.largest[at] > before:
                state.n_largest[at] = 1
            elif largest_of_job(view, job, label, r) == before:
                state.n_largest[at] += 1


@callable_too
def others_are_as_large(view, state, job):
    """Whether without this job the largest tasks are what they were: then it no longer counts among those with one."""
    # On a live cluster more becomes known of jobs that run.
    if state.table["n_lost"][0] > 0 or state.table["n_stages"][0] != view.stage_spec.shape[0]:
        return False
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        for r in range(view.shape["demand"].shape[1]):
            at = label * MAX_RESOURCES + r
            if state.n_largest[at] - (largest_of_job(view, job, label, r) == state.largest[at]) < 1:
                return False
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        for r in range(view.shape["demand"].shape[1]):
            at = label * MAX_RESOURCES + r
            state.n_largest[at] -= largest_of_job(view, job, label, r) == state.largest[at]
    return True
