"""`heddle policies NAME --certify`."""

from __future__ import annotations

import json

import pytest

from heddle.cli.main import run


def test_certifies_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies", "fair", "--certify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"policy": "fair", "certified": True, "failures": []}


def test_wants_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies", "--certify"]) == 2
    assert "name the policy" in capsys.readouterr().err
