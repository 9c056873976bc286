"""What admission control knows of AMs and jobs (the third paper's RIC): who runs, who waits, whose AM was lost."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MAX_RESOURCES
from heddle.model.view import EVENT_ALLOCATED, JOB_ARRIVED, JOB_FINISHED
from heddle.policy.lever import State, per_resource
from heddle.policy.levers.admission_reserve import am_demand
from heddle.policy.levers.admission_room import learn_sizes, others_are_as_large
from heddle.policy.levers.chains import put_first, take_out
from heddle.policy.state import Chain

COLLECTED = State(
    node=per_resource("ams"),  # what they reserve there
    job=("next", "previous", "runs", "lost"),  # jobs that run are chained (number + 1; 0: none); lost: its AM is
    # first to last: jobs that may wait; n_stages: there were so many when all sizes were last learnt; scaled: the
    # reserve of this period by (3)
    table=("n_ams", "n_tasks", "n_lost", "newest", "first", "last", "n_stages", per_resource("scaled")),
    # For each label, resource by resource: the largest task of the jobs that run, and how many of these have such a
    # one; -1: nobody knows.
    lists=("largest", "n_largest"),
    chains=(Chain("newest", "next", "previous"),),
    spans=(("first", "last"),),
)


@callable_too
def first_waiting(view, state):
    """The first job, by number, that waits for its AM; -1: none."""
    for job in range(state.table["first"][0], state.table["last"][0] + 1):
        if view.job_spec["has_am"][job] and view.job["state"][job] == JOB_ARRIVED:
            return job
    return -1


@callable_too
def leaves(view, state, job):
    """The job has ended: it is taken out of the chain, and the largest tasks are those of the others."""
    take_out(state.job["next"], state.job["previous"], state.table["newest"], job)
    state.table["n_lost"][0] -= state.job["lost"][job]
    state.job["runs"][job] = state.job["lost"][job] = 0
    if others_are_as_large(view, state, job):
        return
    state.table["n_stages"][0] = view.stage_spec.shape[0]
    for i in range(state.largest.shape[0]):
        state.largest[i] = state.n_largest[i] = 0
    other = state.table["newest"][0] - 1
    while other >= 0:
        learn_sizes(view, state, other)
        other = state.job["next"][other] - 1


@callable_too
def drop_failed(view, state):
    """Jobs that ended without an AM, because theirs was lost once too often."""
    job = state.table["newest"][0] - 1 if state.table["n_lost"][0] > 0 else -1
    while job >= 0:
        after = state.job["next"][job] - 1
        if state.job["lost"][job] and view.job["state"][job] >= JOB_FINISHED:
            leaves(view, state, job)
        job = after


@callable_too
def am_comes(view, state, job):
    state.table["n_lost"][0] -= state.job["lost"][job]
    state.job["lost"][job] = 0
    if state.job["runs"][job] == 0:
        state.job["runs"][job] = 1
        put_first(state.job["next"], state.job["previous"], state.table["newest"], job)
        learn_sizes(view, state, job)
    first = first_waiting(view, state)
    state.table["first"][0] = first if first >= 0 else state.table["last"][0] + 1


@callable_too
def am_event(view, state, kind, node, job):
    """An AM comes, or ends with its job, or is lost and will be back."""
    sign = 1 if kind == EVENT_ALLOCATED else -1
    state.table["n_ams"][0] += sign
    for r in range(view.shape["demand"].shape[1]):
        state.node["ams"][node, r] += sign * am_demand(view, job, r)
    if kind == EVENT_ALLOCATED:
        am_comes(view, state, job)
    elif view.job["state"][job] >= JOB_FINISHED:
        leaves(view, state, job)
    else:
        state.table["n_lost"][0] += 1
        state.job["lost"][job] = 1


@callable_too
def task_event(view, state, stage, sign):
    """A task container comes or ends. Whether the reserve may have become smaller."""
    job = view.stage_spec["job"][stage]
    count = state.table["n_tasks"][0] + sign
    state.table["n_tasks"][0] = count
    shape = view.stage_spec["shape"][stage]
    smaller = count <= 1
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][shape, r]
        if state.job["runs"][job]:  # a live cluster tells what a job's tasks want only when it asks for them
            at = view.stage_spec["label"][stage] * MAX_RESOURCES + r
            if demand > state.largest[at]:
                state.largest[at], state.n_largest[at] = demand, -1
        allocated = -view.clock["am_allocated"][0, r]
        for pool in range(view.pool.shape[0]):
            allocated += view.pool["allocated"][pool, r]
        smaller = smaller or demand * count < allocated
    return smaller
