"""Help, lists, and what every command has in common."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import heddle.run
from heddle.cli.main import run
from heddle.policy.presets import LEVERS
from heddle.traces.load import load_workload

COMMANDS = [
    ["policies"],
    ["workload", "list"],
    ["workload", "show"],
    ["workload", "make"],
    ["simulate"],
    ["compare"],
    ["explain"],
    ["sweep", "run"],
    ["sweep", "show"],
    ["bound"],
    ["cluster", "import"],
    ["doctor"],
    ["bench"],
    ["efficiency"],
    ["ledger"],
    ["advise"],
    *(
        ["traces", tool]
        for tool in ("import", "formats", "describe", "slice", "scale", "sample", "export", "fit", "share")
    ),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_and_takes_json(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"heddle {' '.join(command)}" in shown.partition("Example")[2]
    assert "--json" in shown


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from heddle.cli.main import run; run(['--help']); "
        "print([name for name in ('numba', 'numpy', 'polars', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_unknown_commands_and_options_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulat"]) == 2
    assert run(["policies", "--nope"]) == 2
    assert capsys.readouterr().out == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip().count(".") == 2


def test_policies_lists_every_lever(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {lever["name"] for lever in document["levers"]} == set(LEVERS)
    assert document["defaults"]["ordering"] == "fifo"
    assert run(["policies"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in LEVERS)


def test_one_policy_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies", "n-sigma(n=3)", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    sizing = next(lever for lever in document["levers"] if lever["question"] == "sizing")
    assert next(one["value"] for one in sizing["parameters"] if one["name"] == "n") == 3
    assert run(["policies", "capacity"]) == 0
    assert "am-share" in capsys.readouterr().out
    assert run(["policies", "nsigma"]) == 2
    assert 'did you mean "n-sigma"' in capsys.readouterr().err


def test_workloads_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workload", "list", "--json"]) == 0
    names = {one["name"] for one in json.loads(capsys.readouterr().out)["workloads"]}
    assert {"mix", "burst", "am-storm", "over-reserved-day", "network-dags", "phases"} <= names
    assert run(["workload", "show", "burst(jobs=7)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 7
    assert run(["workload", "show", "burst"]) == 0
    assert "burst" in capsys.readouterr().out


def test_a_made_workload_is_the_built_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.parquet"
    assert run(["workload", "make", "burst(jobs=7)", "-o", str(path), "--seed", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == str(path)
    assert load_workload(str(path)).jobs.tobytes() == load_workload("burst(jobs=7)", 2).jobs.tobytes()
    assert run(["workload", "make", "burst", "-o", str(tmp_path / "made.csv")]) == 2
    assert not (tmp_path / "made.csv").exists()


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(heddle.run, "run_engine", interrupt)
    assert run(["simulate", "mix", "--record", str(tmp_path / "record")]) == 130
    assert list(tmp_path.iterdir()) == []
    assert "interrupted" in capsys.readouterr().err


def test_bench_says_where_its_rivals_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("heddle.cli.bench.__file__", "/nowhere/lib/heddle/cli/bench.py")
    assert run(["bench", "--quick"]) == 2
    assert "source checkout" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_in_a_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "policies"]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert "No space left on device" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("group", [(), ("yarn",), ("traces",), ("workload",), ("cluster",), ("sweep",)])
def test_lists_of_commands_are_not_cut(
    group: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*group, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = lines[lines.index("Commands:") :]
    assert len(listed) > 1
    assert not [line for line in listed if line.endswith("...")]
