"""`heddle traces`, `efficiency` and `ledger` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.traces.imports.registry import names

CSV = "job,submit_ms,duration_ms,cores,mem,extra\na,0,1000,1,1024,x\nb,5,2000,2,2048,y\nc,9,oops,1,1024,z\n"
MAP = ["--format", "csv", "--map", "vcores=cores", "--map", "memory_mb=mem"]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.csv"
    path.write_text(CSV)
    return path


def test_an_import_accounts_for_every_row_and_can_be_simulated(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    assert run(["traces", "import", str(trace), *MAP, "-o", str(out), "--json"]) == 0
    shown = capsys.readouterr()
    account = json.loads(shown.out)
    assert (account["format"], account["rows"], account["jobs"], account["tasks"]) == ("csv", 4, 2, 2)
    reason = "duration_ms: not a number"
    assert account["set_aside"] == {reason: 1}
    assert account["reconciliation"]["examples"][reason] == ["tasks.csv:4"]
    assert "extra" in shown.err
    kept = (tmp_path / "out.set-aside.csv").read_text().splitlines()
    assert kept == ["file,line,reason,row", f'tasks.csv,4,{reason},"c,9,oops,1,1024,z"']
    assert json.loads((tmp_path / "out.import.json").read_text())["rows"] == 4
    assert run(["simulate", str(out), "--cluster", "1x4096x4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 2


def test_strict_writes_nothing(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.parquet"
    assert run(["traces", "import", str(trace), *MAP, "--strict", "-o", str(out)]) == 2
    assert "tasks.csv:4" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tasks.csv"]


def test_a_cluster_of_the_source_is_the_default_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.swf"
    log.write_text("; MaxProcs: 8\n; MaxNodes: 2\n1 0 0 60 8 -1 -1 8 -1 -1 1 1 1 -1 -1 -1 -1 -1\n")
    out = tmp_path / "out.parquet"
    assert run(["traces", "import", str(log), "-o", str(out)]) == 0
    capsys.readouterr()
    assert run(["simulate", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["makespan_s"] == 60


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-file.csv"], "no such file or folder"),
        (["{trace}", "--format", "nonsense"], "no format nonsense"),
        (["{trace}"], "unknown format"),
        (["{trace}", "--format", "swf"], "is not swf"),
        (["{trace}", "--format", "csv"], "vcores: missing column"),
        (["{trace}", "--format", "csv", "--map", "vcors=cores"], "did you mean"),
        (["{trace}", "--format", "csv", "--map", "vcores"], "say NAME=VALUE"),
        (["{trace}", *MAP, "--assume", "x=1"], "unknown"),
        (["{trace}", *MAP, "--usage-model", "much"], "--usage-model"),
    ],
)
def test_bad_input_is_said_and_leaves_nothing(
    trace: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.format(trace=trace) for argument in arguments]
    assert run(["traces", "import", *given, "-o", str(tmp_path / "out.parquet")]) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tasks.csv"]


def test_a_usage_model_fills_in_what_was_not_recorded(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    assert run(["traces", "import", str(trace), *MAP, "--usage-model", "fraction=0.25", "-o", str(out)]) == 0
    capsys.readouterr()
    assert run(["efficiency", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["resources"]
    assert found["memory"]["efficiency"] == pytest.approx(0.25)
    assert found["memory"]["unrecorded"]["containers"] == 0


def test_all_formats_are_listed_with_what_they_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["traces", "formats", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["formats"]
    assert [one["name"] for one in listed] == list(names())
    assert all(one["has"] and one["models"] and one["files"] for one in listed)


def test_ledger_and_efficiency_of_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "run"
    assert run(["simulate", "mix(jobs=8)", "--record", str(record)]) == 0
    capsys.readouterr()
    assert run(["ledger", str(record), "--json"]) == 0
    ledger = json.loads(capsys.readouterr().out)
    for name, lines in ledger["lines"].items():
        assert sum(line["amount_ms"] for line in lines.values()) == ledger["total_ms"][name]
    assert run(["ledger", str(record)]) == 0
    assert "application masters" in capsys.readouterr().out
    assert run(["efficiency", str(record), "--by", "node"]) == 0
    assert "node-0" in capsys.readouterr().out
    assert run(["efficiency", "mix", "--by", "node"]) == 2


def test_tools_write_workloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part, sample = tmp_path / "part.parquet", tmp_path / "sample.parquet"
    assert run(["traces", "slice", "mix", "--to", "100", "-o", str(part), "--json"]) == 0
    sliced = json.loads(capsys.readouterr().out)
    assert run(["traces", "sample", "mix", "--jobs", "7", "-o", str(sample), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 7
    assert 0 < sliced["jobs"] < 40
    assert run(["traces", "describe", str(part), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == sliced["jobs"]
    assert run(["traces", "sample", "mix", "-o", str(sample)]) == 2
    assert run(["traces", "export", "burst", "-o", str(tmp_path / "b.csv")]) == 0
    assert run(["traces", "export", "burst", "-o", str(tmp_path / "b.txt")]) == 2
    assert run(["traces", "share", "burst", "-o", str(tmp_path / "s.parquet")]) == 0
    assert json.loads((tmp_path / "s.manifest.json").read_text())["jobs"] > 0


def test_advice_speaks_of_requests_and_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["advise", "mix", "--windows", "2", "-p", "fifo", "-p", "drf", "--json"]) == 0
    advice = json.loads(capsys.readouterr().out)
    assert advice["kinds"][0]["saved"] >= advice["kinds"][-1]["saved"]
    assert [one["policy"] for one in advice["policies"]] == ["fifo", "drf"]
    assert advice["policies"][0]["mean_jct_change_pct"] == 0
    assert run(["advise", "mix", "--windows", "0"]) == 0
    shown = capsys.readouterr()
    assert "enough" in shown.out
    assert "GB-hours" in shown.err
