"""The bridge's decision core in a Java of its own, driven by lines (CoreDriver.java)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.testbed.bridge.jar import RELEASE, core_sources
from heddle.yarn.testbed.local.java import find_tool
from heddle.yarn.testbed.local.own_jar import jar_of

DRIVER = Path(__file__).with_name("CoreDriver.java")


def run_core(lines: list[str]) -> list[str]:
    """What the core answers, a line for each table and each choice."""
    try:
        jar = jar_of("core-driver", [*core_sources(), DRIVER], "none", "", RELEASE)
        java = find_tool("java")
    except RunRefused as refused:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(refused))
    command = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar, "heddle.bridge.CoreDriver"]
    ran = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def table_lines(text: str) -> list[str]:
    lines = text.splitlines()
    return [f"table {len(lines)}", *lines]
