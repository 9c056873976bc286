"""What jobs ask for, as DRESS counts it: one demand for who is small, for P1 and P2, and for the order of Alg. 3.

It is all that a job will still want: its containers that are neither there nor done, and its AM. A ResourceManager does
not know that before the AM has asked. The simulator tells it, because the paper's scheduler has it; a live cluster
tells what was asked for so far, which is then all that counts (`demand=asked` is the same in the simulator).
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.workload import INNER
from heddle.policy.lever import Parameter
from heddle.policy.levers.partition import SMALL

ASKED = 1000  # the second choice of `demand`
MOST_JOBS = 256  # first come first, are looked at when delta is decided by single jobs

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
    """P1 or P2: the dominant share of what all jobs of the pool still want, as dress_jobs.py has added it up."""
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            amount = view.pool["waiting"][pool, r] if asked else state.table["wanted"][0, r, pool]
            largest = max(largest, -(-amount * ONE // view.clock["total"][0, r]))
    return largest


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
