"""What queues are due follows what nodes may promise now: a real YARN's own figures, after a resize over REST.

Guarantees, maxima and shares do not depend on load. What does, AM limits, is held against what is in use then.
"""

import getpass
import itertools
import math
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.configuration import SMALLEST_CONTAINER_MB
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, free_port
from .live import STARTS_S
from .own_daemons import rm_admin

AM_SHARE = 0.5  # of every queue, in clusters of these tests
SMALLEST = (SMALLEST_CONTAINER_MB, 1)
SOON_S = 180  # on a machine that is busy with everything else

Amounts = tuple[int, int]  # MB, vcores


def amounts(of: dict[str, Any]) -> Amounts:
    return of["memory"], of["vCores"]


def own_sizes(rm: RmClient, layout: Layout) -> None:
    for node in read_nodes(rm.nodes(), "").values():
        rm.resize_node(node.id, layout.node_memory_mb, layout.node_vcores)


def resize_first(rm: RmClient, size: Amounts) -> Amounts:
    """Resizes one node; what all of them then promise together."""
    nodes = [node for node in read_nodes(rm.nodes(), "").values() if node.alive]
    first, *others = sorted(nodes, key=lambda node: node.id)
    rm.resize_node(first.id, *size)
    return size[0] + sum(node.total[0] for node in others), size[1] + sum(node.total[1] // 1000 for node in others)


# Capacity


def change_scheduler(rm: str, xml: str) -> None:
    url = f"{rm}/ws/v1/cluster/scheduler-conf?user.name={getpass.getuser()}"
    headers = {"Content-Type": "application/xml"}
    body = f"<sched-conf>{xml}</sched-conf>".encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers, method="PUT"), timeout=60):
        pass


def of_queue(kind: str, name: str, **settings: str) -> str:
    entries = (f"<entry><key>{key}</key><value>{value}</value></entry>" for key, value in settings.items())
    return f"<{kind}-queue><queue-name>{name}</queue-name><params>{''.join(entries)}</params></{kind}-queue>"


@pytest.fixture
def guest(cluster: LocalCluster, rm: RmClient) -> Iterator[str]:
    """A second queue, with 30% of the cluster; the first one has 70% meanwhile."""
    url, name, before = cluster.layout.rm, "root.guest", rm.scheduler_settings()
    settings = {"capacity": "30", "maximum-capacity": "50", "user-limit-factor": "100"}
    change_scheduler(url, of_queue("update", "root.default", capacity="70") + of_queue("add", name, **settings))
    try:
        yield name
    finally:
        own_sizes(rm, cluster.layout)
        change_scheduler(url, of_queue("update", name, state="STOPPED"))
        gone = f"<remove-queue>{name}</remove-queue>"
        change_scheduler(url, gone + of_queue("update", "root.default", capacity="100"))
        assert rm.scheduler_settings() == before


def queues(rm: RmClient) -> dict[str, dict[str, Any]]:
    root = rm.scheduler()["scheduler"]["schedulerInfo"]
    return {"root": root} | {f"root.{queue['queueName']}": queue for queue in root["queues"]["queue"]}


def due(rm: RmClient) -> dict[str, tuple[Amounts, Amounts]]:
    """Guarantee and maximum of each queue."""
    of_default_partition = {
        name: queue["capacities"]["queueCapacitiesByPartition"][0] for name, queue in queues(rm).items()
    }
    return {
        name: (amounts(of["effectiveMinResource"]), amounts(of["effectiveMaxResource"]))
        for name, of in of_default_partition.items()
    }


def part(whole: Amounts, share: float) -> Amounts:
    return math.floor(whole[0] * share), math.floor(whole[1] * share)


def am_limit(of: Amounts) -> Amounts:
    up = [math.ceil(math.ceil(AM_SHARE * amount) / step) * step for amount, step in zip(of, SMALLEST, strict=True)]
    return up[0], up[1]


def test_guarantees_and_maxima_are_parts_of_what_nodes_promise_now(
    cluster: LocalCluster, rm: RmClient, guest: str
) -> None:
    """None of the products below is whole: 70% as YARN keeps it is a hair less than 0.7."""
    for size in ((1001, 3), (NODE_MB, NODE_VCORES), (3 * NODE_MB + 1, 2 * NODE_VCORES + 3)):
        root = resize_first(rm, size)
        expected = {
            "root": (root, root),
            "root.default": (part(root, 0.7), root),
            guest: (part(root, 0.3), part(root, 0.5)),
        }
        wait_for(lambda expected=expected: due(rm) == expected, SOON_S)


def test_the_am_limit_is_of_the_guarantee_once_others_hold_the_rest(
    cluster: LocalCluster, rm: RmClient, guest: str, submit: Callable[[ReplayJob], str]
) -> None:
    def limit() -> Amounts:
        return amounts(queues(rm)[guest]["AMResourceLimit"])

    def held() -> Amounts:
        return amounts(queues(rm)["root.default"]["resourcesUsed"])

    rm.change_queues({guest: {"maximum-capacity": "100"}})
    wait_for(lambda: held() == (0, 0), SOON_S)  # YARN looks at what is in use when a node changes, and not before
    root = resize_first(rm, (NODE_MB, NODE_VCORES))
    wait_for(lambda: limit() == am_limit(root), SOON_S)  # nobody is there: of its maximum

    lines = ("stage 1728 1 -", *2 * ("task 0 600000 40:10:10000",))
    app_id = submit(ReplayJob("the-rest", 0, "root.default", 0, (256, 1), (), 2, lines))
    try:
        wait_for(lambda: held()[0] == 2 * 1728 + 256, STARTS_S)
        smaller = itertools.cycle((NODE_MB - 10, NODE_MB - 20))

        def follows() -> bool:
            """Changes the node anew each time: an allocation may have been under way at the last change."""
            root = resize_first(rm, (next(smaller), NODE_VCORES))
            guarantee = part(root, 0.3)
            assert root[0] - (2 * 1728 + 256) < guarantee[0]
            return limit() == am_limit(guarantee)

        wait_for(follows, SOON_S)
    finally:
        rm.kill(app_id)
    wait_for(lambda: held() == (0, 0), SOON_S)


# Fair


@pytest.fixture(scope="module")
def fair_cluster(hadoop: None, own_state: Path) -> Iterator[LocalCluster]:
    layout = Layout(nodes=1, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port(), scheduler="fair")
    try:
        yield bring_up("fair", layout, print)
    finally:
        take_down("fair")


def fair_queues(rm: RmClient) -> dict[str, dict[str, Any]]:
    root = rm.scheduler()["scheduler"]["schedulerInfo"]["rootQueue"]
    return {queue["queueName"]: queue for queue in (root, *root["childQueues"]["queue"])}


def shares(rm: RmClient, figure: str) -> dict[str, Amounts]:
    return {name: amounts(queue[figure]) for name, queue in fair_queues(rm).items()}


@pytest.mark.parametrize("policy", ["drf", "fair"])
def test_fair_shares_and_maxima_in_percent_follow(fair_cluster: LocalCluster, tmp_path: Path, policy: str) -> None:
    """Three queues of which two have work. `fair` shares memory only."""
    rules = (
        f"<allocations><queueMaxAMShareDefault>{AM_SHARE}</queueMaxAMShareDefault>"
        f"<defaultQueueSchedulingPolicy>{policy}</defaultQueueSchedulingPolicy>"
        "<queue name='a'/><queue name='b'/><queue name='idle'><maxResources>50.0%</maxResources></queue></allocations>"
    )
    (fair_cluster.conf / "fair-scheduler.xml").write_text(rules)
    rm_admin(fair_cluster, "-refreshQueues")
    with RmClient(fair_cluster.layout.rm, timeout_s=60, user=getpass.getuser()) as rm:
        submitter = Submitter(rm, tmp_path / "staging", master_jar(fair_cluster.layout.hadoop))
        lines = ("stage 64 1 -", "task 0 600000 40:10:10000")
        jobs = [ReplayJob(name, 0, f"root.{name}", 0, (256, 1), (), 1, lines) for name in ("a", "b")]
        apps = [submitter.submit(job, number) for number, job in enumerate(jobs)]
        try:
            for size in ((1201, 7), (2 * NODE_MB + 1, NODE_VCORES + 1)):
                root = resize_first(rm, size)
                half = math.ceil(root[0] / 2), math.ceil(root[1] / 2) if policy == "drf" else 0  # rounded up
                expected = {"root": root, "root.a": half, "root.b": half, "root.idle": (0, 0)}
                wait_for(lambda expected=expected: shares(rm, "fairResources") == expected, SOON_S)
                assert shares(rm, "maxResources")["root.idle"] == part(root, 0.5)
                assert shares(rm, "steadyFairResources")["root"] == root
        finally:
            for app_id in apps:
                rm.kill(app_id)
            own_sizes(rm, fair_cluster.layout)
        wait_for(lambda: shares(rm, "fairResources")["root.a"] == (0, 0), SOON_S)
