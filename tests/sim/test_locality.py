"""Placement that refuses nodes, or goes where data are: the engine against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_trace import engine_trace
from reference import worked_locality, worked_network_aware
from reference.worked_example import SEED, Example


@pytest.mark.parametrize(
    "example", [*worked_locality.EXAMPLES, *worked_network_aware.EXAMPLES], ids=lambda make: make.__name__
)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(engine_trace(worked.workload, worked.cluster, worked.policy, SEED, worked.until_ms))
