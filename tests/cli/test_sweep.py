from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from browser.chromium import Chromium
from heddle.cli.main import run
from heddle.experiments import sweep_run

SWEEP = """
name: sizing
workloads: ["burst(jobs=12)"]
policies: [fifo, "fifo+n-sigma(n={n})"]
loads: [1, 2, 3]
parameters: {n: [2, 4]}
clusters: [1x65536x24]
seeds: 3
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "sizing.yaml").write_text(SWEEP)
    assert run(["sweep", "run", str(folder / "sizing.yaml"), "-o", str(folder / "out"), "--on", "local:1"]) == 0
    return folder / "out"


def test_running_again_runs_nothing(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    file = str(results.parent / "sizing.yaml")
    assert run(["sweep", "run", file, "-o", str(results), "--on", "local:2", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["ran_now"]) == (27, 0)


def test_a_run_that_fails_is_kept_with_its_error_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "small.yaml", tmp_path / "out"
    file.write_text("workloads: ['burst(jobs=4)']\npolicies: [fifo, fair]\nclusters: [1x65536x24]\nseeds: 3\n")
    whole = sweep_run.run_row

    def fails_once(one: sweep_run.SweepRun) -> dict[str, Any]:
        if (one.policy, one.seed) == ("fair", 1):
            raise ZeroDivisionError("of all things")
        return whole(one)

    monkeypatch.setattr(sweep_run, "run_row", fails_once)
    command = ["sweep", "run", str(file), "-o", str(out), "--on", "local:1", "--json"]
    assert run(command) == 1
    printed = capsys.readouterr()
    document: dict[str, Any] = json.loads(printed.out)
    assert (document["runs"], document["ran_now"], document["failed"]) == (6, 5, 1)
    assert "failed: fair on burst(jobs=4), 1x65536x24, seed 1: ZeroDivisionError: of all things" in printed.err
    (kept,) = (out / "failed").glob("*.json")
    why = json.loads(kept.read_text())
    assert why["error"] == "ZeroDivisionError: of all things"
    assert "in fails_once" in why["trace"]
    assert run(["sweep", "show", str(out)]) == 0
    assert f"5 of 6 runs are done, 1 failed ({out / 'failed'} says why)" in capsys.readouterr().err

    monkeypatch.setattr(sweep_run, "run_row", whole)
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["ran_now"] == 1
    assert not kept.exists()
    assert len(list((out / "runs").glob("*.parquet"))) == 6


def test_show_says_what_is_best_and_how_sure(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["sweep", "show", str(results), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["runs"] == document["planned"] == 27
    assert len(document["scenarios"]) == 3
    means = [one["mean"] for one in document["scenarios"][0]["standings"]]
    assert means == sorted(means)
    assert document["scenarios"][0]["pairs"] == 3
    assert run(["sweep", "show", str(results), "--metric", "makespan_s"]) == 0
    assert "burst(jobs=12) at load 2" in capsys.readouterr().out


def test_the_report_draws_lines_and_heat_maps(results: Path, tmp_path: Path, browser: Chromium) -> None:
    report = tmp_path / "sweep.html"
    assert run(["sweep", "show", str(results), "--report", str(report)]) == 0
    for width in (1200, 400):
        browser.open(report, width=width, dark=width == 400)
        assert browser.complaints() == []
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    titles = browser.evaluate("[...document.querySelectorAll('figure h3')].map(h => h.textContent)")
    assert titles.count("Mean completion over load") == 1
    over_n = [title for title in titles if title.startswith("Mean completion over n, load ")]
    assert len(set(over_n)) == 3, "one for each load, told apart"
    assert any(title.endswith("n and load") for title in titles)
    assert browser.evaluate("document.querySelectorAll('.heat').length") == 6


def test_a_candidate_that_stalled_is_shown_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out, report = (tmp_path / name for name in ("storm.yaml", "out", "sweep.html"))
    file.write_text("workloads: [am-storm]\npolicies: [capacity, fifo]\nloads: [1, 2]\nseeds: 2\n")
    assert run(["sweep", "run", str(file), "-o", str(out), "--on", "local:1"]) == 0
    capsys.readouterr()
    assert run(["sweep", "show", str(out), "--report", str(report)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("stalled 2 of 2") == 2
    assert "capacity is the only candidate" in shown
    html = report.read_text()
    assert html.count('<small class="worse">stalled 2 of 2</small>') == 2
    assert "fifo: interval" not in html, "no line either"
    assert run(["sweep", "show", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    left = {"policy": "fifo", "why": "stalled 2 of 2", "stalled_runs": 2, "all_runs": 2}
    assert [one["left_out"] for one in document["scenarios"]] == [[left]] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nowhere.yaml", "-o", "out"], "no such file"),
        (["run", "FILE", "-o", "OUT", "--on", "cloud"], "no such engine"),
        (["show", "nowhere"], "not a sweep's folder"),
        (["show", "OUT", "--metric", "jct_s.maen"], 'did you mean "jct_s.mean"'),
    ],
)
def test_bad_input(results: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    places = {"FILE": str(results.parent / "sizing.yaml"), "OUT": str(results)}
    assert run(["sweep", *(places.get(one, one) for one in arguments)]) == 2
    assert message in capsys.readouterr().err
