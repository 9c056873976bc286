"""`heddle simulate`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.record.files import read_record

CSV = "job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,1024\na,0,1000,1,1024\nb,10,500,1,1024\n"


@pytest.fixture
def tasks(tmp_path: Path) -> str:
    path = tmp_path / "tasks.csv"
    path.write_text(CSV)
    return str(path)


def test_json_is_one_document_and_has_what_was_promised(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", tasks, "--policy", "drf", "--cluster", "1x2048x2", "--seed", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    promised = (
        "policy seed outcome reason jobs tasks makespan_s jct_s wait_s slowdown crashed_tasks killed_tasks "
        "retried_tasks failed_jobs utilisation allocation_efficiency fairness wall_s tasks_per_s peak_rss_mb"
    )
    assert set(promised.split()) <= document.keys()
    assert (document["policy"], document["seed"], document["outcome"]) == ("drf", 3, "finished")
    assert (document["jobs"], document["tasks"], document["makespan_s"]) == (2, 3, 1.5)
    assert document["utilisation"]["memory"]["used"] is None


def test_a_table_without_json(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", tasks, "--cluster", "1x2048x2", "--check"]) == 0
    shown = capsys.readouterr()
    assert "1.50 s" in shown.out
    assert "all invariants hold" in shown.err


def test_a_stalled_run_exits_with_1_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "am-storm", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "stalled"
    assert document["reason"].startswith("am-deadlock")
    assert document["makespan_s"] is None


def test_a_record_is_written(tasks: str, tmp_path: Path) -> None:
    assert run(["simulate", tasks, "--cluster", "1x2048x2", "--record", str(tmp_path / "record")]) == 0
    assert read_record(tmp_path / "record").attempts.height == 3


def test_all_problems_of_all_inputs_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "missing.csv", "--policy", "fifoo", "--cluster", "tiny"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert 'did you mean "fifo"' in shown.err
    assert "missing.csv: no such file" in shown.err
    assert "tiny: not a cluster" in shown.err


def test_a_file_needs_a_cluster(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", tasks]) == 2
    assert "--cluster" in capsys.readouterr().err


def test_a_task_larger_than_any_node(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", tasks, "--cluster", "1x512x1"]) == 2
    assert "no node is large enough" in capsys.readouterr().err


def test_what_no_knob_of_yarn_can_do_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "mix", "--policy", "tetris+random-node", "--executor", "yarn-knobs"]) == 2
    said = capsys.readouterr().err
    assert "tetris chooses a request for each node" in said
    assert "random-node chooses nodes" in said


def test_stock_yarn_can_be_driven_by_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "mix", "--policy", "usage-feedback", "--executor", "yarn-knobs", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["executor"] == "yarn-knobs"


def test_stock_yarn_may_have_the_bridge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "mix", "--policy", "capacity+haste", "--executor", "bridge", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["executor"] == "bridge"


def test_a_failed_check_exits_with_1(
    tasks: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heddle.run_check.Watch.broken", lambda *_, **__: ["the clock runs backwards"])
    assert run(["simulate", tasks, "--cluster", "1x2048x2", "--check"]) == 1
    assert "check failed: the clock runs backwards" in capsys.readouterr().err


def test_a_record_is_not_written_over_something_else(tasks: str, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter.txt").write_text("keep me")
    assert run(["simulate", tasks, "--cluster", "1x2048x2", "--record", str(tmp_path / "precious")]) == 2
    assert [entry.name for entry in (tmp_path / "precious").iterdir()] == ["letter.txt"]


def test_one_run_can_have_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, policy, said in (("mix(jobs=10)", "capacity", "Nothing was compared"), ("am-storm", "fifo", "stalled")):
        report = tmp_path / "report.html"
        run(["simulate", name, "--policy", policy, "--seed", "3", "--report", str(report)])
        text = report.read_text()
        assert said in text
        assert "Delayed jobs, and why" in text
        assert "Who got worse" not in text


def test_a_missing_file_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("simulate", "bound"):
        assert run([command, "nowhere.csv"]) == 2
        assert [line for line in capsys.readouterr().err.splitlines() if "error" in line] == [
            "error: nowhere.csv: no such file"
        ]


def test_how_a_file_had_to_be_read_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, kept = tmp_path / "tasks.csv", str(tmp_path / "kept.parquet")
    path.write_text(CSV.replace(",", ";"))
    assert run(["workload", "make", str(path), "-o", kept]) == 0
    assert f"note: {path} is separated by semicolons" in capsys.readouterr().err
    assert run(["simulate", kept, "-c", "1x8GBx4", "-p", "fifo"]) == 0
    assert "separated" not in capsys.readouterr().err


def test_choosing_shows_its_changes(capsys: pytest.CaptureFixture[str]) -> None:
    candidate = "capacity+usage-feedback(young_reports=2)"
    options = ["--choose", "--candidate", candidate, "--horizon", "1m", "--check"]
    assert run(["simulate", "phases(phase_s=45)", "--policy", "capacity", *options]) == 0
    shown = capsys.readouterr()
    assert "changes of policy" in shown.out
    assert "usage-feedback" in shown.out
    assert "all invariants hold" in shown.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--candidate", "fifo"], "only applies with --choose"),
        (["--every", "30s"], "only applies with --choose"),
        (["--choose", "--executor", "native"], "needs yarn-knobs"),
        (["--choose", "--every", "often"], "not a length of time"),
        (["--choose", "--policy", "capacity", "--candidate", "fair"], "another scheduler"),
        (["--choose", "--policy", "capacity", "--candidate", "capacity+haste"], "haste"),
    ],
)
def test_what_cannot_be_chosen_is_said(
    tasks: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", tasks, "--cluster", "1x2048x2", *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    [
        ["simulate", f"{'x' * 300}.csv"],
        ["simulate", "mix", "--cluster", f"{'x' * 300}.yaml"],
        ["simulate", "mix", "--policy", f"./{'x' * 300}.py:lever"],
        ["simulate", "mix", "--record", "x" * 300],
        ["sweep", "run", f"{'x' * 300}.yaml", "-o", "out"],
        ["explain", "x" * 300],
    ],
)
def test_a_name_that_no_file_can_have_is_bad_input(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked) == 2
    error = capsys.readouterr().err
    assert "x" * 300 in error.replace("\n", "")
    assert "Traceback" not in error
