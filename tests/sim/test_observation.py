"""Usage reports that come late, by polls or never: the engine against runs worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from engine_trace import engine_trace
from heddle.model import cluster as model
from reference import worked_instants, worked_observation
from reference.worked_example import SEED, Example

EXAMPLES = [*worked_instants.EXAMPLES, *worked_observation.EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    observation = model.Observation(**dataclasses.asdict(worked.observation))
    cluster = dataclasses.replace(worked.cluster, observation=observation)
    worked.check(engine_trace(worked.workload, cluster, worked.policy, SEED, worked.until_ms))
