"""Defaults from a file, quiet, completion, doctor: what all commands share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.cli.output import say


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_flags_win_over_the_file_and_the_file_over_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    Path("heddle.toml").write_text('[compare]\npolicy = ["drf", "fifo"]\nseeds = 1\nwarm-up = 2.5\non = "local:1"\n')
    document = compared(capsys, "compare", "burst(jobs=5)")
    assert document["baseline"] == "drf"
    assert {one["seed"] for one in document["runs"]} == {0}
    assert {one["warm_up_s"] for one in document["runs"]} == {2.5}
    document = compared(capsys, "compare", "burst(jobs=5)", "--seeds", "2", "--policy", "fair")
    assert {one["policy"] for one in document["runs"]} == {"fair"}
    assert {one["seed"] for one in document["runs"]} == {0, 1}


def test_another_file_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text('[simulate]\npolicy = "fair"\n[workload.show]\nseed = 3\n')
    assert compared(capsys, "--config", "mine.toml", "simulate", "burst(jobs=3)")["policy"] == "fair"
    assert compared(capsys, "simulate", "burst(jobs=3)")["policy"] == "fifo"


def test_unknown_settings_are_errors_with_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    Path("heddle.toml").write_text('quiet = 3\nbound = 1\n[compar]\n[simulate]\npolcy = "x"\n')
    assert run(["policies"]) == 2
    shown = capsys.readouterr().err
    assert 'did you mean "compare"' in shown
    assert 'did you mean "policy"' in shown
    assert "quiet: must be true or false" in shown
    assert "bound: expected a table" in shown
    Path("heddle.toml").write_text("[compare\n")
    assert run(["policies"]) == 2
    assert "not TOML" in capsys.readouterr().err
    assert run(["--config", "nowhere.toml", "policies"]) == 2


@pytest.mark.parametrize("where", ["before", "after", "file"])
def test_quiet_leaves_results_and_errors(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["workload", "make", "burst(jobs=3)", "-o", "made.parquet"]
    if where == "file":
        Path("heddle.toml").write_text("quiet = true\n")
    quiet = {"before": ["-q", *arguments], "after": [*arguments, "--quiet"], "file": arguments}[where]
    assert run(quiet) == 0
    assert capsys.readouterr().err == ""
    Path("heddle.toml").unlink(missing_ok=True)
    assert run(arguments) == 0
    assert "wrote" in capsys.readouterr().err, "quiet holds for one command only"
    assert run(["--quiet", "simulate", "nope"]) == 2
    assert "nope" in capsys.readouterr().err
    say("silent")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("heddle com", "compare"),
        ("heddle sweep s", "show"),
        ("heddle simulate bur", "burst"),
        ("heddle compare --policy fifo+n-s", "fifo+n-sigma"),
        ("heddle compare --bas", "--baseline"),
    ],
)
def test_shells_complete_commands_options_and_names(words: str, expected: str) -> None:
    asked = {"_HEDDLE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv = ['heddle']; from heddle.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert expected in done.stdout.splitlines()


def test_typing_errors_get_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["comparee"]) == 2
    assert "compare" in capsys.readouterr().err.partition("comparee")[2]
    assert run(["compare", "--polcy", "fifo"]) == 2
    assert "--policy" in capsys.readouterr().err


def test_doctor_looks_at_everything(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    document = compared(capsys, "doctor")
    assert document["well"] is True
    seen = {one["what"]: one["state"] for one in document["findings"]}
    assert {"Python", "heddle", "numba", "cores", "memory", "cache", "Java", "Hadoop", "OR-tools"} <= seen.keys()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    seen = {one["what"]: one["state"] for one in compared(capsys, "doctor")["findings"]}
    assert seen["Java"] == "absent"
    monkeypatch.setattr("heddle.cli.doctor._NEEDED", ("no-such-package",))
    assert run(["doctor"]) == 1
    assert "not installed" in capsys.readouterr().out
