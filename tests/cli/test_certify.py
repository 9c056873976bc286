"""`heddle certify POLICY|FILE:NAME`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run

STALE = '''
from heddle.policy.lever import ordering

@ordering()
def oldest_wait(view, state, params, stage):
    """who has waited longest goes first"""
    return view.stage["asked_at_ms"][stage] - view.stage["held"][stage]
'''


def test_certifies_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["certify", "fair", "--seeds", "1", "--json"]) == 0
    found = valid("certify", json.loads(capsys.readouterr().out))
    assert found.items() >= {"policy": "fair", "certified": True, "failures": [], "not_live_because": []}.items()


def test_says_which_rule_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(STALE)
    assert run(["certify", f"{path}:oldest_wait", "--seeds", "1"]) == 1
    said = capsys.readouterr().out
    assert "not certified" in said
    assert f"  {path}:7: it must declare what it reads (workload heartbeats-0): " in said
    assert 'key reads view.stage["held"]' in said


def test_wants_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["certify"]) == 2
    assert "POLICY" in capsys.readouterr().err
