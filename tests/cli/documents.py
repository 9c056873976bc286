"""What a command prints with --json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.schemas import valid
from heddle.cli.main import run


def document(capsys: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    """Held against its schema."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == exit_code
    found: dict[str, Any] = valid(command_of(arguments), json.loads(capsys.readouterr().out))
    return found


def command_of(arguments: tuple[str, ...]) -> str:
    """`traces import` of a command line that begins so; groups have no document of their own."""
    groups = ("workload", "traces", "cluster", "sweep", "yarn")
    return " ".join(arguments[: 2 if arguments[0] in groups else 1])
