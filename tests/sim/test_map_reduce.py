"""When reduces are asked for: the engine against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_trace import beginning_with_its_containers, engine_trace
from reference.worked_example import SEED, Example
from reference.worked_map_reduce import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    workload = beginning_with_its_containers(worked)
    worked.check(engine_trace(workload, worked.cluster, worked.policy, SEED, worked.until_ms))
