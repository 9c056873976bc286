"""Which events reach the lever of a question, and what its answer to one means: the same in both hosts.

The simulator reads it in sim/scheduling/events.py, a live cluster in yarn/live/levers.py. A lever that listens to
anything else is refused when it is declared, so that no event is waited for in vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FETCHED,
    EVENT_FINISHED,
    EVENT_INNER_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STARTED,
    EVENT_STOPPED,
    EVENT_TICK,
)
from heddle.policy.question import Question

# What an answer of 1 means to the host.
NOTHING: Final = 0  # it asks again in any case
LOOK_AGAIN: Final = 1  # who was refused before may be let through now
NEW_KEYS: Final = 2  # all keys are asked for anew


class Delivery(NamedTuple):
    kinds: frozenset[int]
    one_means: int


_EVERY: Final = frozenset(
    {
        EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_STARTED, EVENT_FETCHED, EVENT_FINISHED, EVENT_STOPPED,
        EVENT_INNER_FINISHED, EVENT_NODE_LOST, EVENT_NODE_RETURNED, EVENT_TICK,
    }
)  # fmt: skip

DELIVERY: Final[Mapping[Question, Delivery]] = {
    Question.QUEUES: Delivery(_EVERY, LOOK_AGAIN),
    Question.ORDERING: Delivery(_EVERY, NEW_KEYS),
    Question.ADMISSION: Delivery(_EVERY, LOOK_AGAIN),
    Question.SIZING: Delivery(_EVERY | {EVENT_REPORTED}, NOTHING),
    Question.PARTITION: Delivery(_EVERY | {EVENT_REPORTED}, LOOK_AGAIN),
    Question.PLACEMENT: Delivery(_EVERY, LOOK_AGAIN),
}

OF_TRUTH: Final = frozenset({EVENT_INNER_FINISHED})
"""No scheduler sees these: only levers that declare a truth may listen to them."""
