"""The reference simulator against preemption worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from . import simulate
from .worked_example import Example
from .worked_preemption import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_reference(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(simulate(worked.workload, worked.cluster, worked.policy, seed=1, until_ms=worked.until_ms))
