"""YARN's Capacity scheduler: the queue furthest below its guarantee first; queue and user limits; node reservations."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.model.resources import ONE
from heddle.policy.lever import Parameter, Queues
from heddle.policy.levers.admission import limit_below
from heddle.policy.queues import above_maximum

USER_LIMIT = int(Reason.USER_LIMIT)


def key(view, state, params, queue):
    """How much of its guarantee the queue uses."""
    used = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            used = max(used, view.queue["allocated"][queue, r] * ONE // max(1, view.queue["guarantee"][queue, r]))
    return used


@callable_too
def is_guaranteed(view, queue):
    """Whether the queue is guaranteed anything that counts."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.queue["guarantee"][queue, r] > 0:
            return True
    return False


@callable_too
def limit_of_user(view, stage, r, guaranteed):
    """What the job's user may have of resource r in the stage's leaf.

    The leaf is split among active users: each gets at least the minimum, and at most the factor of the guarantee or,
    where nothing is guaranteed, the leaf's maximum.
    """
    queue, shape = view.stage["queue"][stage], view.stage_spec["shape"][stage]
    guarantee = view.queue["guarantee"][queue, r]
    current = guarantee
    if view.queue["allocated"][queue, r] >= guarantee:
        current = view.queue["allocated"][queue, r] + view.shape["demand"][shape, r]
    split = current // max(1, view.queue["active_users"][queue])
    least = current * view.queue["user_limit_percent"][queue] // 100
    most = view.queue["maximum"][queue, r]
    if guaranteed:
        most = guarantee * view.queue["user_limit_factor_milli"][queue] // 1000
    return min(max(split, least), most)


@callable_too
def above_user_limit(view, stage):
    """USER_LIMIT if the job's user has more than a user's share of the leaf; else 0."""
    member = view.stage["member"][stage]
    guaranteed = is_guaranteed(view, view.stage["queue"][stage])
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.member["allocated"][member, r] > limit_of_user(
            view, stage, r, guaranteed
        ):
            return USER_LIMIT
    return 0


def user_limit(view, state, params, stage):
    return above_user_limit(view, stage)


def headroom(view, state, params, stage, r):
    """The least of what is left to the user, to the leaf and in the cluster (its part with the stage's label)."""
    queue, member = view.stage["queue"][stage], view.stage["member"][stage]
    root = queue
    while view.queue["parent"][root] >= 0:
        root = view.queue["parent"][root]
    there = view.queue["maximum"][root, r]
    limit = limit_of_user(view, stage, r, is_guaranteed(view, queue))
    room = min(
        limit - view.member["allocated"][member, r],
        limit_below(view, queue, r, there) - view.queue["allocated"][queue, r],
    )
    increment = view.clock["increment"][0, r]
    return max(0, min(max(0, room) // increment * increment, there - view.queue["allocated"][root, r]))


def limits(view, state, params, stage):
    """The queue's maximum; then the user's share of the leaf."""
    reason = above_maximum(view, stage)
    return reason if reason != 0 else above_user_limit(view, stage)


CAPACITY = Queues(
    name="capacity",
    summary="YARN's Capacity scheduler: the queue furthest below its guarantee first; maxima and user limits",
    key=key,
    allows=limits,
    user_allows=user_limit,
    headroom=headroom,
    parameters=(
        Parameter(
            "reserve",
            True,
            "keep a node for a request that does not fit yet, and a leaf for one that the queue's maximum keeps back"
            " (node heartbeats only)",
        ),
    ),
    reserves="reserve",
    by_label=True,
    by_user=True,
    dues="guarantee",
    of_yarn=True,
)
