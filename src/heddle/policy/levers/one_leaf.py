"""No queues at all: what a plain FIFO and most papers assume."""

from __future__ import annotations

from heddle.policy.lever import Queues

ONE_LEAF = Queues(
    name="one-leaf",
    summary="no queues: all requests wait in one leaf, and there are no limits",
)
