"""What a command prints with --json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heddle.cli.main import run


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found
