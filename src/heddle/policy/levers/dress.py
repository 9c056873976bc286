"""DRESS (the fifth paper): a share of the cluster is kept for jobs of small demand, and moved as they need it.

A job is small if it asks for at most theta of the containers that there are. Each pool may hold its share: delta of the
cluster for small jobs, 1 - delta for large ones. Once a second Alg. 3 (dress_share.py) moves delta by what the jobs of
each pool still want (dress_demand.py, dress_jobs.py), what is free in it and what its running jobs will release within
the next second (dress_phases.py). All of it in dominant shares, units of ONE. delta starts from what small jobs really
hold, and stays between 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK
from heddle.model.workload import AM
from heddle.policy.lever import Parameter, Partition, State
from heddle.policy.levers.dress_demand import ASKED, DEMAND, MOST_JOBS, demand_of_pool
from heddle.policy.levers.dress_jobs import CHAINS, JOBS_THERE, SUMS, begins, comes, recount
from heddle.policy.levers.dress_phases import (
    MOST_SEEN,
    PHASES,
    ROUND_MS,
    count_trailing,
    ends,
    job_release,
    releases,
    starts,
)
from heddle.policy.levers.dress_share import mended, printed
from heddle.policy.levers.partition import LARGE, SMALL, THETA, small_or_large
from heddle.policy.policy import Setup
from heddle.policy.shares import dominant_share
from heddle.policy.state import Chain


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
            amount = job_release(state.job[job], now_ms, window_ms, params.release != 0)
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
    asked = params.demand == ASKED
    recount(view, state)
    held = needed_share(view, view.pool["allocated"], SMALL)
    free = max(0, ONE - held - needed_share(view, view.pool["allocated"], LARGE))
    delta = max(held, min(held + free, state.table["delta"][0]))
    of_large, of_small = predicted(view, state, params)  # phases are kept in shares of the allowances
    small = (delta - held, of_small * ONE // promised(view), demand_of_pool(view, state, SMALL, asked))
    large = (held + free - delta, of_large * ONE // promised(view), demand_of_pool(view, state, LARGE, asked))
    if params.alg3 == 0:
        delta += mended(view, state, small, large, asked)
    else:
        delta += printed(view, state, small, large, asked)
    return max(0, min(ONE, delta))


def observe(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_TICK:
        delta = adjusted(view, state, params)
        changed = delta != state.table["delta"][0]
        state.table["delta"][0] = delta
        return 1 if changed else 0
    job = view.stage_spec["job"][stage]
    if kind == EVENT_ARRIVED:
        comes(view, state, job)
        return 0
    begins(view, state, job)
    if view.stage_spec["kind"][stage] == AM:
        return 0
    amount = dominant_share(view, view.shape["demand"], view.stage_spec["shape"][stage])
    now_ms = view.clock["now_ms"][0]
    if kind == EVENT_ALLOCATED:
        state.container["phase"][container] = starts(
            state.job[job], amount, now_ms, params.window_s, params.t_s // 1000
        )
    else:
        ends(state.job[job], state.container["phase"][container], amount, now_ms, params.window_s, params.t_e // 1000)
        if state.job["is_releasing"][job] == 0 and releases(state.job[job]):
            state.job["is_releasing"][job] = 1
            state.job["next_releasing"][job] = state.table["first_releasing"][0]
            state.table["first_releasing"][0] = job + 1
    return 0


DRESS_POOLS = Partition(
    name="dress-pools",
    summary="reserves a share of the cluster for small jobs, adjusted by what waits and what is about to be released",
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
        Parameter("initial_share", 0.1, "initial share of the cluster reserved for small jobs", low=0, high=1),
        Parameter("window_s", 10.0, "in which starts and ends are counted to tell phases", low=0),
        Parameter(
            "t_s", 5, "a phase has begun when more containers than this start in the window", low=1, high=MOST_SEEN
        ),
        Parameter("t_e", 5, "it begins to release when more than this end in the window", low=1, high=MOST_SEEN),
        DEMAND,
        Parameter(
            "release",
            "increment",
            "what a phase releases within the next second, or equation (3) as printed: all since it began",
            choices=("increment", "literal"),
        ),
        Parameter(
            "alg3", "mended", "Alg. 3 as it is meant, or with the slips as printed", choices=("mended", "literal")
        ),
    ),
    state=State(
        job=(PHASES, JOBS_THERE, "next_releasing", "is_releasing"),
        container="phase",
        table=("delta", SUMS, "first_releasing"),
        lists=("of_large", "of_small"),  # what waiting jobs of the pool ask for
        chains=(*CHAINS, Chain("first_releasing", "next_releasing")),  # those that release in any order
    ),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK),
    every_ms=ROUND_MS,
    prepare=prepare,
    n_pools=2,
    may_deadlock=True,
)
