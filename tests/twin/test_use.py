"""What containers are thought to use, from what nodes hold and use together."""

from __future__ import annotations

import numpy as np
import pytest

from heddle.model.cluster import Cluster
from heddle.model.resources import BASE_RESOURCES, VCORES
from heddle.model.workload import TASKS
from heddle.traces.clusters import uniform_cluster
from heddle.twin.futures import Futures
from heddle.twin.known import Application, Running, Snapshot, Stage
from heddle.twin.use import ObservedUse
from heddle.yarn.live import columns
from heddle.yarn.live.columns import no_rows
from heddle.yarn.live.names import Counted, Names
from heddle.yarn.live.snapshot import Snapshot as Look

CLUSTER: Cluster = uniform_cluster(2, 16384, 16)
LEAN, FULL = (4096, 1000), (2048, 1000)
USED = {LEAN: (1024, 250), FULL: (2048, 1000)}


def look(counts: list[tuple[int, int]]) -> Look:
    """Of each node how many containers of application 0, which are lean, and of 1, which use all that they hold."""
    nodes = np.zeros(len(counts), columns.NODE)
    nodes["node"], nodes["total"] = np.arange(len(counts)), (16384, 16000)
    containers = []
    for node, of_apps in enumerate(counts):
        for app, (count, size) in enumerate(zip(of_apps, (LEAN, FULL), strict=True)):
            nodes["containers_memory_mb"][node] += count * USED[size][0]
            nodes["container_vcores_used"][node] += count * USED[size][1] / 1000
            for _ in range(count):
                one = np.zeros(1, columns.CONTAINER)
                one["app"], one["node"], one["size"] = app, node, size
                containers.append(one)
    some = Counted(9, str, int)
    names = Names(nodes=some, apps=some, containers=some, queues=some, users=some, words=some)
    rows = np.concatenate(containers) if containers else no_rows().containers
    return Look(0, names, no_rows()._replace(nodes=nodes, containers=rows))


def observed(*looks: list[tuple[int, int]]) -> ObservedUse:
    vcores = np.array([node.capacity[VCORES] for node in CLUSTER.nodes])
    use = ObservedUse(lambda look: vcores[look.columns.nodes["node"]], lambda app: (("lean", "full")[app], "u"))
    for counts in looks:
        use.look(look(counts))
    return use


def application(name: str, size: tuple[int, int]) -> Application:
    work = Stage("work", TASKS, size, finished_ms=(1000,), running=(Running("node-0", 10),), left=1)
    return Application(name, name, "root.default", "u", -5000, stages=(work,))


def told(use: ObservedUse, name: str, size: tuple[int, int]) -> tuple[int, ...] | None:
    snapshot = Snapshot(CLUSTER, "capacity", 5000, (application(name, size),))
    return use.told(snapshot).applications[0].stages[0].use


def test_kinds_are_told_apart_though_nodes_tell_only_sums() -> None:
    use = observed(*[[(n % 3, 2), (1, n % 4)] for n in range(120)])
    assert told(use, "lean", LEAN) == pytest.approx(USED[LEAN], rel=0.1)
    assert told(use, "full", FULL) == pytest.approx(USED[FULL], rel=0.1)


def test_a_kind_that_was_never_seen_is_taken_to_use_what_all_do() -> None:
    use = observed([(1, 2), (1, 2)])
    held, used = 4096 + 2 * 2048, 1024 + 2 * 2048
    assert told(use, "other", (1000, 1000)) == pytest.approx((1000 * used / held, 1000 * 2250 / 3000), abs=1)
    seen_once = told(use, "lean", LEAN)
    assert seen_once is not None
    assert USED[LEAN][0] < seen_once[0] <= LEAN[0] * used / held  # between its own and what all do


def test_without_a_look_nothing_is_said_of_use() -> None:
    assert told(observed(), "lean", LEAN) is None
    assert told(observed([(0, 0), (0, 0)]), "lean", LEAN) is None


def test_futures_use_what_is_told() -> None:
    snapshot = Snapshot(CLUSTER, "capacity", 5000, (application("lean", LEAN),))
    assert not Futures(snapshot, 60_000, 1).future(0).workload.has_use
    future = Futures(observed(*[[(1, 0), (2, 0)]] * 100).told(snapshot), 60_000, 1).future(0).workload
    assert future.has_use
    assert future.resources == BASE_RESOURCES
    assert future.segments["use"][0].tolist() == pytest.approx(USED[LEAN], rel=0.01)
