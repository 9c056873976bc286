"""`heddle twin` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.documents import document
from heddle.cli.main import run

SMALL = "mix(jobs=16)"


def test_a_record_is_looked_ahead_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = str(tmp_path / "run")
    assert run(["simulate", SMALL, "--policy", "capacity", "--record", record]) == 0
    arguments = (
        "twin",
        record,
        "--at",
        "0:03",
        "--rollouts",
        "3",
        "--candidate",
        "fifo",
        "--executor",
        "native",
        "--workload",
        SMALL,
    )
    found = document(capsys, *arguments)
    assert found["watched_s"] == 180
    assert [one["policy"] for one in found["policies"]] == ["capacity", "fifo"]
    told = [one for one in found["applications"] if one["ends_in"]]
    assert len(told) >= 3
    for one in told:
        for eta in one["ends_in"]:
            assert 0 <= eta["low_s"] <= eta["median_s"] <= eta["high_s"]
    early = document(capsys, "twin", record, "--at", "6s", "--rollouts", "2", "--workload", SMALL)
    assert [one["ends_in"] for one in early["applications"] if one["why_not"]]
    assert run([*arguments]) == 0
    assert "when applications end" in capsys.readouterr().out


def test_a_workload_is_simulated_and_forecasts_of_it_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "twin", SMALL, "--score", "--instants", "3", "--rollouts", "3")
    assert found["scores"][0]["bucket"] == "all"
    assert found["scores"][0]["cases"] == sum(one["cases"] for one in found["scores"][1:])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([SMALL], "say either --at"),
        ([SMALL, "--at", "1m", "--score"], "say either --at"),
        ([SMALL, "--at", "noon"], "not a length of time"),
        ([SMALL, "--at", "99:00"], "after the end of the run"),
        ([SMALL, "--score", "--candidate", "fifo"], "only what really ran"),
        (["no-such-thing.parquet", "--at", "1m"], "no-such-thing"),
    ],
)
def test_bad_input_is_told_in_words(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["twin", *arguments]) == 2
    assert said in capsys.readouterr().err
