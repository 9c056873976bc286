"""The reference simulator against runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from . import worked_observation, worked_preemption, worked_starting_state
from .worked_example import Example

EXAMPLES = [*worked_observation.EXAMPLES, *worked_preemption.EXAMPLES, *worked_starting_state.EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_reference(example: Callable[[], Example]) -> None:
    worked = example()
    worked.check(worked.simulate())
