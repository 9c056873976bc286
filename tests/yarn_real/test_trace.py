"""Tracker and observer on real jobs: their accounts against YARN's own."""

import threading
import time
from pathlib import Path

import pytest

from heddle.analysis.metrics import run_metrics
from heddle.record.files import read_record, write_record
from heddle.yarn.client import RmClient
from heddle.yarn.local.cluster import LocalCluster
from heddle.yarn.mixture import load_real_jobs
from heddle.yarn.replay.master_jar import master_jar
from heddle.yarn.run_jobs import Workplace, run_jobs
from heddle.yarn.trace.journal import Journal
from heddle.yarn.trace.live_record import export, record_of
from heddle.yarn.trace.observer import Observer
from heddle.yarn.trace.tracker import Tracker, use_of

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,used_vcores,used_memory_mb,am_vcores,am_memory_mb\n"
TASKS = 2 * "a,0,14000,1,512,map,,0.1,300,1,256\n" + "b,500,14000,2,768,map,,0.1,300,1,256\n"
WITHIN = 0.02


def test_accounts_agree_with_yarns_own(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.csv"
    tasks.write_text(HEADER + TASKS)
    jobs, _ = load_real_jobs(str(tasks))
    tracker = Tracker(Journal(tmp_path / "samples.jsonl"))
    observers = [Observer(rm, Journal(tmp_path / "journal.jsonl"))]
    over = threading.Event()

    def sample() -> None:
        while not over.wait(0.5):
            tracker.sample()

    def look() -> None:
        observers[-1].poll()
        running = [c for c in observers[-1].seen.containers.values() if not c.is_am]
        if len(observers) == 1 and len(running) == 3:  # killed and started anew in the middle of everything
            observers.append(Observer(rm, Journal(tmp_path / "journal.jsonl")))

    sampling = threading.Thread(target=sample)
    sampling.start()
    try:
        runs = run_jobs(jobs, Workplace(rm, tmp_path / "staging", master_jar("3.4.2")), lambda _: None, poll=look)
        time.sleep(0.5)
        look()
    finally:
        over.set()
        sampling.join()
    tracker.sample()
    tracker.write_all()

    assert len(observers) == 2
    mine = {run.app_id for run in runs}
    use = use_of(tmp_path / "samples.jsonl")
    seen = observers[-1].seen
    told = [job for job in export(seen, use)["jobs"] if job["id"] in mine]
    assert sorted(job["name"] for job in told) == ["a", "b"]
    for job in told:
        held = [(c["size"], c["ended_at_ms"] - c["began_at_ms"]) for c in job["containers"]]
        assert sum(size[0] * ms for size, ms in held) / 1e3 == pytest.approx(job["memory_mb_seconds"], rel=WITHIN)
        # YARN cuts the vcore-seconds of each container down to whole ones, by less than its vcores.
        vcore_s = sum(size[1] * ms for size, ms in held) / 1e6
        most_cut = sum(size[1] for size, _ in held) / 1e3
        assert vcore_s * (1 - WITHIN) - most_cut <= job["vcore_seconds"] <= vcore_s * (1 + WITHIN)
        for container in job["containers"]:
            if not container["is_am"]:
                lived_ms = container["ended_at_ms"] - container["began_at_ms"]
                assert container["used_memory_mb_ms"] / lived_ms == pytest.approx(300 * 14_000 / lived_ms, rel=0.1)

    write_record(record_of(seen, policy="stock", workload="test", started_by=["test"], use=use), tmp_path / "record")
    record = read_record(tmp_path / "record")
    metrics = run_metrics(record)
    assert metrics["outcome"] == "finished"
    assert 0 < metrics["utilisation"]["memory"]["used"] < metrics["utilisation"]["memory"]["reserved"]
    took = {run.name: run.as_json()["jct_s"] for run in runs}
    for row in record.jobs.filter(record.jobs["name"].is_in(["a", "b"])).iter_rows(named=True):
        assert (row["ended_at_ms"] - row["submit_at_ms"]) / 1000 == took[row["name"]]
