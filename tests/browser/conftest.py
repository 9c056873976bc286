from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from check.fake_past import MadeUpHistory, add_past, busy
from heddle.cli import main
from yarn_live.fake_rm import FakeRm

POLICIES = [part for name in ("fifo", "capacity", "fifo+usage-feedback") for part in ("--policy", name)]
CSV = "job,user,submit_ms,duration_ms,vcores,memory_mb,used_vcores,used_memory_mb\n"


def run(arguments: list[str]) -> int:
    """A command as from a shell: records and reports keep the command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["heddle", *arguments])
        return main.run(arguments)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a comparison with everything in it: gains, losers, queues, reasons, where the capacity went."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert run(["compare", "mix(jobs=25)", *POLICIES, "--seeds", "3", "--on", "local:1", "--report", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def waste_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on waste of a run of an imported trace, of which a row was set aside."""
    folder = tmp_path_factory.mktemp("waste")
    rows = [
        f"etl-{n},user-{n % 3},{900 * n},{20_000 + 700 * (n % 7)},1,{1024 * (1 + n % 4)},{0.2 + 0.02 * (n % 9):.2f},"
        f"{300 + 40 * (n % 11)}"
        for n in range(60)
    ]
    (folder / "tasks.csv").write_text(CSV + "\n".join([*rows, "broken,user-0,soon,1,1,1,1,1"]) + "\n")
    trace, record, path = folder / "trace.parquet", folder / "run", folder / "waste.html"
    assert run(["traces", "import", "--format", "csv", str(folder / "tasks.csv"), "-o", str(trace)]) == 0
    assert run(["simulate", str(trace), "-p", "capacity", "-c", "3x8192x8", "--record", str(record)]) == 0
    assert run(["efficiency", str(record), "--report", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def explained_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one job's life, beside the same job under another policy."""
    folder = tmp_path_factory.mktemp("explained")
    path = folder / "job.html"
    assert run(["simulate", "mix(jobs=25)", "-p", "capacity", "--record", str(folder / "run")]) == 0
    assert run(["explain", str(folder / "run"), "20", "--versus", "fifo", "--report", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def sweep_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a sweep over loads and a parameter."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "sweep.yaml").write_text(
        "name: sizing\nworkloads: ['burst(jobs=12)']\npolicies: [fifo, 'fifo+n-sigma(n={n})']\nloads: [1, 2, 3]\n"
        "parameters: {n: [2, 4]}\nclusters: [1x65536x24]\nseeds: 2\n"
    )
    assert run(["sweep", "run", str(folder / "sweep.yaml"), "-o", str(folder / "out"), "--on", "local:1"]) == 0
    assert run(["sweep", "show", str(folder / "out"), "--report", str(folder / "sweep.html")]) == 0
    return folder / "sweep.html"


@pytest.fixture(scope="session")
def check_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a check with findings, somebody who waits, and another check before it."""
    folder = tmp_path_factory.mktemp("check")
    path, earlier = folder / "check.html", folder / "earlier.json"
    earlier.write_text(json.dumps({"findings": [{"key": "idle-reservations", "value": 0.5, "says": "half was idle"}]}))
    with FakeRm() as rm, MadeUpHistory(40, minutes=50) as history:
        for number in range(3):
            rm.add_node(f"n{number}:1", 16384, 16)
            rm.nodes[f"n{number}:1"].containers_memory_mb, rm.nodes[f"n{number}:1"].containers_vcores = 2300, 0.5
        add_past(rm, 60, minutes=50)
        busy(rm, nodes=3)
        arguments = ["check", rm.address, "--history", history.address, "--max-calls-per-s", "1000", "--price", "0.01"]
        assert run([*arguments, "--since", str(earlier), "--report", str(path)]) == 1
    return path


@pytest.fixture(params=["report", "waste_report", "explained_report", "sweep_report", "check_report"])
def any_report(request: pytest.FixtureRequest) -> Path:
    """Each report once."""
    found: Path = request.getfixturevalue(request.param)
    return found
