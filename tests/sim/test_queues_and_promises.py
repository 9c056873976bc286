"""Queues with any ordering, and what they share out: the engine against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_trace import engine_trace
from reference import worked_amounts, worked_labels, worked_promises, worked_queues
from reference.worked_example import SEED, Example

EXAMPLES = [
    *worked_queues.EXAMPLES,
    *worked_amounts.EXAMPLES,
    *worked_promises.EXAMPLES,
    *worked_labels.EXAMPLES,
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(engine_trace(worked.workload, worked.cluster, worked.policy, SEED, worked.until_ms))


def test_nodes_that_can_return_are_waited_for() -> None:
    # All are lost when the last job arrives; it runs to its end when one is back.
    worked = worked_promises.a_lost_node_shrinks_root()
    trace = engine_trace(worked.workload, worked.cluster, worked.policy, SEED, worked.until_ms)
    assert trace.outcome == "finished"
