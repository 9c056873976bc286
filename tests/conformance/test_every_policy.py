"""Every lever and preset that heddle ships is certified, and so are some combinations."""

from __future__ import annotations

import pytest

from heddle.experiments.conformance import cases, certify
from heddle.policy.papers import PAPERS, paper_policies
from heddle.policy.presets import LEVERS, PRESETS
from heddle.run import simulate

COMBINATIONS = (
    "drf+n-sigma(n=5)",
    "capacity+usage-feedback+best-fit",
    "fair+max-running(jobs=5)+small-pool(share=0.3)",
    "tetris+usage-feedback(damping=0.3)+am-share(percent=0.5)",
    "srpt+percentile(percent=99)+delay-locality",
    "capacity+admit-all",
    "capacity+network-aware(early=1)",
    "fair+network-aware(by=fetch)",
    "capacity+admission-control(rule=literal)",
    "haste-a(aggressiveness=0.5)+dress-pools+usage-feedback(side=worker, headroom=prototype)",
    "fair+dress-pools(basis=available)+admission-control",
    "haste(urgency=assigned)+usage-feedback(young_reports=3, forget=true)",
)


@pytest.mark.parametrize("policy", sorted({*LEVERS, *PRESETS, *COMBINATIONS, *paper_policies()}))
def test_is_certified(policy: str) -> None:
    assert certify(policy, seeds=1) == []


def test_papers_combine_in_every_way() -> None:
    assert len(set(paper_policies())) == 2 ** len(PAPERS)


@pytest.mark.parametrize("policy", [policy for policy in paper_policies() if "admission-control" in policy])
def test_with_admission_control_nothing_stalls(policy: str) -> None:
    """Also where a lever of the policy says of itself that it may."""
    for case in cases(seed=3):
        run = simulate(case.workload(), case.cluster, policy, seed=3)
        assert run.manifest["outcome"] == "finished", run.manifest["reason"]
