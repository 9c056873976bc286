"""Where in the tree of queues requests wait: of each leaf the lanes that are not empty, of each parent the children.

A walk looks at these alone, so that queues and users that ask for nothing cost nothing.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.linked import link_first, unlink


@inlined
def next_busy(sim, q):
    """After q, which is the first root or came out of here, another queue in which or below which anything waits, or
    the root of the next tree; -1: none. A walk that begins with the first root meets each of them once.
    """
    queue_run, parent = sim.queue_run, sim.shown.queue["parent"]
    if queue_run["first_child"][q] >= 0:
        return queue_run["first_child"][q]
    while parent[q] >= 0 and queue_run["next"][q] < 0:
        q = parent[q]
    if parent[q] >= 0:
        return queue_run["next"][q]
    following = q + sim.setting["queues_per_tree"][0]
    return following if following < sim.shown.queue.shape[0] else -1


@compiled
def lane_fills(sim, la):
    """Something waits in lane la, which was empty. A queue's lanes stay in order of number."""
    lane, queue_run = sim.lane, sim.queue_run
    q = lane["queue"][la]
    before, after = -1, queue_run["first_lane"][q]
    was_busy = after >= 0
    while after >= 0 and after < la:
        before, after = after, lane["next"][after]
    lane["previous"][la], lane["next"][la] = before, after
    if before >= 0:
        lane["next"][before] = la
    else:
        queue_run["first_lane"][q] = la
    if after >= 0:
        lane["previous"][after] = la
    parent = sim.shown.queue["parent"][q]
    while parent >= 0 and not was_busy:
        was_busy = queue_run["first_child"][parent] >= 0
        link_first(queue_run["next"], queue_run["previous"], queue_run["first_child"], parent, q)
        q, parent = parent, sim.shown.queue["parent"][parent]


@compiled
def lane_empties(sim, la):
    """Nothing waits in lane la any more."""
    lane, queue_run = sim.lane, sim.queue_run
    q = lane["queue"][la]
    unlink(lane["next"], lane["previous"], queue_run["first_lane"], q, la)
    is_busy = queue_run["first_lane"][q] >= 0
    parent = sim.shown.queue["parent"][q]
    while parent >= 0 and not is_busy:
        unlink(queue_run["next"], queue_run["previous"], queue_run["first_child"], parent, q)
        is_busy = queue_run["first_child"][parent] >= 0
        q, parent = parent, sim.shown.queue["parent"][parent]
