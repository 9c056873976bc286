"""`heddle compare`: paired runs, their summary, the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run

SMALL = "burst(jobs=10)"


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["compare", SMALL, "--json", "--on", "local:1", *arguments]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_document_has_runs_a_summary_and_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    document = compared(capsys, "--policy", "fifo", "--policy", "drf+n-sigma(n=3)", "--seeds", "2")
    assert document["baseline"] == "fifo"
    assert [(one["policy"], one["seed"]) for one in document["runs"]] == [
        ("fifo", 0),
        ("fifo", 1),
        ("drf+n-sigma(n=3)", 0),
        ("drf+n-sigma(n=3)", 1),
    ]
    row = next(
        one for one in document["summary"] if (one["policy"], one["metric"]) == ("drf+n-sigma(n=3)", "makespan_s")
    )
    assert {"mean", "ci95", "vs_baseline_pct", "vs_ci95"} <= row.keys()
    assert len(row["ci95"]) == len(row["vs_ci95"]) == 2
    assert row["pairs"] == 2


def test_each_seed_makes_a_built_in_workload_anew_and_all_policies_see_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = compared(capsys, "--policy", "fifo", "--policy", "fair", "--seeds", "2")["runs"]
    by_seed = {seed: {one["workload_hash"] for one in runs if one["seed"] == seed} for seed in (0, 1)}
    assert len(by_seed[0]) == len(by_seed[1]) == 1
    assert by_seed[0] != by_seed[1]


def test_processes_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--policy", "fifo", "--policy", "srpt", "--seeds", "2")
    alone = compared(capsys, *arguments)
    assert run(["compare", SMALL, "--json", "--on", "local:2", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == alone["summary"]


def test_baseline_and_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--policy", "fifo", "--policy", "drf", "--baseline", "drf", "--seeds", "1")
    document = compared(capsys, *arguments, "--cluster", "4x65536x24", "--cluster", "8x65536x24")
    assert document["baseline"] == "drf"
    assert {one["cluster"] for one in document["runs"]} == {"4x65536x24", "8x65536x24"}


def test_table_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.html"
    arguments = ["compare", SMALL, "--policy", "fifo", "--policy", "fair", "--seeds", "1", "--on", "local:1"]
    assert run([*arguments, "--report", str(report)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("On this one seed fair finishes jobs"), "the verdict comes first"
    assert str(report) in shown.err
    assert "</html>" in report.read_text()


def test_a_policy_that_stalls_claims_no_gain_and_the_exit_code_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", "am-storm", "--policy", "capacity", "--policy", "fifo", "--seeds", "1", "--on", "local:1"]
    assert run(arguments) == 1
    shown = capsys.readouterr()
    assert "stalled 1 of 1" in shown.out
    assert "am-deadlock" in shown.err
    assert run([*arguments, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    fifo = [row for row in document["summary"] if row["policy"] == "fifo"]
    assert {(row["mean"], row["vs_baseline_pct"], row["stalled_runs"], row["all_runs"]) for row in fifo} == {
        (None, None, 1, 1)
    }
    assert {row["above_bound_pct"] for row in fifo} == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "fifo", "--policy", "fifo(blocking=true)"], "given twice"),
        (["--policy", "fifo", "--baseline", "drf"], "not among the policies"),
        (["--policy", "fifo", "--policy", "nope", "--policy", "nil"], "unknown policy 'nil'"),
        (["--cluster", "2x4096x4", "--cluster", "2x4096x4"], "the same name"),
        (["--seeds", "0"], "--seeds"),
        (["--cluster", "1x16x1"], "no node is large enough"),
    ],
)
def test_bad_input_exits_with_2_and_prints_no_document(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", SMALL, "--json", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
