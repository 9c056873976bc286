"""The engine against runs worked out by hand, as the reference simulator (tests/reference/test_worked_examples.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_trace import trace_of_example
from reference import worked_promises
from reference.every_example import every_example
from reference.worked_example import Example


@pytest.mark.parametrize("example", every_example(), ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(trace_of_example(worked))


def test_nodes_that_can_return_are_waited_for() -> None:
    # All are lost when the last job arrives; it runs to its end when one is back.
    assert trace_of_example(worked_promises.a_lost_node_shrinks_root()).outcome == "finished"
