"""Records of a real YARN against YARN's own accounts."""

from dataclasses import replace
from pathlib import Path

import pytest

from heddle.analysis.waste.ledger import waste_ledger
from heddle.analysis.waste.yarn_accounts import yarn_accounts
from heddle.cli.main import run as heddle
from heddle.policy.parse import parse_policy
from heddle.record.files import write_record
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload

TASKS = (
    "job,submit_ms,stage,duration_ms,vcores,memory_mb\na,0,one,1900,1,1000\na,0,two,2500,3,1000\nb,0,one,4000,1,1000\n"
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Containers of 1.9, 2.5 and 4 s, as if they had been observed."""
    (tmp_path / "tasks.csv").write_text(TASKS)
    workload = load_workload(str(tmp_path / "tasks.csv"))
    simulated = simulate(workload, load_cluster("1x8192x8"), parse_policy("fifo"), record=True)
    counted = {"0": [4_400_000, 8_000_000], "1": [4_400_000, 4_000_000]}
    totals = simulated.manifest["totals"] | {
        "yarn_reserved_ms": [8_800_000, 12_000_000],
        "yarn_reserved_by_job_ms": counted,
    }
    return replace(simulated, manifest=simulated.manifest | {"totals": totals})


def test_containers_are_counted_as_yarn_does(run: Run) -> None:
    found = yarn_accounts(run)
    assert found is not None
    assert found.total == ((8_400_000, 8_800_000), (12_000_000, 12_000_000))
    # 1.9 s of one vcore are 1 vcore-second, 2.5 s of three 7; memory is cut to whole MB-seconds, of which there are
    # enough.
    assert [one.amounts for one in found.jobs] == [
        ((4_400_000, 4_400_000), (8_000_000, 8_000_000)),
        ((4_000_000, 4_400_000), (4_000_000, 4_000_000)),
    ]
    assert [round(one.furthest_off, 3) for one in found.jobs] == [0.0, 0.091]
    document = waste_ledger(run).document()["yarn"]
    assert isinstance(document, dict)
    assert document["memory"]["off"] == pytest.approx(-0.4 / 8.8)
    assert [job["name"] for job in document["jobs"]] == ["a", "b"]


def test_the_ledger_shows_the_furthest_off_first(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(run, tmp_path / "record")
    assert heddle(["ledger", str(tmp_path / "record")]) == 0
    shown = capsys.readouterr().out
    assert shown.index("-9.09 %") < shown.index("+0.00 %")
    assert "-4.55 %" in shown


def test_the_report_shows_them_and_who_was_not_seen(run: Run, tmp_path: Path) -> None:
    only_b = replace(run, attempts=run.attempts.filter(run.attempts["job"] == 1))
    write_record(only_b, tmp_path / "record")
    assert heddle(["ledger", str(tmp_path / "record"), "--report", str(tmp_path / "waste.html")]) == 0
    text = (tmp_path / "waste.html").read_text()
    assert "Against YARN&#x27;s own accounts" in text
    assert "Nobody saw the containers of a:" in text


def test_simulated_records_have_no_such_accounts(run: Run) -> None:
    totals = {key: value for key, value in run.manifest["totals"].items() if not key.startswith("yarn")}
    assert yarn_accounts(replace(run, manifest=run.manifest | {"totals": totals})) is None
