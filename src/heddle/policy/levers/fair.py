"""YARN's Fair scheduler: queues that have least go first; of memory, or of their dominant resource (DRF)."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY, ONE, VCORES
from heddle.policy.lever import Parameter, Queues
from heddle.policy.levers.fair_shares import fair_share, fair_share_of_job
from heddle.policy.queues import above_maximum_of_its_own

SATISFIED = 1 << 60  # queues that have their minimum share come after all that do not


def fair_key(view, state, params, queue):
    used, due = view.queue["allocated"][queue, MEMORY], view.queue["min_share"][queue, MEMORY]
    if used < due:
        return used * ONE // due
    return SATISFIED + used * 1000 // view.queue["weight_milli"][queue]


def drf_key(view, state, params, queue):
    share, dominant = -1, 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["total"][0, r] > 0:
            mine = view.queue["allocated"][queue, r] * ONE // view.clock["total"][0, r]
            if mine > share:
                share, dominant = mine, r
    used, due = view.queue["allocated"][queue, dominant], view.queue["min_share"][queue, dominant]
    if used < due:
        return used * ONE // due
    return SATISFIED + max(share, 0) * 1000 // view.queue["weight_milli"][queue]


def limits(view, state, params, stage):
    return above_maximum_of_its_own(view, stage)


@callable_too
def left_to_leaf(view, leaf, r):
    """Of what the leaf may have at most, and of what is free in the cluster."""
    used = view.queue["allocated"][leaf, r]
    return max(0, min(view.queue["maximum"][leaf, r] - used, view.clock["total"][0, r] - view.queue["allocated"][0, r]))


@callable_too
def left_of_fair_share(view, leaf, r):
    return max(0, fair_share(view, leaf, r) - view.queue["allocated"][leaf, r])


def fair_headroom(view, state, params, stage, r):
    """Fair shares are of memory alone."""
    leaf = view.stage["queue"][stage]
    room = left_to_leaf(view, leaf, r)
    return min(room, left_of_fair_share(view, leaf, r)) if r == MEMORY else room


def drf_headroom(view, state, params, stage, r):
    leaf = view.stage["queue"][stage]
    return min(left_to_leaf(view, leaf, r), left_of_fair_share(view, leaf, r))


def is_starved(view, state, params, stage, jobs):
    """Its job has less memory than its fair share, and it asks for much."""
    job, demand = view.stage_spec["job"][stage], view.shape["demand"][view.stage_spec["shape"][stage], MEMORY]
    if 1000 * demand < params.threshold_mb:
        return 0
    return int(view.job["allocated"][job, MEMORY] < fair_share_of_job(view, view.job["queue"][job], MEMORY, jobs))


def is_starved_of_dominant(view, state, params, stage, jobs):
    """The same by the largest share of the cluster; of two requests with equal ones, the one with the larger smallest
    share asks for more."""
    job, shape = view.stage_spec["job"][stage], view.stage_spec["shape"][stage]
    has, due, asked, threshold = 0, 0, 0, 0
    asked_least, threshold_least = ONE << 20, ONE << 20
    for r in range(view.shape["demand"].shape[1]):
        total = view.clock["total"][0, r]
        if view.clock["counts"][0, r] and total > 0:
            has = max(has, view.job["allocated"][job, r] * ONE // total)
            due = max(due, fair_share_of_job(view, view.job["queue"][job], r, jobs) * ONE // total)
            wanted = view.shape["demand"][shape, r] * ONE // total
            enough = 0
            if r == MEMORY:
                enough = params.threshold_mb // 1000 * ONE // total
            elif r == VCORES:
                enough = params.threshold_vcores * ONE // total
            asked, asked_least = max(asked, wanted), min(asked_least, wanted)
            threshold, threshold_least = max(threshold, enough), min(threshold_least, enough)
    is_large = asked > threshold or (asked == threshold and asked_least >= threshold_least)
    return int(is_large and has < due)


RESERVE = Parameter(
    "reserve",
    "starved",
    "keep a node for a request that does not fit yet: of a starved job (Hadoop 3), always (Hadoop 2), as the Capacity"
    " scheduler does, or not at all (node heartbeats only)",
    choices=("none", "capacity", "starved", "always"),
)
THRESHOLD_MB = Parameter("threshold_mb", 2048, "with reserve=starved: no smaller request keeps a node", low=0)
NODES = Parameter("nodes", 0.05, "with reserve=starved: part of the nodes that are kept for a job", low=0, high=1)


FAIR = Queues(
    name="fair",
    summary="YARN's Fair scheduler: the queue with the least memory per weight first",
    key=fair_key,
    allows=limits,
    keeps=is_starved,
    headroom=fair_headroom,
    parameters=(RESERVE, THRESHOLD_MB, NODES),
    reserves="reserve",
    reservable="nodes",
    counts_all=True,
    dues="fair-share",
    settings_fixed=True,
    dues_in="memory",
    of_yarn=True,
)

DRF = Queues(
    name="drf",
    summary="dominant resource fairness: the queue with the smallest dominant share per weight first",
    key=drf_key,
    allows=limits,
    keeps=is_starved_of_dominant,
    headroom=drf_headroom,
    parameters=(
        RESERVE,
        THRESHOLD_MB,
        Parameter("threshold_vcores", 2, "with reserve=starved: see threshold_mb; the larger share counts", low=0),
        NODES,
    ),
    reserves="reserve",
    reservable="nodes",
    counts_all=True,
    dues="fair-share",
    settings_fixed=True,
    of_yarn=True,
)
