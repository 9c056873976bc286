"""On random small workloads the compiled engine's every start, finish and crash equals the reference simulator's.

The reference (tests/reference) was written from docs/semantics.md by somebody who had not seen the engine.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_trace import differences, engine_trace, policy_text
from reference import simulate
from reference.features import Features
from reference.random_policies import policies
from reference.random_workloads import pairs

UNTIL_MS = 200_000  # some runs never end: nodes that come and go
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "60"))

FEATURES = {
    "plain": Features(),
    "heartbeats": Features(heartbeats=True, ams=True, dag=True),
    "map-reduce": Features(heartbeats=True, ams=True, dag=True, early_stages=True),
    "ideal-map-reduce": Features(ams=True, dag=True, early_stages=True, faults=True, use=True),
    "oversold": Features(use=True, background=True),
    "spark-and-queues": Features(
        heartbeats=True, ams=True, dag=True, executors=True, queues=True, labels=True, gpu=True, locality=True
    ),
    "oversold-spark": Features(heartbeats=True, ams=True, dag=True, executors=True, use=True, background=True),
    "ideal-faulty-spark": Features(ams=True, dag=True, executors=True, use=True, background=True, faults=True),
    "map-reduce-that-crashes": Features(heartbeats=True, ams=True, dag=True, early_stages=True, use=True, faults=True),
    "preemption": Features(heartbeats=True, ams=True, dag=True, queues=True, preemption=True, executors=True),
    "ideal-preemption": Features(ams=True, queues=True, preemption=True, use=True, early_stages=True),
    "network": Features(dag=True, locality=True, network=True),
    "network-map-reduce": Features(
        heartbeats=True, ams=True, dag=True, early_stages=True, locality=True, network=True, use=True, faults=True
    ),
    "ideal-network-spark": Features(
        ams=True, dag=True, executors=True, locality=True, network=True, use=True, faults=True, background=True
    ),
    "network-and-preemption": Features(heartbeats=True, dag=True, queues=True, preemption=True, network=True),
    "faulty-and-oversold": Features(heartbeats=True, use=True, background=True, faults=True),
    "queues-that-follow": Features(heartbeats=True, ams=True, queues=True, use=True, background=True, faults=True),
    "ideal-queues-that-follow": Features(
        ams=True, queues=True, preemption=True, use=True, background=True, faults=True
    ),
    "labels": Features(
        heartbeats=True, ams=True, dag=True, queues=True, labels=True, preemption=True, use=True, faults=True
    ),
    "decommissioned-labels": Features(
        ams=True, dag=True, queues=True, labels=True, preemption=True, use=True, executors=True, decommissioning=True
    ),
    "decommissioned": Features(
        heartbeats=True, ams=True, dag=True, queues=True, network=True, use=True, faults=True, decommissioning=True
    ),
    "queues-of-map-reduce": Features(heartbeats=True, ams=True, dag=True, early_stages=True, queues=True, labels=True),
}


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_engine_equals_reference(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies(), st.integers(0, 5))
    def compare(pair, policy, seed):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        reference = simulate(workload, cluster, policy, seed, until_ms=UNTIL_MS)
        engine = engine_trace(workload, cluster, policy, seed, UNTIL_MS)
        found = differences(engine, reference)
        assert not found, "\n".join([policy_text(policy), *found[:12]])

    compare()
