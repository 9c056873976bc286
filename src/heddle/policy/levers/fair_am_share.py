"""The Fair scheduler's maxAMShare: the AMs of a leaf may hold a part of its fair share.

Where shares are of memory alone nobody has a fair share of vcores. YARN then goes by the vcores that are free at the
moment, so that on a busy cluster jobs wait for their AM although their queue has less than its share.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY
from heddle.policy.lever import Admission, Parameter
from heddle.policy.levers.admission import AM_SHARE_USED, ENOUGH_RUN, am_share_permille, queue_is_busy


@callable_too
def is_active(view, queue):
    """Whether the queue has anything, or asks for it: only such queues have a fair share."""
    held = 0
    for r in range(view.shape["demand"].shape[1]):
        held += view.queue["allocated"][queue, r]
    return view.queue["waiting"][queue] > 0 or held > 0


@callable_too
def at_ratio(view, queue, r, ratio):
    """What the queue has where a weight of 1 gives so much: within its minimum share and its maximum."""
    by_weight = view.queue["weight_milli"][queue] * ratio // 1000
    return min(view.queue["maximum"][queue, r], max(view.queue["min_share"][queue, r], by_weight))


@callable_too
def part_of(view, queue, r, total):
    """The queue's part of what its parent has: by the largest ratio at which all that are active fit."""
    low, high = 0, 1000 * (total + 1)  # the ratio lies in between: even the smallest weight has more than all at `high`
    while high - low > 1:
        ratio = (low + high) // 2
        together = at_ratio(view, queue, r, ratio)
        sibling = view.queue["first_child"][view.queue["parent"][queue]]
        while sibling >= 0:
            if sibling != queue and is_active(view, sibling):
                together += at_ratio(view, sibling, r, ratio)
            sibling = view.queue["next_sibling"][sibling]
        if together <= total:
            low = ratio
        else:
            high = ratio
    return at_ratio(view, queue, r, low)


@callable_too
def fair_share(view, leaf, r):
    """From the whole cluster down to the leaf, level by level."""
    depth, queue = 0, leaf
    while view.queue["parent"][queue] >= 0:
        depth, queue = depth + 1, view.queue["parent"][queue]
    share = view.clock["total"][0, r]
    for above in range(depth - 1, -1, -1):
        queue = leaf
        for _ in range(above):
            queue = view.queue["parent"][queue]
        share = part_of(view, queue, r, share)
    return share


@callable_too
def free(view, r):
    """Of the whole cluster: queue 0 is root."""
    return max(0, view.clock["total"][0, r] - view.queue["allocated"][0, r])


def admits(view, state, params, job):
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    if view.job_spec["has_am"][job] == 0:
        return 0
    leaf = view.job["queue"][job]
    shape = view.stage_spec["shape"][view.job_spec["first_stage"][job]]
    permille = am_share_permille(view, leaf, params.percent)
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            base = fair_share(view, leaf, r) if r == MEMORY or params.shares != 0 else 0
            if base == 0:
                base = min(view.queue["maximum"][leaf, r], free(view, r))
            held = view.queue["am_allocated"][leaf, r] + view.shape["demand"][shape, r]
            if held > -(-permille * base // 1000):
                return AM_SHARE_USED
    return 0


FAIR_AM_SHARE = Admission(
    name="fair-am-share",
    summary="AMs may hold this part of their queue's fair share (maxAMShare of YARN's Fair scheduler)",
    admits=admits,
    parameters=(
        Parameter("percent", 0.5, "part of the queue's fair share, 0 to 1", low=0, high=1),
        Parameter(
            "shares",
            "memory",
            "what is shared out: memory (the ordering fair) or every resource that counts (drf)",
            choices=("memory", "dominant"),
        ),
    ),
    may_deadlock=True,
    of_yarn=True,
)
