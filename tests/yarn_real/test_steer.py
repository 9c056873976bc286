"""A live controller on a real YARN, and what must not happen when things break."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from heddle.yarn.client import RmClient
from heddle.yarn.local.cluster import LocalCluster
from heddle.yarn.replay.plan import ReplayJob
from heddle.yarn.snapshot import read_nodes, take_snapshot
from heddle.yarn.steering.desk import desk_of
from heddle.yarn.steering.watchdog import watchdog_lives
from heddle.yarn.wire import YarnError

from .conftest import NODE_MB

LEASE_S, STALE_S = 5, 4
TASK_S = 45
# Each node has room for two of them by what they reserve, and for many by what they use.
LINES = ("stage 768 1 -", *7 * (f"task 0 {1000 * TASK_S} 40:10:10000",))
JOB = ReplayJob("over-reserved", 0, "root.default", 0, (256, 1), (), 7, LINES)


def wait_for(what: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)


def totals(rm: RmClient) -> dict[str, int]:
    return {node.id: node.total[0] for node in read_nodes(rm.nodes(), "").values()}


def containers_of(rm: RmClient, app_id: str) -> set[str]:
    return {c.id for c in take_snapshot(rm, 0).containers.values() if c.app == app_id}


def answers(rm: RmClient) -> bool:
    try:
        return len(totals(rm)) == 2
    except YarnError:
        return False


@contextmanager
def steering(
    cluster: LocalCluster, decisions: Path, policy: str = "usage-feedback(damping=0.5)"
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "yarn", "steer", "--name", "session"]
    command += ["--mode", "live", "--lease", str(LEASE_S), "--young", "2", "--stale", str(STALE_S)]
    command += ["--policy", policy, "--record", str(decisions)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()
    wait_for(lambda: not watchdog_lives(desk_of(cluster.layout.rm)), 30)


def test_a_nodemanager_that_hangs_and_a_controller_that_is_killed(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    decisions = tmp_path / "decisions.jsonl"
    app_id = submit(JOB)
    try:
        with steering(cluster, decisions) as controller:
            # More runs than reservations would allow: 2 on one node, 2 on the other, and the AM.
            wait_for(lambda: len(containers_of(rm, app_id)) == 8, 120)
            nodemanager = next(p.pid for p in cluster.processes() if p.role == "nodemanager-0")
            os.kill(nodemanager, signal.SIGSTOP)
            try:
                wait_for(lambda: '"cause":"stale"' in decisions.read_text(), STALE_S + 30)
            finally:
                os.kill(nodemanager, signal.SIGCONT)
            before = containers_of(rm, app_id)
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: set(totals(rm).values()) == {NODE_MB}, LEASE_S + 5)
        assert desk_of(cluster.layout.rm).load() is None
        assert containers_of(rm, app_id) == before  # nothing of it was killed
    finally:
        rm.kill(app_id)
    causes = {node["cause"] for line in decisions.read_text().splitlines() for node in json.loads(line)["nodes"]}
    assert "lever" in causes


def test_an_rm_restart_with_changes_in_force_costs_no_application(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    app_id = submit(replace(JOB, lines=tuple(line.replace(f" {1000 * TASK_S} ", " 300000 ") for line in LINES)))
    with steering(cluster, tmp_path / "decisions.jsonl") as controller:
        wait_for(lambda: len(containers_of(rm, app_id)) == 8, 120)
        time.sleep(4)  # the RM recovers containers that run, not those that were promised and not begun
        before = containers_of(rm, app_id)
        os.kill(next(p.pid for p in cluster.processes() if p.role == "resourcemanager"), signal.SIGKILL)
        wait_for(lambda: not answers(rm), 5)
        cluster.start_daemon("resourcemanager")
        wait_for(lambda: answers(rm), 180)
        wait_for(lambda: containers_of(rm, app_id) == before, 20)
        assert controller.poll() is None
        controller.send_signal(signal.SIGINT)
        assert controller.wait(20) == 0
    assert set(totals(rm).values()) == {NODE_MB}
    assert (rm.app(app_id) or {})["app"]["state"] == "RUNNING"
    assert containers_of(rm, app_id) == before
    rm.kill(app_id)


def test_knobs_of_queues_and_applications_are_put_back_after_kill_9(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    def state(app_id: str) -> dict[str, object]:
        found: dict[str, object] = (rm.app(app_id) or {})["app"]
        return found

    small = replace(JOB, lines=("stage 256 1 -", "task 0 300000 40:10:10000"))
    before = rm.scheduler_settings()
    apps = [submit(small)]
    try:
        wait_for(lambda: len(containers_of(rm, apps[0])) == 2, 180)
        with steering(cluster, tmp_path / "decisions.jsonl", "smallest-first+max-running(jobs=1)") as controller:
            wait_for(lambda: rm.scheduler_settings() != before, 60)
            apps.append(submit(small))
            wait_for(lambda: state(apps[1])["priority"] == 10, 20)
            time.sleep(3)
            assert state(apps[1])["state"] == "ACCEPTED"  # held back by the AM share, though there is room
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: rm.scheduler_settings() == before and state(apps[1])["priority"] == 0, LEASE_S + 5)
        wait_for(lambda: state(apps[1])["state"] == "RUNNING", 30)
        assert desk_of(cluster.layout.rm).load() is None
    finally:
        for app_id in apps:
            rm.kill(app_id)
