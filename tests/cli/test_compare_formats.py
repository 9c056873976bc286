"""`heddle compare` on a trace of every format: imported, on its own cluster or the suggested one, without a flag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from traces.formats.samples import SAMPLES, write_sample

TWO_POLICIES = ("-p", "fifo", "-p", "drf", "--seeds", "2", "--on", "local:1")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0, capsys.readouterr().err
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize("name", SAMPLES)
def test_policies_can_be_compared_on_it(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, trace = tmp_path / "source", tmp_path / "trace.parquet"
    source.mkdir()
    account = printed(capsys, "traces", "import", str(write_sample(SAMPLES[name], source)), "-o", str(trace))
    suggested = printed(capsys, "traces", "describe", str(trace))["cluster"]["text"]
    cluster = () if account["cluster"] else ("--cluster", suggested)
    report = tmp_path / "report.html"
    compared = ("compare", str(trace), *TWO_POLICIES, "--report", str(report))
    document = printed(capsys, *compared, *cluster)
    outcomes = {(one["policy"], one["outcome"]) for one in document["runs"]}
    assert outcomes == {("fifo", "finished"), ("drf", "finished")}
    page = report.read_text(encoding="utf-8")
    assert f"Format {name}" in page
    assert "Where the capacity went" in page


def test_a_trace_that_is_too_short_to_be_resampled_is_run_as_it_is_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, trace = tmp_path / "source", tmp_path / "trace.parquet"
    source.mkdir()
    printed(capsys, "traces", "import", str(write_sample(SAMPLES["csv"], source)), "-o", str(trace))
    arguments = ["compare", str(trace), "-c", "1x65536x24", *TWO_POLICIES]
    assert run(arguments) == 0
    assert "too little to be resampled" in capsys.readouterr().err
    assert run([*arguments, "--resample"]) == 2
    assert "--block-s" in capsys.readouterr().err
