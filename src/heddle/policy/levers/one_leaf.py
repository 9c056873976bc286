"""No queues at all: what a plain FIFO and most papers assume."""

from __future__ import annotations

from heddle.policy.lever import Lever, Question

ONE_LEAF = Lever(
    name="one-leaf",
    question=Question.QUEUES,
    summary="no queues: all requests wait in one leaf, and there are no limits",
    hooks={},
)
