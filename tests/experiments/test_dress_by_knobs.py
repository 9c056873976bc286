"""DRESS on a storm of AMs: moved to pools, they still count where others wait, so that knobs do as the policy does."""

from __future__ import annotations

import pytest

from heddle.analysis.comparison.effects import AGREE_PCT
from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.effects.scenes import built_in
from heddle.run import simulate
from heddle.traces.catalogue import make_workload

STORM = "am-storm"


ASKED = "dress-pools(demand=asked)+smallest-first"  # outside nobody knows what jobs will want before their AMs ask


@pytest.mark.parametrize("policy", ["capacity+dress", f"capacity+{ASKED}", f"capacity+{ASKED}+admission-control"])
def test_knobs_agree_with_the_policy_on_a_storm_of_ams(policy: str) -> None:
    scene, means = built_in(STORM), {}
    for executor in ("native", "yarn-knobs"):
        run = simulate(make_workload(STORM, 0), scene.cluster, policy, seed=0, executor=executor)
        assert run.manifest["outcome"] == "finished", executor
        means[executor] = run_metrics(run)["jct_s"]["mean"]
    assert abs(means["yarn-knobs"] / means["native"] - 1) <= AGREE_PCT / 100
