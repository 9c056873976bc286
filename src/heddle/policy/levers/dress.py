"""DRESS (the fifth paper): a share of the cluster is kept for jobs of small demand, and moved as they need it.

A job is small if it asks for at most theta of the containers that there are. Each pool may hold its share: delta of the
cluster for small jobs, 1 - delta for large ones. Once a second Alg. 3 moves delta by what waits in each pool (P1, P2),
what is free in it (Ac1, Ac2) and what its running jobs will release within the next second (F1, F2: dress_phases.py):
    F = F1 + F2 = A_c + f_1 + ... + f_n                                            (1)
    Ac1 + F1 >= P1 (small jobs have more than they ask for):  delta falls
    else Ac2 + F2 >= P2 (large jobs do):                      delta rises
    else the smallest jobs of each pool are counted in, and what large ones leave is lent to further small jobs
All of it in dominant shares, units of ONE. Slips of the text that are mended here: A_c is in (1) already, so that
Ac + F counted it twice (F is what is released, without A_c); the second pool has its own F2; exact fits count; the
last job counts; a loan takes what is left in both pools and moves delta by what it takes from the large ones' only;
delta moves by no more than the other pool lacks (literally it drops to 0 when no small job waits), starts from what
small jobs really hold, and stays between 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK, JOB_FINISHED
from heddle.model.workload import AM
from heddle.policy.lever import Parameter, Partition, State
from heddle.policy.levers.dress_phases import PHASES, ROUND_MS, count_trailing, ends, job_release, releases, starts
from heddle.policy.levers.partition import LARGE, SMALL, THETA, small_or_large
from heddle.policy.policy import Setup
from heddle.policy.shares import dominant_share

MOST_JOBS = 256  # that wait, first come first, are looked at when delta is decided by single jobs


def prepare(setup: Setup) -> dict[str, Any]:
    setup.state.table["delta"] = round(ONE * float(setup.lever.parameter("initial_share")))
    return {"of_large": np.zeros(MOST_JOBS), "of_small": np.zeros(MOST_JOBS)}


def pool(view, state, params, job):
    return small_or_large(view, job, params.theta, params.basis != 0)


def limit(view, state, params, pool, r):
    total = view.clock["total"][0, r]
    small = total * state.table["delta"][0] // ONE
    return small if pool == SMALL else total - small


@callable_too
def needed_share(view, amounts, row):
    """The dominant share rounded up, so that a pool that gets the sum of such shares has room for all of it."""
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            largest = max(largest, -(-amounts[row, r] * ONE // view.clock["total"][0, r]))
    return largest


@callable_too
def waiting_demand(view, job):
    """The dominant share of what the job waits for, rounded up."""
    largest = 0
    first = view.job_spec["first_stage"][job]
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            amount = 0
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                amount += view.stage["waiting"][stage] * view.shape["demand"][view.stage_spec["shape"][stage], r]
            largest = max(largest, -(-amount * ONE // view.clock["total"][0, r]))
    return largest


@callable_too
def predicted(view, state, params):
    """F2 and F1: what the jobs of the large and of the small pool will release within the next round.

    Trailing tasks go to their next phase first, and jobs that do not release any more leave the chain.
    """
    now_ms, window_ms = view.clock["now_ms"][0], params.window_s
    of_large, of_small = 0, 0
    before, job = -1, state.table["first_releasing"][0] - 1
    while job >= 0:
        after = state.job["next_releasing"][job]
        count_trailing(state.job[job], now_ms, window_ms)
        if releases(state.job[job]):
            amount = job_release(state.job[job], now_ms, window_ms)
            if view.job["pool"][job] == SMALL:
                of_small += amount
            else:
                of_large += amount
            before = job
        else:
            state.job["is_releasing"][job] = 0
            if before < 0:
                state.table["first_releasing"][0] = after
            else:
                state.job["next_releasing"][before] = after
        job = after - 1
    return of_large, of_small


@callable_too
def collect_demands(view, state):
    """Writes down what the waiting jobs of each pool ask for; how many, large and small. Ended jobs leave the chain."""
    n_large, n_small = 0, 0
    before, job = -1, state.table["first_job"][0] - 1
    while job >= 0 and n_large + n_small < MOST_JOBS:
        after = state.job["next_job"][job]
        if view.job["state"][job] >= JOB_FINISHED:
            if before < 0:
                state.table["first_job"][0] = after
            else:
                state.job["next_job"][before] = after
            if after == 0:
                state.table["last_job"][0] = before + 1
        else:
            before = job
            if view.job["waiting"][job] > 0:
                if view.job["pool"][job] == SMALL:
                    state.of_small[n_small] = waiting_demand(view, job)
                    n_small += 1
                else:
                    state.of_large[n_large] = waiting_demand(view, job)
                    n_large += 1
        job = after - 1
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


@callable_too
def lent_to_small(view, state, small_room, large_room):
    """Alg. 3, lines 13 to 24: how much of the large pool's room goes to small jobs, the smallest ones first."""
    n_large, n_small = collect_demands(view, state)
    demand, jobs = next_demand(state.of_large, n_large, 0)
    while jobs > 0 and demand <= large_room:
        taken = min(jobs, large_room // demand)
        large_room -= taken * demand
        demand, jobs = next_demand(state.of_large, n_large, demand) if taken == jobs else (0, 0)
    lent = 0
    demand, jobs = next_demand(state.of_small, n_small, 0)
    while jobs > 0 and demand <= small_room + large_room:
        own = min(jobs, small_room // demand)
        small_room -= own * demand
        on_loan = min(jobs - own, (small_room + large_room) // demand)
        if on_loan > 0:
            loan = on_loan * demand - small_room
            small_room = 0
            large_room -= loan
            lent += loan
        demand, jobs = next_demand(state.of_small, n_small, demand) if own + on_loan == jobs else (0, 0)
    return lent


@callable_too
def promised(view):
    """What may be promised now, of the resource that has grown least, as a share of the allowances. In units of ONE."""
    least = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            grown = view.clock["total"][0, r] * ONE // view.clock["allowance"][0, r]
            least = grown if least == 0 else min(least, grown)
    return max(1, least)


@callable_too
def adjusted(view, state, params):
    """Alg. 3: delta for the next round."""
    held = needed_share(view, view.pool["allocated"], SMALL)
    free = max(0, ONE - held - needed_share(view, view.pool["allocated"], LARGE))
    delta = max(held, min(held + free, state.table["delta"][0]))
    of_large, of_small = predicted(view, state, params)  # phases are kept in shares of the allowances
    small_room = delta - held + of_small * ONE // promised(view)  # Ac1 + F1
    large_room = held + free - delta + of_large * ONE // promised(view)  # Ac2 + F2
    small_waits = needed_share(view, view.pool["waiting"], SMALL)  # P1
    large_waits = needed_share(view, view.pool["waiting"], LARGE)  # P2
    if small_room >= small_waits:
        delta -= min(small_room - small_waits, max(0, large_waits - large_room))
    elif large_room >= large_waits:
        delta += min(large_room - large_waits, small_waits - small_room)
    else:
        delta += lent_to_small(view, state, small_room, large_room)
    return max(0, min(ONE, delta))


def observe(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_TICK:
        delta = adjusted(view, state, params)
        changed = delta != state.table["delta"][0]
        state.table["delta"][0] = delta
        return 1 if changed else 0
    job = view.stage_spec["job"][stage]
    if kind == EVENT_ARRIVED:
        if state.table["last_job"][0] > 0:
            state.job["next_job"][state.table["last_job"][0] - 1] = job + 1
        else:
            state.table["first_job"][0] = job + 1
        state.table["last_job"][0] = job + 1
        return 0
    if view.stage_spec["kind"][stage] == AM:
        return 0
    amount = dominant_share(view, view.shape["demand"], view.stage_spec["shape"][stage])
    now_ms = view.clock["now_ms"][0]
    if kind == EVENT_ALLOCATED:
        state.container["phase"][container] = starts(state.job[job], amount, now_ms, params.window_s)
    else:
        ends(state.job[job], state.container["phase"][container], amount, now_ms, params.window_s)
        if state.job["is_releasing"][job] == 0 and releases(state.job[job]):
            state.job["is_releasing"][job] = 1
            state.job["next_releasing"][job] = state.table["first_releasing"][0]
            state.table["first_releasing"][0] = job + 1
    return 0


DRESS_POOLS = Partition(
    name="dress-pools",
    summary="a share of the cluster is kept for jobs of small demand, and moved by what waits and what is about to end",
    pool=pool,
    limit=limit,
    on_event=observe,
    parameters=(
        THETA,
        Parameter(
            "basis",
            "total",
            "theta of the containers that an empty cluster holds, or of those available when the job arrives",
            choices=("total", "available"),
        ),
        Parameter("initial_share", 0.1, "part of the cluster that is kept for small jobs at first", low=0, high=1),
        Parameter("window_s", 10.0, "in which starts and ends are counted to tell phases", low=0),
    ),
    # Jobs that are there are chained in order of arrival, those that release in any order (number + 1).
    state=State(
        job=(PHASES, "next_job", "next_releasing", "is_releasing"),
        container="phase",
        table=("delta", "first_job", "last_job", "first_releasing"),
        lists=("of_large", "of_small"),  # what waiting jobs of the pool ask for
    ),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK),
    every_ms=ROUND_MS,
    prepare=prepare,
    n_pools=2,
    may_deadlock=True,
)
