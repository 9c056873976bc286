"""A lever that never answers ends the command, by itself or by Ctrl-C, with its line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENDLESS = """\
from heddle.policy.lever import ordering


@ordering()
def endless(view, state, params, stage):
    n = view.stage["held"][stage]
    while n >= 0:
        n = n // 2
    return n
"""
# Whoever starts the tests in the background has interrupts ignored, also in what the tests start.
COMMAND = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from heddle.cli.main import main; main()",
]


@pytest.fixture
def lever(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(ENDLESS)
    return f"{tmp_path / 'mine.py'}:endless"


@pytest.mark.parametrize(
    "words", [["simulate", "burst"], ["compare", "burst", "-p", "fifo", "--seeds", "2", "--on", "local:2"]]
)
def test_it_is_ended_after_the_time_that_was_given(words: list[str], lever: str) -> None:
    command = [*COMMAND, *words, "--policy", lever, "--lever-timeout", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "mine.py:4: endless has not returned for 1 s (--lever-timeout)" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_it(lever: str) -> None:
    """Sent too early, before the lever is at work, it only ends Python: then again, later."""
    for wait_s in (8, 30, 120):
        code, said = interrupted_after(
            wait_s, [*COMMAND, "simulate", "burst", "--policy", lever, "--lever-timeout", "900", "--json"]
        )
        assert code == 130
        if "which did not return" in said:
            break
    assert "mine.py:4: endless" in json.loads(said.splitlines()[-1])["error"]["problems"][0]["what"]


def interrupted_after(wait_s: float, command: list[str]) -> tuple[int, str]:
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        time.sleep(wait_s)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
        return process.returncode, said
