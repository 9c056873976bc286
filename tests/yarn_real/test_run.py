"""`heddle yarn run`: workloads as real containers, and real MapReduce."""

import json
import time
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_apps, read_nodes
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.mixture import load_real_jobs
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.run_jobs import Workplace, run_jobs

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,used_vcores,used_memory_mb,am_vcores,am_memory_mb\n"
MAP = "a,0,10000,1,512,map,,0.2,300,1,256\n"
REDUCE = "a,0,1000,1,256,reduce,map,0.1,50,1,256\n"


def silent(_: str) -> None:
    """Says nothing."""


def test_tasks_really_hold_memory_and_burn_cpu(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.csv"
    tasks.write_text(HEADER + 2 * MAP + REDUCE)
    jobs, notes = load_real_jobs(str(tasks))
    seen = []

    def look() -> None:
        nodes = read_nodes(rm.nodes(), "").values()
        # The NodeManager counts cores as its vcores, of which it has more than this machine has cores.
        seen.append((sum(n.containers_memory_mb for n in nodes), sum(n.container_vcores_used for n in nodes)))

    (done,) = run_jobs(jobs, Workplace(rm, tmp_path / "staging", master_jar("3.4.2")), silent, poll=look)
    assert notes == []
    assert done.outcome == "SUCCEEDED"
    assert done.submitted_at_ms < done.started_at_ms < done.finished_at_ms
    assert done.as_json()["jct_s"] > 11  # the reduce waits for the maps
    two_maps_and_the_am = 2 * 300 + 105
    assert two_maps_and_the_am - 40 <= max(memory for memory, _ in seen) <= two_maps_and_the_am + 40
    assert max(cpu for _, cpu in seen) > 0
    assert done.memory_mb_seconds >= 2 * 10 * 512 + 256 + 12 * 256
    assert list((tmp_path / "staging").iterdir()) == []


def test_mapreduce_beside_a_replay(cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks.csv").write_text(HEADER + REDUCE.replace("map", ""))
    mixture = tmp_path / "jobs.yaml"
    mixture.write_text(
        "jobs:\n"
        "  - {kind: replay, workload: tasks.csv}\n"
        "  - {kind: mapreduce, name: nap, program: sleep, arguments: [-m, 1, -r, 0, -mt, 100]}\n"
    )
    assert run(["yarn", "run", str(mixture), "--name", "session", "--json"]) == 0
    shown = valid("yarn run", json.loads(capsys.readouterr().out))
    assert [(job["name"], job["kind"], job["outcome"]) for job in shown["jobs"]] == [
        ("a", "replay", "SUCCEEDED"),
        ("nap", "mapreduce", "SUCCEEDED"),
    ]
    assert shown["makespan_s"] >= max(job["jct_s"] for job in shown["jobs"])


def test_a_job_that_cannot_be_submitted_is_said(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.csv"
    tasks.write_text(
        HEADER.replace("am_memory_mb", "am_memory_mb,queue") + REDUCE.strip().replace("map", "") + ",no.such\n"
    )
    jobs, _ = load_real_jobs(str(tasks))
    (done,) = run_jobs(jobs, Workplace(rm, tmp_path / "staging", master_jar("3.4.2")), silent)
    assert done.outcome == "FAILED"
    assert "no.such" in done.diagnostics


def test_an_interrupted_run_kills_what_it_submitted(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.csv"
    tasks.write_text(HEADER + MAP)
    jobs, _ = load_real_jobs(str(tasks))
    mine = []

    def interrupt() -> None:
        mine.extend(app for app in read_apps(rm.apps(), "") if app not in mine)
        if mine:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, Workplace(rm, tmp_path / "staging", master_jar("3.4.2")), silent, poll=interrupt)
    (app_id,) = mine
    deadline = time.monotonic() + 120
    while (state := (rm.app(app_id) or {})["app"]["state"]) != "KILLED":
        assert time.monotonic() < deadline, state
        time.sleep(0.2)
