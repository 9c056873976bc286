"""Stock YARN driven by knobs: the engine's runs equal the reference simulator's."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_trace import differences, engine_trace, policy_text
from heddle.model import cluster as model
from heddle.model.cluster import Queue
from reference import Policy, simulate
from reference.features import Features
from reference.random_policies import observations
from reference.random_workloads import pairs

UNTIL_MS = 60_000
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "30"))
NO_KNOBS = ("fair", "drf")  # nobody can change their queues while they run
POOLS = (Queue("root.pool-0", 500), Queue("root.pool-1", 500))
# No jobs after jobs: outside YARN a job has the number of its arrival. No random order, which is drawn by number. No
# admission-control: until an AM has asked nobody outside knows how large its tasks are; the reference's lever does.
FEATURES = {
    "plain": Features(ams=True),
    "oversold": Features(use=True, background=True, ams=True),
    "queues": Features(queues=True, ams=True),
    "oversold-queues": Features(queues=True, use=True, background=True, ams=True, faults=True),
    "labels": Features(queues=True, labels=True, use=True, ams=True, faults=True, decommissioning=True),
    "heartbeats": Features(heartbeats=True, ams=True, use=True, faults=True, background=True),
    "early": Features(heartbeats=True, ams=True, queues=True, early_stages=True, use=True),
}
policies = st.builds(
    Policy,
    admission=st.sampled_from(
        (
            ("admit-all", {}),
            ("am-share", {"percent": 0.3}),
            ("fair-am-share", {"percent": 0.3}),
            ("max-running", {"jobs": 2}),
        )
    ),
    sizing=st.sampled_from(
        (("reservation", {}), ("borg-default", {"fraction": 0.6}), ("usage-feedback", {}), ("n-sigma", {"samples": 3}))
    ),
    partition=st.sampled_from((("shared", {}), ("small-pool", {"share": 0.3, "theta": 0.3}))),
    ordering=st.sampled_from((("fifo", {}), ("smallest-first", {}), ("leaf-order", {}))),
    placement=st.just(("most-free", {})),
    queues=st.sampled_from((("one-leaf", {}), ("fair", {}), ("drf", {}), ("capacity", {}))),
)


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_engine_equals_reference(features: Features) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(pairs(features), policies, observations(), st.integers(0, 5))
    def compare(pair, policy, observation, seed):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        if policy.queues[0] in NO_KNOBS:  # refused by name with levers that would set its queues or priorities
            policy = dataclasses.replace(
                policy, admission=("admit-all", {}), partition=("shared", {}), ordering=("leaf-order", {})
            )
        if policy.partition[0] != "shared":
            cluster = dataclasses.replace(cluster, queues=(*cluster.queues, *POOLS))
        reference = simulate(
            workload, cluster, policy, seed, until_ms=UNTIL_MS, observation=observation, executor="yarn-knobs"
        )
        observed = dataclasses.replace(cluster, observation=model.Observation(**dataclasses.asdict(observation)))
        engine = engine_trace(workload, observed, policy, seed, UNTIL_MS, "yarn-knobs")
        found = differences(engine, reference)
        assert not found, "\n".join([policy_text(policy), str(observation), *found[:12]])

    compare()
