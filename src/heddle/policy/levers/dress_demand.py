"""What jobs ask for, as DRESS counts it: one demand for who is small, for P1 and P2, and for the order of Alg. 3.

It is all that a job will still want: its containers that are neither there nor done, and its AM. A ResourceManager does
not know that before the AM has asked. The simulator tells it, because the paper's scheduler has it; a live cluster
tells what was asked for so far, which is then all that counts (`demand=asked` is the same in the simulator).
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import INNER
from heddle.policy.lever import Column, Parameter, per_resource
from heddle.policy.levers.partition import SMALL
from heddle.policy.state import Chain

ASKED = 1000  # the second choice of `demand`
MOST_JOBS = 256  # first come first, are looked at when delta is decided by single jobs
MOST_LOOKED_AT = 256  # jobs in a round, first come first, for what no event tells

# Jobs that are there are chained in order of arrival, those that have had a container in any order (number + 1).
JOBS_THERE = (
    *(Column(name) for name in ("next_job", "previous_job", "next_begun", "is_unbegun")), *per_resource("counted"),
)  # fmt: skip
SUMS = (
    *(Column(name) for name in ("first_job", "last_job", "first_begun")),
    *per_resource("of_unbegun", "wanted", length=2),  # by pool
)
CHAINS = (Chain("first_job", "next_job", "previous_job", "last_job"), Chain("first_begun", "next_begun"))

DEMAND = Parameter(
    "demand",
    "whole",
    "all that a job will still want, as far as that is known; or what it has asked for so far",
    choices=("whole", "asked"),
)


@callable_too
def to_come(view, stage, asked):
    """How many containers the stage still wants; `asked`: as far as it has asked for them."""
    if view.stage_spec["kind"][stage] == INNER:
        return 0
    if asked:
        return view.stage["waiting"][stage]
    return view.stage_spec["n_tasks"][stage] - view.stage["held"][stage] - view.stage["done"][stage]


@callable_too
def still_wanted(view, job, r, asked):
    """What the job will still reserve of this resource."""
    amount = 0
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        amount += to_come(view, stage, asked) * view.shape["demand"][view.stage_spec["shape"][stage], r]
    return amount


@callable_too
def demand_of(view, job, asked):
    """r_i: the dominant share of what the job still wants, rounded up."""
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            largest = max(largest, -(-still_wanted(view, job, r, asked) * ONE // view.clock["total"][0, r]))
    return largest


@callable_too
def demand_of_pool(view, state, pool, asked):
    """P1 or P2: the dominant share of what all jobs of the pool still want, as recount() found it."""
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            amount = view.pool["waiting"][pool, r] if asked else state.table["wanted"][0, r, pool]
            largest = max(largest, -(-amount * ONE // view.clock["total"][0, r]))
    return largest


@callable_too
def count_unbegun(view, state, job, sign):
    """A job that has had no container yet wants the same until it gets one: it is added up once."""
    pool = view.job["pool"][job]
    for r in range(view.shape["demand"].shape[1]):
        if sign > 0:
            state.job["counted"][job, r] = still_wanted(view, job, r, False)
        state.table["of_unbegun"][0, r, pool] += sign * state.job["counted"][job, r]


@callable_too
def comes(view, state, job):
    """The job is the last of the chain, in order of arrival."""
    last = state.table["last_job"][0]
    state.job["next_job"][job], state.job["previous_job"][job] = 0, last
    if last > 0:
        state.job["next_job"][last - 1] = job + 1
    else:
        state.table["first_job"][0] = job + 1
    state.table["last_job"][0] = job + 1
    state.job["is_unbegun"][job] = 1
    count_unbegun(view, state, job, 1)


@callable_too
def begins(view, state, job):
    """One of its containers is there, or was."""
    if state.job["is_unbegun"][job]:
        state.job["is_unbegun"][job] = 0
        count_unbegun(view, state, job, -1)
        state.job["next_begun"][job] = state.table["first_begun"][0]
        state.table["first_begun"][0] = job + 1


@callable_too
def goes(state, job):
    """It has ended, and leaves the chain."""
    before, after = state.job["previous_job"][job], state.job["next_job"][job]
    if before > 0:
        state.job["next_job"][before - 1] = after
    else:
        state.table["first_job"][0] = after
    if after > 0:
        state.job["previous_job"][after - 1] = before
    else:
        state.table["last_job"][0] = before


@callable_too
def look_at_unbegun(view, state):
    """The first of them. No event tells that an application was killed before it had a container, or that one without
    an AM of YARN's asks for more; neither happens in the simulator."""
    looks, job = MOST_LOOKED_AT, state.table["first_job"][0] - 1
    while job >= 0 and looks > 0:
        after = state.job["next_job"][job]
        if state.job["is_unbegun"][job]:
            count_unbegun(view, state, job, -1)
            if view.job["state"][job] < JOB_FINISHED:
                count_unbegun(view, state, job, 1)
            else:
                state.job["is_unbegun"][job] = 0
                goes(state, job)
        looks -= 1
        job = after - 1


@callable_too
def recount(view, state):
    """What the jobs of each pool still want; those that have ended leave. Not more work than there are running jobs."""
    look_at_unbegun(view, state)
    wanted = state.table["wanted"]
    for pool in range(view.pool.shape[0]):
        for r in range(view.shape["demand"].shape[1]):
            wanted[0, r, pool] = state.table["of_unbegun"][0, r, pool]
    before, job = -1, state.table["first_begun"][0] - 1
    while job >= 0:
        after = state.job["next_begun"][job]
        if view.job["state"][job] < JOB_FINISHED:
            first, pool = view.job_spec["first_stage"][job], view.job["pool"][job]
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                count = to_come(view, stage, False)
                if count != 0:  # most have all that they want
                    for r in range(view.shape["demand"].shape[1]):
                        wanted[0, r, pool] += count * view.shape["demand"][view.stage_spec["shape"][stage], r]
            before = job
        else:
            goes(state, job)
            if before < 0:
                state.table["first_begun"][0] = after
            else:
                state.job["next_begun"][before] = after
        job = after - 1


@callable_too
def collect_demands(view, state, asked):
    """Writes down what the jobs of each pool that want something ask for; how many, large and small."""
    n_large, n_small = 0, 0
    job = state.table["first_job"][0] - 1
    while job >= 0 and n_large + n_small < MOST_JOBS:
        demand = demand_of(view, job, asked)
        if demand > 0 and view.job["pool"][job] == SMALL:
            state.of_small[n_small] = demand
            n_small += 1
        elif demand > 0:
            state.of_large[n_large] = demand
            n_large += 1
        job = state.job["next_job"][job] - 1
    return n_large, n_small


@callable_too
def next_demand(demands, count, above):
    """The smallest demand above this one, and how many jobs have it (0: there is none)."""
    smallest, found = 0, 0
    for i in range(count):
        demand = demands[i]
        if demand > above and (found == 0 or demand <= smallest):
            found = found + 1 if found > 0 and demand == smallest else 1
            smallest = demand
    return smallest, found
