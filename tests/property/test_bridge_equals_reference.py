"""Stock YARN with the bridge: the engine's runs equal the reference simulator's."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_trace import differences, engine_trace, policy_text
from heddle.model import cluster as model
from reference import Policy, simulate
from reference.features import Features
from reference.random_policies import observations
from reference.random_workloads import pairs

UNTIL_MS = 60_000
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "12"))
# As under knobs: no jobs after jobs, for outside YARN a job has the number of its arrival. No decommissioning: a node
# that is first seen while it leaves is small to whoever sees it.
FEATURES = {
    "plain": Features(ams=True),
    "early": Features(ams=True, early_stages=True, executors=True),
    "queues": Features(queues=True, ams=True, use=True, background=True, faults=True),
    "labels": Features(queues=True, labels=True, ams=True),
    "heartbeats": Features(heartbeats=True, ams=True, queues=True),
    "heartbeats-faults": Features(heartbeats=True, ams=True, use=True, faults=True, background=True, early_stages=True),
}
policies = st.builds(
    Policy,
    admission=st.sampled_from((("admit-all", {}), ("am-share", {"percent": 0.3}), ("max-running", {"jobs": 2}))),
    sizing=st.sampled_from((("reservation", {}), ("usage-feedback", {}))),
    partition=st.just(("shared", {})),
    ordering=st.sampled_from(
        (
            ("smallest-first", {}),
            ("ffd-dp", {}),
            ("ffd-dp", {"ties": "even"}),
            ("haste", {}),
            ("haste", {"initial": 0, "urgency": "assigned"}),
            ("haste", {"fitness": 0, "progress": "finished"}),
            ("haste", {"hold_reduces": 1}),
            ("haste-a", {}),
            ("haste-a", {"aggressiveness": 3, "urgency": "none"}),
        )
    ),
    placement=st.just(("most-free", {})),
    queues=st.sampled_from((("one-leaf", {}), ("capacity", {}), ("capacity", {}))),
)


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_engine_equals_reference(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies, observations(), st.sampled_from((1, 30, 400)), st.integers(0, 5))
    def compare(pair, policy, observation, latency_ms, seed):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        observation = dataclasses.replace(observation, latency_ms=latency_ms)
        reference = simulate(
            workload, cluster, policy, seed, until_ms=UNTIL_MS, observation=observation, executor="bridge"
        )
        observed = dataclasses.replace(cluster, observation=model.Observation(**dataclasses.asdict(observation)))
        engine = engine_trace(workload, observed, policy, seed, UNTIL_MS, "bridge")
        found = differences(engine, reference)
        assert not found, "\n".join([policy_text(policy), str(observation), *found[:12]])

    compare()
