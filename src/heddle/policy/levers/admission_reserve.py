"""How much admission control keeps for task containers (the third paper's RRP).

Per resource, C what the cluster has, averages over what runs now:
    R = C * avgTC / (avgAMC + avgTC)                  (1), (2)
    R = R * (R + totalAMC) / C                        (3)  when R + totalAMC > C: in the next time period
Before any task runs avgTC is 0, so R is 0 and a burst starts all its AMs: with `cold_start=declared` the size of a
job's own tasks stands in, or its AM's if none is known.

(3) is computed once a second and holds until the next time, under `admission-control-scaled`. Applied whenever somebody
asks it would decide nothing: where R + totalAMC > C no AM may start anyway. Applied to its own result it diverges.

C is the sum of allowances. Beyond the paper: with `capacity=usable` it is what containers can fill, node by node: those
of the smallest AM and the smallest task that run or ask to start. A node of 8 vcores holds two of 3, and 2 vcores of
it are of no use to anybody, unless there are smaller ones.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import AM, INNER

DECLARED, ALLOWANCE = 0, 0  # the first choice of `cold_start`, of `capacity`


@callable_too
def am_demand(view, job, r):
    return view.shape["demand"][view.stage_spec["shape"][view.job_spec["first_stage"][job]], r]


@callable_too
def lost_ams(view, state, r):
    """What AMs reserve that were lost and will be back without asking; r < 0: how many there are."""
    total = 0
    job = state.table["newest"][0] - 1 if state.table["n_lost"][0] > 0 else -1
    while job >= 0:
        if state.job["lost"][job] and view.job["state"][job] < JOB_FINISHED:
            total += 1 if r < 0 else am_demand(view, job, r)
        job = state.job["next"][job] - 1
    return total


@callable_too
def declared_tasks(view, job, r):
    """What the job's own task containers reserve in all, as far as they are known, and how many there are."""
    first = view.job_spec["first_stage"][job]
    total, count = 0, 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] != AM and view.stage_spec["kind"][stage] != INNER:
            n_tasks = view.stage_spec["n_tasks"][stage]
            count += n_tasks
            total += n_tasks * view.shape["demand"][view.stage_spec["shape"][stage], r]
    return total, count


@callable_too
def average_sizes(view, state, params, job, r):
    """Of AMs and of task containers that run; where none do, this job's own (job < 0: 0)."""
    n_ams, n_tasks = state.table["n_ams"][0] + lost_ams(view, state, -1), state.table["n_tasks"][0]
    average_am, average_task = 0, 0
    if n_ams > 0:
        average_am = (view.clock["am_allocated"][0, r] + lost_ams(view, state, r)) // n_ams
    elif job >= 0:
        average_am = am_demand(view, job, r)
    if n_tasks > 0:
        allocated = 0
        for pool in range(view.pool.shape[0]):
            allocated += view.pool["allocated"][pool, r]
        average_task = (allocated - view.clock["am_allocated"][0, r]) // n_tasks
    elif job >= 0 and params.cold_start == DECLARED:
        total, count = declared_tasks(view, job, r)
        average_task = total // count if count > 0 else am_demand(view, job, r)
    return average_am, average_task


@callable_too
def smallest_sizes(view, state, job, r):
    """The smallest AM and the smallest task above 0 of the jobs that run and of this one (job < 0: none); 0: none."""
    am, task = 0, 0
    row = job + 1
    after = state.table["newest"][0]
    while row > 0 or after > 0:
        if row == 0:
            row, after = after, state.job["next"][after - 1]
        first = view.job_spec["first_stage"][row - 1]
        if view.job["state"][row - 1] < JOB_FINISHED:
            for stage in range(first, first + view.job_spec["n_stages"][row - 1]):
                size, kind = view.shape["demand"][view.stage_spec["shape"][stage], r], view.stage_spec["kind"][stage]
                if size > 0 and kind == AM:
                    am = size if am == 0 else min(am, size)
                elif size > 0 and kind != INNER:
                    task = size if task == 0 else min(task, size)
        row = 0
    return am, task


@callable_too
def most_filled(room, am, task):
    """How much of a node AMs and tasks of these sizes can fill."""
    if task == 0:
        return room
    if am == 0:
        return room - room % task
    best = 0
    for n_ams in range(room // am + 1):
        best = max(best, room - (room - n_ams * am) % task)
    return best


@callable_too
def capacity_of(view, state, params, job, r):
    """C: the sum of allowances, or of what of them containers can fill."""
    if params.capacity == ALLOWANCE:
        return view.clock["allowance"][0, r]
    am, task = smallest_sizes(view, state, job, r)
    total, room, filled = 0, -1, 0
    for node in range(view.node.shape[0]):
        if view.node["allowance"][node, r] != room:  # nodes come in kinds
            room = view.node["allowance"][node, r]
            filled = most_filled(room, am, task)
        total += filled
    return total


@callable_too
def reserve(view, state, params, job, r, capacity):
    """(1), (2): what must stay for task containers."""
    am, task = average_sizes(view, state, params, job, r)
    return capacity * task // (am + task) if task > 0 else 0


@callable_too
def left_for_ams(view, state, params, job, r):
    """What of C is neither reserved nor held by AMs: one that is no larger may start."""
    capacity = capacity_of(view, state, params, job, r)
    kept = reserve(view, state, params, job, r, capacity)
    kept = max(kept, state.table["scaled"][0, r])
    return capacity - view.clock["am_allocated"][0, r] - lost_ams(view, state, r) - kept


@callable_too
def scale_up(view, state, params):
    """(3), for the next period, from a fresh (2). Whether less is kept than before."""
    less = False
    for r in range(view.shape["demand"].shape[1]):
        capacity = capacity_of(view, state, params, -1, r)
        kept = reserve(view, state, params, -1, r, capacity)
        deficit = kept + view.clock["am_allocated"][0, r] + lost_ams(view, state, r) - capacity
        scaled = kept + kept * deficit // capacity if deficit > 0 and capacity > 0 else 0
        less = less or scaled < state.table["scaled"][0, r]
        state.table["scaled"][0, r] = scaled
    return less
