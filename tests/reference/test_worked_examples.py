"""The reference simulator against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from . import worked_promises
from .every_example import every_example
from .knobs import priority_of
from .worked_example import Example


@pytest.mark.parametrize("example", every_example(), ids=lambda make: make.__name__)
def test_reference(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(worked.simulate())


def test_nodes_that_can_return_are_waited_for() -> None:
    # All are lost when the last job arrives; it runs to its end when one is back.
    assert worked_promises.a_lost_node_shrinks_root().simulate().outcome == "finished"


def test_ranks_become_priorities() -> None:
    # Up to eleven ranks have a priority of their own, 10 to 0; 22 ranks share them by twos.
    assert [priority_of(rank, 3) for rank in range(3)] == [10, 9, 8]
    assert [priority_of(rank, 11) for rank in (0, 10)] == [10, 0]
    assert [priority_of(rank, 22) for rank in (0, 1, 2, 20, 21)] == [10, 10, 9, 0, 0]
