"""Where in the tree of queues requests wait: of each leaf the lanes that are not empty, of each parent the children.

A walk looks at these alone, so that queues and users that ask for nothing cost nothing.
"""

from __future__ import annotations

from heddle.model.compiled import compiled


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
        first = queue_run["first_child"][parent]
        was_busy = first >= 0
        queue_run["previous"][q], queue_run["next"][q] = -1, first
        if was_busy:
            queue_run["previous"][first] = q
        queue_run["first_child"][parent] = q
        q, parent = parent, sim.shown.queue["parent"][parent]


@compiled
def lane_empties(sim, la):
    """Nothing waits in lane la any more."""
    lane, queue_run = sim.lane, sim.queue_run
    q = lane["queue"][la]
    before, after = lane["previous"][la], lane["next"][la]
    if before >= 0:
        lane["next"][before] = after
    else:
        queue_run["first_lane"][q] = after
    if after >= 0:
        lane["previous"][after] = before
    is_busy = queue_run["first_lane"][q] >= 0
    parent = sim.shown.queue["parent"][q]
    while parent >= 0 and not is_busy:
        before, after = queue_run["previous"][q], queue_run["next"][q]
        if before >= 0:
            queue_run["next"][before] = after
        else:
            queue_run["first_child"][parent] = after
        if after >= 0:
            queue_run["previous"][after] = before
        is_busy = queue_run["first_child"][parent] >= 0
        q, parent = parent, sim.shown.queue["parent"][parent]
