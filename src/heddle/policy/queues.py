"""Limits of the queue tree that several orderings share."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason

QUEUE_LIMIT = int(Reason.QUEUE_LIMIT)


@callable_too
def above_maximum(view, stage):
    """QUEUE_LIMIT if one more container would take the stage's queue, or one above it, over its maximum; else 0."""
    shape = view.stage_spec["shape"][stage]
    queue = view.stage["queue"][stage]
    while queue >= 0:
        for r in range(view.shape["demand"].shape[1]):
            after = view.queue["allocated"][queue, r] + view.shape["demand"][shape, r]
            if view.clock["counts"][0, r] and after > view.queue["maximum"][queue, r]:
                return QUEUE_LIMIT
        queue = view.queue["parent"][queue]
    return 0


@callable_too
def above_maximum_of_its_own(view, stage):
    """The same; but a queue that may have all that there is has no maximum."""
    shape = view.stage_spec["shape"][stage]
    queue = view.stage["queue"][stage]
    while queue >= 0:
        for r in range(view.shape["demand"].shape[1]):
            most = view.queue["maximum"][queue, r]
            after = view.queue["allocated"][queue, r] + view.shape["demand"][shape, r]
            if view.clock["counts"][0, r] and most < view.clock["total"][0, r] and after > most:
                return QUEUE_LIMIT
        queue = view.queue["parent"][queue]
    return 0
