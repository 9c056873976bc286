"""What queues, and jobs in them, are due under YARN's Fair scheduler."""

from __future__ import annotations

from heddle.model.compilable import callable_too


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
    share = view.clock["root_total"][0, r]
    for above in range(depth - 1, -1, -1):
        queue = leaf
        for _ in range(above):
            queue = view.queue["parent"][queue]
        share = part_of(view, queue, r, share)
    return share


@callable_too
def fair_share_of_job(view, leaf, r, jobs):
    """One of so many jobs of the leaf, all of which count alike; no more of them run than may."""
    most = view.queue["max_running_jobs"][leaf]
    return fair_share(view, leaf, r) // max(1, jobs if most < 0 else min(jobs, most))
