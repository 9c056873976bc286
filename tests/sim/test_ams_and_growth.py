"""Nodes that grow, and AMs that end, make room for tasks, not for further AMs that nobody has let in."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from heddle.model.cluster import Cluster, Node, Observation, Queue, Timing
from heddle.model.workload import AM, Workload
from heddle.policy.parse import parse_policy
from heddle.stock_yarn.outside import run_by_bridge
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.yarn.live.applying.wanted import AmNeed

QUEUE = "root.default"
UNTIL_MS = 400_000


def burst_and_more() -> Workload:
    """Forty jobs at once, whose AMs fill most of the cluster; then one each eight seconds."""
    random = Random(3)

    def job(number: int, at_ms: int) -> JobSpec:
        tasks = [TaskSpec(1000 * random.randint(10, 40), constant(250, 300)) for _ in range(random.randint(2, 8))]
        stage = StageSpec("s", (768, 1000), tasks)
        return JobSpec(f"job-{number}", at_ms, [stage], am=(256, 1000), am_use=(110, 50), queue=QUEUE, user="ann")

    return build("burst", [job(n, 50 * n if n < 40 else 20_000 + 8000 * (n - 40)) for n in range(90)])


def cluster() -> Cluster:
    nodes = tuple(Node(f"n{n}", (4096, 32_000), (4096, 32_000)) for n in range(3))
    queues = (Queue("root"), Queue(QUEUE, am_share_permille=900))
    timing = Timing(
        node_heartbeat_ms=1000, am_heartbeat_ms=1000, usage_report_ms=1000, launch_ms=1500, am_start_ms=5000
    )
    return Cluster(nodes, queues=queues, timing=timing, observation=Observation(poll_ms=2000, lag_ms=1000))


def test_ams_that_fill_a_cluster_make_way_for_tasks_as_nodes_grow() -> None:
    """`cold_start=none` lets the burst in. Then tasks get what nodes are made larger by, and what ended AMs leave; if
    other AMs got it, forty and more would stay, as they did on a real YARN (docs/soak.md)."""
    workload = burst_and_more()
    policy = parse_policy("capacity+haste+usage-feedback+admission-control(cold_start=none)")
    attempts = run_by_bridge(workload, cluster(), policy, 1, True, UNTIL_MS).attempts
    stage_of = np.searchsorted(workload.stages["first_task"], attempts["task"], side="right") - 1
    ams = attempts[workload.stages["kind"][stage_of] == AM]

    def at_work(at_ms: int) -> int:
        ended_ms = np.where(ams["ended_at_ms"] < 0, UNTIL_MS, ams["ended_at_ms"])
        return int(((ams["allocated_at_ms"] <= at_ms) & (ended_ms > at_ms)).sum())

    assert at_work(10_000) == 40
    assert at_work(60_000) <= 40
    assert at_work(200_000) < 25
    assert at_work(380_000) < 15


@pytest.mark.parametrize(
    ("growth", "share"), [((0, 0), "0.5"), ((1000, 0), "0.4"), ((0, 4000), "0.5"), ((12_000, 24_000), "0.125")]
)
def test_the_share_is_of_what_nodes_will_promise(growth: tuple[int, int], share: str) -> None:
    """Of the resource of which it is the most: 2000 of 4000 MB, 2 of 8 vcores."""
    assert AmNeed([2000, 2000], {0: 4000, 1: 8000}).share(growth) == share
