"""Tracker and observer on real jobs: their accounts against YARN's own."""

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heddle.analysis.measures.metrics import run_metrics
from heddle.record.files import read_record, write_record
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.history import History
from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.live_record import export, record_of
from heddle.yarn.observe.observer import Observer
from heddle.yarn.observe.remote_tracker import RemoteTracker
from heddle.yarn.observe.tallies import use_of
from heddle.yarn.observe.tracker import Tracker
from heddle.yarn.testbed.local.cluster import HISTORY, LocalCluster
from heddle.yarn.testbed.mixture import load_real_jobs
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.run_jobs import Workplace, run_jobs
from yarn_real.accounts import agrees_with_yarn
from yarn_real.live import STARTS_S, containers_of

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,used_vcores,used_memory_mb,am_vcores,am_memory_mb\n"
TASKS = 2 * "a,0,14000,1,512,map,,0.1,300,1,256\n" + "b,500,14000,2,768,map,,0.1,300,1,256\n"


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + STARTS_S
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.3)


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
        until(lambda: bool(look() or not observers[-1].running()))  # also what other tests left behind
    finally:
        over.set()
        sampling.join()
    tracker.sample()
    tracker.write_all()

    assert len(observers) == 2
    mine = {run.app_id for run in runs}
    use = use_of(tmp_path / "samples.jsonl")
    seen = observers[-1].seen
    seen = replace(seen, apps={name: life for name, life in seen.apps.items() if name in mine})  # others have no use
    told = [job for job in export(seen, use)["jobs"] if job["id"] in mine]
    assert sorted(job["name"] for job in told) == ["a", "b"]
    tasks_told = [container for job in told for container in job["containers"] if not container["is_am"]]
    assert len(tasks_told) == 3
    for container in tasks_told:
        assert container["used_memory_mb_ms"] == pytest.approx(300 * 14_000, rel=0.2)

    write_record(record_of(seen, policy="stock", workload="test", started_by=["test"], use=use), tmp_path / "record")
    record = read_record(tmp_path / "record")
    agrees_with_yarn(record, jobs={"a", "b"})
    metrics = run_metrics(record)
    assert metrics["outcome"] == "finished"
    assert 0 < metrics["utilisation"]["memory"]["used"] < metrics["utilisation"]["memory"]["reserved"]
    took = {run.name: run.as_json()["jct_s"] for run in runs}
    for row in record.jobs.filter(record.jobs["name"].is_in(["a", "b"])).iter_rows(named=True):
        assert (row["ended_at_ms"] - row["submit_at_ms"]) / 1000 == took[row["name"]]


def test_nodemanagers_tell_what_their_containers_use(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    """They notice a container late, and how late depends on what else the machine does: so it runs until they have."""
    journal = tmp_path / "remote.jsonl"
    remote = RemoteTracker(rm, Journal(journal), print)
    app_id = submit(
        ReplayJob("steady", 0, "root.default", 0, (256, 1), (), 1, ("stage 512 1 -", "task 0 900000 300:10:900000"))
    )
    try:
        until(lambda: len(containers_of(rm, app_id)) == 2)
        (task,) = (name for name in containers_of(rm, app_id) if not name.endswith("_000001"))
        # Containers and what launches them are no daemons.
        assert sorted(process.role for process in cluster.processes() if process.role) == sorted(cluster.roles())

        def told() -> list[dict[str, Any]]:
            remote.sample()
            remote.write_all()
            return [line for line in read_lines(journal) if line["container"] == task]

        until(lambda: any(line["memory_max_mb"] == pytest.approx(300, rel=0.1) for line in told()))
        until(lambda: sum(line["cpu_ms"] for line in told()) > 0)
    finally:
        rm.kill(app_id)
        remote.close()


def test_a_history_server_that_was_killed_tells_later(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    mixture = tmp_path / "jobs.yaml"
    mixture.write_text("jobs:\n  - {kind: mapreduce, program: sleep, arguments: [-m, 1, -r, 0, -mt, 8000]}\n")
    jobs, _ = load_real_jobs(str(mixture))
    place = Workplace(rm, tmp_path / "staging", master_jar("3.4.2"), cluster)
    with RmClient(cluster.layout.history, timeout_s=3) as server:

        def start() -> tuple[Observer, History]:
            observer = Observer(rm, Journal(tmp_path / "journal.jsonl"))
            return observer, History(server, observer.journal, observer.seen)

        observer, history = start()
        (pid,) = [process.pid for process in cluster.processes() if process.role == HISTORY]
        os.kill(pid, signal.SIGKILL)
        try:
            (done,) = run_jobs(jobs, place, lambda _: None, poll=observer.poll)
            until(lambda: observer.poll() or done.app_id not in observer.running())
            with pytest.raises(YarnError):
                history.poll()
        finally:
            cluster.start_daemon(HISTORY)
        assert done.outcome == "SUCCEEDED"
        assert done.app_id in history.missing()
        until(cluster.is_healthy)
        observer, history = start()
        until(lambda: history.poll() or not history.missing())
    seen = replace(observer.seen, apps={done.app_id: observer.seen.apps[done.app_id]})
    (told,) = export(seen, {})["jobs"]
    assert told["counters"]["TOTAL_LAUNCHED_MAPS"] == 1
    am, task = sorted(told["containers"], key=lambda container: not container["is_am"])
    assert (am["state"], task["state"], task["attempt"][-11:]) == ("SUCCEEDED", "SUCCEEDED", "_m_000000_0")
    assert task["began_at_ms"] <= task["started_at_ms"] <= task["ended_at_ms"] - 8000
    agrees_with_yarn(record_of(seen, policy="stock", workload="w", started_by=["test"]), jobs={"Sleep job"})
