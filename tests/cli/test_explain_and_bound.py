from __future__ import annotations

from pathlib import Path

import pytest

from browser.chromium import Chromium
from cli.documents import document
from heddle.cli.main import run
from yarn_live.fake_rm import FakeRm


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A record whose manifest has the command line, as the command writes it."""
    path = tmp_path_factory.mktemp("record") / "run"
    arguments = ["simulate", "mix(jobs=20)", "--policy", "capacity", "--record", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["heddle", *arguments])
        assert run(arguments) == 0
    return str(path)


def test_explain_lists_the_most_delayed_and_explains_one(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    worst = document(capsys, "explain", record)["jobs"][0]
    life = document(capsys, "explain", record, worst["name"])
    assert life.items() >= worst.items()
    assert sum(life["causes_s"].values()) == pytest.approx(life["taken_s"])
    assert run(["explain", record]) == 0
    assert worst["name"] in capsys.readouterr().out
    assert run(["explain", record, str(worst["job"])]) == 0
    assert "where the time went" in capsys.readouterr().out


def test_explain_versus_simulates_the_same_jobs_again(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    worst = document(capsys, "explain", record)["jobs"][0]["name"]
    life = document(capsys, "explain", record, worst, "--versus", "capacity")
    assert life.items() >= life["versus"].items(), "same policy, same run"
    other = document(capsys, "explain", record, worst, "--versus", "fifo+usage-feedback")
    assert other["versus"]["taken_s"] < other["taken_s"]
    assert run(["explain", record, worst, "--versus", "fifo+usage-feedback"]) == 0
    assert "it is done" in capsys.readouterr().out


def test_of_a_cluster_on_which_nothing_ran_there_is_nothing_to_explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeRm() as rm:
        rm.add_node("n:1", 4096, 4)
        observe = ["yarn", "observe", str(tmp_path / "seen"), "--rm", rm.address, "--for", "0.3", "--every", "0.1"]
        assert run(observe) == 0
    for more in ([], ["job"], ["--versus", "fifo"]):
        assert run(["explain", str(tmp_path / "seen" / "record"), *more]) == 2
        assert "nothing to explain" in capsys.readouterr().err


def test_explain_can_be_shown_to_others(record: str, tmp_path: Path, browser: Chromium) -> None:
    report = tmp_path / "job.html"
    assert run(["explain", record, "0", "--versus", "drf", "--report", str(report)]) == 0
    browser.open(report, width=400)
    assert browser.complaints() == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    assert browser.evaluate("document.querySelectorAll('.life').length") == 2
    assert browser.evaluate("document.querySelector('h1').textContent").startswith("Why ")
    assert run(["explain", record, "--report", str(report)]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "job"], "no such folder"),
        (["RECORD", "nobody"], "no job of this name"),
        (["RECORD", "0", "--versus", "nope"], "unknown policy"),
        (["RECORD", "0", "--versus", "fifo", "--workload", "mix(jobs=21)"], "not the workload of the record"),
        (["RECORD", "0", "--versus", "fifo", "--cluster", "9x65536x24"], "not the cluster of the record"),
    ],
)
def test_bad_input_of_explain(
    record: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", *(record if one == "RECORD" else one for one in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_a_record_made_from_python_must_be_told_its_workload(
    record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    from heddle.record.files import read_record, write_record

    made = read_record(record)
    write_record(replace(made, manifest=made.manifest | {"started_by": "api"}), tmp_path / "api")
    assert run(["explain", str(tmp_path / "api"), "0", "--versus", "fifo"]) == 2
    assert "--workload" in capsys.readouterr().err
    assert run(["explain", str(tmp_path / "api"), "0", "--versus", "fifo", "--workload", "mix(jobs=20)"]) == 0


def test_bound_with_and_without_the_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "bound", "burst(jobs=2)", "--cluster", "1x16384x8", "--optimum", "--limit-s", "5")
    assert [one["kind"] for one in found["bounds"]] == ["reservations", "any"]
    assert found["optimum"][0]["value_s"] >= found["bounds"][0]["makespan_s"] >= found["bounds"][1]["makespan_s"] - 1e-9
    assert run(["bound", "mix"]) == 0
    assert "critical path" in capsys.readouterr().out
    assert run(["bound", "mix", "--optimum"]) == 2
    assert "executors" in capsys.readouterr().err
