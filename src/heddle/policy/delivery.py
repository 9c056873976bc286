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
NOTHING: Final = 0  # when it asks for totals again, depends_on says
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


class Arguments(NamedTuple):
    """What on_event gets with a kind of event; where a name is left out, it is -1 (and `value` 0)."""

    names: tuple[str, ...]
    value: str  # what it counts; empty: it is 0
    view: str  # what the view says at that moment


_THE_CONTAINER: Final = ("node", "stage", "container")
_REPORTS_MADE: Final = "reports its node made since the allocation"
_ENDED: Final = (
    "what it reserved is given back; its row, and its place on the node, are there until all levers have heard. "
    'stage["done"] counts it only later in the simulator, live already'
)

ARGUMENTS: Final[Mapping[int, Arguments]] = {
    EVENT_ARRIVED: Arguments(
        ("stage",), "", "the job is JOB_ARRIVED; what it asks for follows in the simulator, and is there live"
    ),
    EVENT_ALLOCATED: Arguments(_THE_CONTAINER, "", "counts the container everywhere, but for the node's total"),
    EVENT_STARTED: Arguments(_THE_CONTAINER, "", 'container["started_at_ms"] says since when'),
    EVENT_FINISHED: Arguments(_THE_CONTAINER, _REPORTS_MADE, _ENDED),
    EVENT_STOPPED: Arguments(_THE_CONTAINER, _REPORTS_MADE, _ENDED),
    EVENT_REPORTED: Arguments(
        ("node",), "this many reports in a row said the same", "holds the report: used, containers_used, reported_at_ms"
    ),
    EVENT_NODE_LOST: Arguments(("node",), "", "the node is not alive; its containers are still counted"),
    EVENT_NODE_RETURNED: Arguments(("node",), "", "the node is alive"),
    EVENT_INNER_FINISHED: Arguments(_THE_CONTAINER, "", 'stage["held"] no longer counts the task'),
    EVENT_FETCHED: Arguments(_THE_CONTAINER, "", "nothing in it has changed"),
    EVENT_TICK: Arguments((), "", 'clock["now_ms"] is a multiple of every_ms; live, the first poll at or after one'),
}
