"""Nodes that the Fair scheduler keeps: the engine against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_trace import engine_trace
from reference.worked_example import SEED, Example
from reference.worked_fair_reservations import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(engine_trace(worked.workload, worked.cluster, worked.policy, SEED, worked.until_ms))
