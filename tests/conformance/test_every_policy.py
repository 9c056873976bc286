"""Every lever and preset that heddle ships is certified, and so are some combinations."""

from __future__ import annotations

import pytest

from heddle.experiments.conformance import certify
from heddle.policy.presets import LEVERS, PRESETS

COMBINATIONS = (
    "drf+n-sigma(n=5)",
    "capacity+usage-feedback+best-fit",
    "fair+max-running(jobs=5)+small-pool(share=0.3)",
    "tetris+usage-feedback(damping=0.3)+am-share(percent=0.5)",
    "srpt+percentile(percent=99)+delay-locality",
    "capacity+admit-all",
    "capacity+network-aware(early=1)",
)


@pytest.mark.parametrize("policy", sorted({*LEVERS, *PRESETS, *COMBINATIONS}))
def test_is_certified(policy: str) -> None:
    assert certify(policy, seeds=1) == []
