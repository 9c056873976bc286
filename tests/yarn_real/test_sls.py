"""`heddle yarn sls`: one short run of Hadoop's own load simulator."""

import json
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,am_vcores,am_memory_mb\n"
HEARTBEAT_S = 1.0


def test_both_simulators_run_the_same_jobs(hadoop: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two maps that do not fit side by side, a reduce after them, and a second job behind."""
    tasks = tmp_path / "tasks.csv"
    one = "one,0,2000,1,1024,map,,1,512\n" * 2 + "one,0,1000,1,1024,reduce,map,1,512\n"
    tasks.write_text(HEADER + one + "two,500,1000,1,512,map,,1,512\n")
    assert run(["yarn", "sls", str(tasks), "--cluster", "1x2048x4", "--rounds", "1", "--give-up", "120", "--json"]) in (
        0,
        1,  # a machine that is so busy that heartbeats come late
    )
    shown = valid("yarn sls", json.loads(capsys.readouterr().out))
    assert shown["jobs"] == 2
    (sls_s,), (ours_s,) = shown["sls_makespans_s"], shown["heddle_makespans_s"]
    # Time in SLS is the clock's, so it is never quicker than what its AMs do: an ask, an answer, two tasks, ...
    shortest_s = 2 + 1 + 6 * HEARTBEAT_S
    assert shortest_s < sls_s
    assert shortest_s < ours_s < 1.25 * sls_s
    assert (shown["verdict"] == "inside") == (abs(shown["makespan_error"]) <= shown["allowed_error"])
    assert shown["allowed_error"] == 0.03  # one run has no interval
