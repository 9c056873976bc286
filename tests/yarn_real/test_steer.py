"""A live controller on a real YARN; test_faults.py has what it survives."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.replay.plan import ReplayJob
from yarn_steering.watching import wait_for

from .live import (
    STARTS_S,
    WITHIN_S,
    application,
    as_found,
    containers_of,
    over_reserved,
    pid_of,
    small,
    steering,
    stopped,
)


def test_a_nodemanager_that_hangs_and_a_controller_that_is_killed(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    decisions = tmp_path / "decisions.jsonl"
    app_id = submit(over_reserved(600))
    try:
        with steering(cluster.layout.rm, decisions) as controller:
            # More runs than reservations would allow: 2 on one node, 2 on the other, and the AM.
            wait_for(lambda: len(containers_of(rm, app_id)) == 8, STARTS_S)
            with stopped(pid_of(cluster, "nodemanager-0")):
                wait_for(lambda: '"cause":"stale"' in decisions.read_text(), STARTS_S)
            # YARN gives an AM more than it wants while that has not said so yet, and takes it back.
            wait_for(lambda: len(containers_of(rm, app_id)) == 8, STARTS_S)
            before = containers_of(rm, app_id)
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: as_found(rm), WITHIN_S)
        assert desk_of(cluster.layout.rm).load() is None
        assert before <= containers_of(rm, app_id)  # nothing of it was killed
    finally:
        rm.kill(app_id)
    causes = {node["cause"] for line in decisions.read_text().splitlines() for node in json.loads(line)["nodes"]}
    assert "lever" in causes


def test_knobs_of_queues_and_applications_are_put_back_after_kill_9(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str], tmp_path: Path
) -> None:
    before = rm.scheduler_settings()
    apps = [submit(small(300))]
    try:
        wait_for(lambda: len(containers_of(rm, apps[0])) == 2, STARTS_S)
        with steering(
            cluster.layout.rm, tmp_path / "decisions.jsonl", "smallest-first+max-running(jobs=1)"
        ) as controller:
            wait_for(lambda: rm.scheduler_settings() != before, STARTS_S)
            apps.append(submit(small(300)))
            wait_for(lambda: application(rm, apps[1])["priority"] == 10, STARTS_S)
            time.sleep(3)
            assert application(rm, apps[1])["state"] == "ACCEPTED"  # held back by the AM share, though there is room
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: rm.scheduler_settings() == before and application(rm, apps[1])["priority"] == 0, WITHIN_S)
        wait_for(lambda: application(rm, apps[1])["state"] == "RUNNING", STARTS_S)
        assert desk_of(cluster.layout.rm).load() is None
    finally:
        for app_id in apps:
            rm.kill(app_id)
