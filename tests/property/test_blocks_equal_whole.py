"""Jobs that come in blocks: on random small workloads every row of the log, every attempt and every job is as it is
where all jobs are in memory. Blocks are so small that rows are used again all the time."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from engine_trace import policy_text
from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from in_blocks import compared, in_order
from reference.features import Features
from reference.random_policies import policies
from reference.random_workloads import pairs
from test_engine_equals_reference import FEATURES

UNTIL_MS = 200_000
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "30"))


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_blocks_equal_whole(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies(), st.integers(0, 5), st.integers(1, 12))
    def compare(pair, policy, seed, tasks):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        assume(in_order(workload))
        try:
            told = compared(workload, cluster, parse_policy(policy_text(policy)), seed, tasks, UNTIL_MS)
        except RunRefused:
            event("refused")
            return
        event(f"{min(4, len(told.windows))} windows")

    compare()
