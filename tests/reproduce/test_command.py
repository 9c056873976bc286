"""`heddle reproduce`: every paper in its quick size, from the command line to the document."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.reproduce.constants import read_constants
from heddle.reproduce.papers import PAPERS
from heddle.reproduce.verdicts import Verdict

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"


@pytest.mark.parametrize("paper", PAPERS)
def test_quick_run_of_every_paper(paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, docs = tmp_path / "report.html", tmp_path / "docs"
    if paper in ("usage-feedback", "network-aware") and not TRACES.is_dir() and os.environ.get("CI"):
        pytest.fail("the real traces are not here (../shared/traces): their claims would be left out")
    traces = ["--traces", str(TRACES)] if TRACES.is_dir() else []
    asked = [
        "reproduce",
        paper,
        "--quick",
        "--json",
        "--on",
        "local:1",
        "--report",
        str(report),
        "--markdown",
        str(docs),
    ]
    assert run([*asked, *traces]) == 0
    (document,) = valid("reproduce", json.loads(capsys.readouterr().out))["papers"]
    assert document["paper"] == paper
    assert document["constants_hash"] == read_constants(paper).hash
    assert document["quick"] is True
    assert document["wall_s"] > 0
    claims = document["claims"]
    assert len({claim["id"] for claim in claims}) == len(claims) > 0
    for claim in claims:
        assert claim["verdict"] in set(Verdict)
        assert claim["measured"] is not None, claim
        assert claim["source"] in ("paper", "ours")
        assert (claim["kind"] == "none") == (claim["verdict"] == Verdict.NOT_JUDGED)
        if claim["ci95"] is not None:
            low, high = claim["ci95"]
            assert low <= claim["measured"] <= high or claim["kind"] == "limit"
    assert document["constants_hash"] in report.read_text()
    text = (docs / f"{paper}-claims.md").read_text()
    for claim in claims:
        assert f"({claim['id']})" in text
    for figure in (docs / "figures").iterdir():
        assert f"(figures/{figure.name})" in text


def test_unknown_paper_and_folder_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "usage-feedbak"]) == 2
    assert "usage-feedback" in capsys.readouterr().err
    assert run(["reproduce", "usage-feedback", "--traces", "no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err
