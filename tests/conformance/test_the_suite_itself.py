"""The suite must be able to fail: levers that break its rules are caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.experiments.conformance import certify

BROKEN = '''
from heddle.policy.lever import ordering, sizing

calls = []

@ordering()
def moody(view, state, params, stage):
    """Another order each time it is asked: cannot be compiled, and is not deterministic."""
    calls.append(stage)
    return (len(calls) * 7919) % 101

@ordering()
def by_row(view, state, params, stage):
    """Not broken: submission order by another name."""
    return view.stage_spec["job"][stage]
'''


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_a_policy_that_changes_its_mind_is_not_certified(broken: Path) -> None:
    failures = certify(f"{broken}:moody", seeds=1)
    assert "it is not deterministic" in {failure.rule for failure in failures}


def test_a_users_own_policy_is_certified(broken: Path) -> None:
    assert certify(f"{broken}:by_row", seeds=1) == []
