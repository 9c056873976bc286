"""A record of a real run, simulated as it was and under another policy. Here the real run is a simulated one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from cli.documents import document
from heddle.cli.main import run
from heddle.experiments.replaying import STOCK, overheads_of, replay_of
from heddle.model.cluster import YARN
from heddle.record.files import cluster_beside_record, read_record, write_record
from heddle.record.manifest import LIVE_SOURCE
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import load_cluster, uniform_cluster


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Jobs that reserve four times what they use, on a cluster that has room for a third of them at a time."""
    tasks = [TaskSpec(60_000, constant(256, 20))] * 6
    jobs = [
        JobSpec(f"job-{number}", 200 * number, [StageSpec("t", (1024, 1000), tasks)], am=(256, 0), am_use=(100, 0))
        for number in range(6)
    ]
    cluster = replace(uniform_cluster(3, 4096, 16), timing=replace(YARN, launch_ms=0, am_start_ms=3000))
    found = simulate(build("burst", jobs), cluster, "capacity+am-share(percent=0.5)", record=True)
    about = found.manifest["workload"] | {"about": {"source": LIVE_SOURCE}}
    path = tmp_path_factory.mktemp("observed") / "record"
    write_record(replace(found, manifest=found.manifest | {"policy": "stock", "workload": about}), path)
    return str(path)


def test_what_shadow_mode_would_have_changed(observed: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "explain", observed, "--versus", "usage-feedback")
    assert found["policies"] == ["stock", "stock, simulated", "usage-feedback, simulated"]
    assert [job["name"] for job in found["jobs"]] == [f"job-{number}" for number in range(6)]
    _, as_it_was_s, steered_s = found["sums"]["makespan"]
    assert steered_s < 0.9 * as_it_was_s
    assert run(["explain", observed, "--versus", "usage-feedback"]) == 0
    assert "what would have changed" in capsys.readouterr().out


def test_one_job_beside_itself(observed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "explain", observed, "job-5", "--versus", "usage-feedback")
    assert found["versus"]["taken_s"] < found["as_it_was"]["taken_s"]
    report = tmp_path / "job.html"
    assert run(["explain", observed, "job-5", "--versus", "usage-feedback", "--report", str(report)]) == 0
    assert "usage-feedback, simulated" in report.read_text()
    assert "it is done" in capsys.readouterr().out


def test_its_own_workload_is_all_it_takes(observed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", observed, "--versus", "drf", "--workload", "mix"]) == 2
    assert "holds its own workload" in capsys.readouterr().err


def test_as_a_workload_it_can_be_compared(observed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "monday.parquet"
    made = document(capsys, "yarn", "workload", observed, "-o", str(out))
    assert (made["jobs"], made["tasks"], made["jobs_without_containers"]) == (6, 36, 0)
    by_knobs = ("--executor", "yarn-knobs", "--seeds", "2")
    found = document(capsys, "compare", str(out), "-p", "capacity", "-p", "usage-feedback", *by_knobs)
    makespans = {one["policy"]: one["makespan_s"] for one in found["runs"]}
    assert makespans["usage-feedback"] < makespans["capacity"]
    assert run(["yarn", "workload", observed, "-o", str(tmp_path / "monday.csv")]) == 2
    assert "must end in .parquet" in capsys.readouterr().err


def test_queues_beside_the_record_are_taken(observed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One AM at a time: a tenth of the cluster's memory holds four of them."""
    free = document(capsys, "explain", observed, "--versus", "usage-feedback")["sums"]["makespan"][1]
    copied = copytree(observed, tmp_path / "record")
    cluster_beside_record(copied).write_text(
        "nodes: [{count: 3, capacity: {memory_mb: 4096, vcores: 16}}]\nqueues: {default: {am_share_percent: 2.5}}\n"
    )
    found = document(capsys, "explain", str(copied), "--versus", "usage-feedback")["sums"]["makespan"][1]
    assert found > 1.3 * free


def test_the_policy_that_it_ran_is_the_baseline(
    observed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Fair cluster is simulated as one, and others are compared with that."""
    copied, out = copytree(observed, tmp_path / "record"), tmp_path / "monday.parquet"
    nodes = "nodes: [{count: 3, capacity: {memory_mb: 4096, vcores: 16}}]\nqueues: {default: {}}\n"
    cluster_beside_record(copied).write_text(f"policy: fair\n{nodes}")
    document(capsys, "yarn", "workload", str(copied), "-o", str(out))
    found = document(capsys, "compare", str(out), "-p", "capacity", "--seeds", "1")
    assert (found["baseline"], found["baseline_is_present"]) == ("fair", True)
    replay = replay_of(
        read_record(copied), overheads_of(read_record(copied)), load_cluster(str(out.with_suffix(".cluster.yaml")))
    )
    assert replay.under(STOCK).manifest["policy"] == "fair"


def test_the_jobs_of_a_record_are_tuned_for(observed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", observed]) == 2
    assert "the jobs of a record are kept there" in capsys.readouterr().err
    tuning = ["tune", observed, "-o", str(tmp_path / "tuning"), "--trials", "1", "--on", "local:1"]
    assert run(tuning) == 2
    assert "too little to be resampled in time blocks" in capsys.readouterr().err
    found = document(capsys, *tuning, "--block-s", "0.1")
    assert found["candidates"] == 1
    assert found["workload"] == "burst"
