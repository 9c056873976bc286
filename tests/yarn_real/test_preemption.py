"""A real YARN that preempts: what we change must not cost anybody a container."""

import getpass
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.turn import Cause
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings
from heddle.yarn.live.rm_answers import read_queues
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, NODES, free_port
from .live import PATIENT_S, STARTS_S, application, containers_of, small, totals

HELD_MB = 7 * 256  # of a job: less than its queue's half of the cluster, more than half of what it holds itself
SEVERAL_ROUNDS_S = 6
WITHIN = "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.enabled"


@pytest.fixture
def preempting(hadoop: None) -> Iterator[LocalCluster]:
    queues = (("steady", 50), ("other", 50))
    layout = Layout(NODES, NODE_MB, NODE_VCORES, port=free_port(), queues=queues, preemption=True)
    try:
        yield bring_up("preempting", layout, print)
    finally:
        take_down("preempting")


def job(queue: str) -> ReplayJob:
    lines = ("stage 256 1 -", *6 * ("task 0 600000 40:10:10000",))
    return replace(small(1, queue), queue=f"root.{queue}", tasks=6, lines=lines)


def test_a_shrinking_cluster_preempts_nobody(preempting: LocalCluster, tmp_path: Path) -> None:
    """A controller that would make nodes as small as what they hold; then another queue asks for what it is due."""
    with RmClient(preempting.layout.rm, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        submitter = Submitter(rm, tmp_path / "staging", master_jar(preempting.layout.hadoop))
        steady = submitter.submit(job("steady"), 0)
        wait_for(lambda: len(containers_of(rm, steady)) == 7, STARTS_S)
        held = containers_of(rm, steady)
        settings = Settings(shadow=False, limits=Limits(pressure=0.01))  # every machine counts as full
        controller = Controller(rm, parse_policy("usage-feedback"), lambda node: node.total, settings)
        causes = {turn.cause for turn in controller.step().of("sizes")}
        other = submitter.submit(job("other"), 1)
        settled_s = None
        while settled_s is None or time.monotonic() - settled_s < SEVERAL_ROUNDS_S:
            controller.step()
            assert held <= containers_of(rm, steady)  # YARN may give it more for a moment (test_steer.py)
            if settled_s is None and len(containers_of(rm, other)) == 7:
                settled_s = time.monotonic()
            time.sleep(0.5)
        assert application(rm, steady)["preemptedResourceMB"] == 0
        assert causes == {Cause.PREEMPTION}
        assert sum(totals(rm).values()) / 2 >= HELD_MB


def test_a_leaf_says_whether_yarn_preempts_within_it(preempting: LocalCluster) -> None:
    """By that, priorities stay as they are (preemption.leave_priorities)."""
    with RmClient(preempting.layout.rm, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        for enabled in (False, True, False):
            configure(preempting.layout.rm, WITHIN, str(enabled).lower())
            queues = {queue.name: queue for queue in read_queues(rm.scheduler(), rm.address)}
            assert queues["root.steady"].preempts_within is enabled


def configure(rm: str, name: str, value: str) -> None:
    """A setting of the whole scheduler, live."""
    entry = f"<entry><key>{name}</key><value>{value}</value></entry>"
    body = f"<sched-conf><global-updates>{entry}</global-updates></sched-conf>".encode()
    address = f"{rm}/ws/v1/cluster/scheduler-conf?user.name={getpass.getuser()}"
    asked = Request(address, body, {"Content-Type": "application/xml"}, method="PUT")
    with urlopen(asked, timeout=PATIENT_S) as answer:
        assert answer.status == 200
