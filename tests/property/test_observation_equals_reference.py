"""With reports that come late, by polls or never, the engine's runs still equal the reference simulator's."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_trace import differences, engine_trace, policy_text
from heddle.model import cluster as model
from reference import simulate
from reference.features import Features
from reference.random_policies import observations, policies
from reference.random_workloads import pairs

UNTIL_MS = 60_000
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "30"))
READS_REPORTS = ("borg-default", "usage-feedback", "n-sigma", "percentile", "max-predictor")
FEATURES = {
    "oversold": Features(use=True, background=True),
    "faulty": Features(use=True, background=True, faults=True),
    "heartbeats": Features(heartbeats=True, ams=True, use=True, background=True, faults=True),
    "spark": Features(ams=True, dag=True, executors=True, use=True, background=True),
}


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_engine_equals_reference(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies(), st.sampled_from(READS_REPORTS), observations(), st.integers(0, 5))
    def compare(pair, policy, sizing, observation, seed):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        parameters = {"samples": 3} if sizing in ("n-sigma", "percentile", "max-predictor") else {}
        fair = ("leaf-order", {"default": "fair"})
        policy = dataclasses.replace(policy, sizing=(sizing, parameters), ordering=fair, queues=("fair", {}))
        reference = simulate(workload, cluster, policy, seed, until_ms=UNTIL_MS, observation=observation)
        observed = dataclasses.replace(cluster, observation=model.Observation(**dataclasses.asdict(observation)))
        found = differences(engine_trace(workload, observed, policy, seed, UNTIL_MS), reference)
        assert not found, "\n".join([policy_text(policy), str(observation), *found[:12]])

    compare()
