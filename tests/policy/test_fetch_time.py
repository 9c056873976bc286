"""Placement by fetch time: by hand, against a direct computation, and what it decides. 8 Mbit/s: 1000 bytes in a ms."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from heddle.model.cluster import Cluster, Network, Node
from heddle.model.errors import RunRefused
from heddle.policy.lever import Question
from heddle.policy.levers.dag_data import write_place
from heddle.policy.levers.fetch_time import fetch_cost
from heddle.policy.levers.network_load import add_transfer
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.yarn.live.levers import refuse_unfit

MB = 1_000_000
ONE = (100, 1000)


def hosts(racks: str, mbps: int = 8, slots: int = 2, uplinks: tuple[tuple[str, int], ...] = ()) -> Cluster:
    """n0, n1, ... in the racks of these letters."""
    size = (100 * slots, 1000 * slots)
    nodes = tuple(Node(f"n{i}", size, size, rack, bandwidth_mbps=mbps) for i, rack in enumerate(racks))
    return Cluster(nodes, network=Network(uplink_of_rack=uplinks))


def joining(*parts: int) -> JobSpec:
    """Writers w0, w1, ..., which would be on n0, n1, ..., and a reader that reads so many bytes of each."""
    names = tuple(f"w{i}" for i in range(len(parts)))
    writers = [StageSpec(name, ONE, [TaskSpec(1000, None, f"n{i}", 0)]) for i, name in enumerate(names)]
    return JobSpec("j", 0, [*writers, StageSpec("r", ONE, [TaskSpec(1000)], names, after_bytes=parts)])


def at_rest(jobs: list[JobSpec], cluster: Cluster) -> tuple[Any, Any]:
    """View and state before anything has happened."""
    sim = build_sim(RunInputs(build("x", jobs), cluster, parse_policy("network-aware(by=fetch)"), 0, False))
    return sim.shown, sim.levers[Question.PLACEMENT].state


def test_the_example_of_semantics() -> None:
    view, state = at_rest([joining(3 * MB, MB)], hosts("aab"))
    write_place(view, state, 0, 0)  # 3 MB on n0
    write_place(view, state, 1, 1)  # 1 MB on n1
    assert [fetch_cost(view, state, node, 2) for node in (0, 1)] == [2000, 6000]
    add_transfer(view, state, 2, 0, 5 * MB)
    assert [fetch_cost(view, state, node, 2) for node in (0, 1)] == [7000, 6000]
    add_transfer(view, state, 2, 0, -5 * MB)
    assert [fetch_cost(view, state, node, 2) for node in (0, 1)] == [2000, 6000]


def test_where_all_is_at_hand_nothing_is_waited_for() -> None:
    view, state = at_rest([joining(3 * MB)], hosts("aab"))
    write_place(view, state, 0, 0)
    add_transfer(view, state, 2, 0, 5 * MB)
    assert fetch_cost(view, state, 0, 1) == 0


def test_input_moves_to_nodes_that_no_task_of_the_stage_prefers() -> None:
    tasks = [TaskSpec(1000, None, "n0", 2 * MB), TaskSpec(1000, None, "n1", 4 * MB)]
    view, state = at_rest([JobSpec("j", 0, [StageSpec("s", ONE, tasks)])], hosts("abc"))
    # The task that is taken on n0 prefers n0. On n2 it reads 1 MB of n0 and 2 MB of n1 on average: 3 s, twice.
    assert [fetch_cost(view, state, node, 0) for node in range(3)] == [0, 0, 6000]


Link = tuple[str, str]


class Links:
    """The links of a cluster as semantics.md has them (Network)."""

    def __init__(self, cluster: Cluster) -> None:
        assert cluster.network is not None
        self.rack = {node.name: node.rack for node in cluster.nodes}
        self.bandwidth: dict[Link, int] = {}  # bytes per ms
        for node in cluster.nodes:
            self.bandwidth |= dict.fromkeys((("out", node.name), ("in", node.name)), node.bandwidth_mbps * 125)
        for rack, mbps in cluster.network.uplink_of_rack:
            self.bandwidth |= dict.fromkeys((("up", rack), ("down", rack)), mbps * 125)

    def between(self, source: str, target: str) -> list[Link]:
        there, here = self.rack[source], self.rack[target]
        found = [("out", source), ("in", target)] + ([("up", there), ("down", here)] if there != here else [])
        return [link for link in found if link in self.bandwidth]

    def fetch_ms(self, own: dict[str, int], moving: dict[tuple[str, str], int], node: str) -> int:
        load: dict[Link, int] = defaultdict(int)
        mine: dict[Link, int] = defaultdict(int)
        for (source, target), size in moving.items():
            for link in self.between(source, target):
                load[link] += size
        for source, size in own.items():
            for link in self.between(source, node) if source != node else []:
                mine[link] += size
        slowest = max(((load[link] + size) // self.bandwidth[link] for link, size in mine.items()), default=0)
        alone = sum(size // self.bandwidth[link] for link, size in mine.items() if link[0] in ("in", "down"))
        return slowest + alone


@pytest.mark.parametrize("seed", range(20))
def test_against_a_direct_computation(seed: int) -> None:
    chance = random.Random(seed)
    cluster = hosts("abcabca", uplinks=(("a", chance.choice((2, 8))), ("b", chance.choice((2, 8)))))
    nodes = tuple(replace(node, bandwidth_mbps=chance.choice((4, 8, 16))) for node in cluster.nodes)
    cluster = replace(cluster, nodes=nodes)
    names = [node.name for node in nodes]
    parts = [chance.randrange(1, 9) * MB for _ in range(4)]
    view, state = at_rest([joining(*parts)], cluster)
    own: dict[str, int] = defaultdict(int)
    for writer, part in enumerate(parts):
        place = chance.randrange(len(nodes))
        own[names[place]] += part
        write_place(view, state, writer, place)
    moving: dict[tuple[str, str], int] = defaultdict(int)
    for _ in range(12):
        source, target = chance.sample(range(len(nodes)), 2)
        under_way = moving[names[source], names[target]]
        size = -under_way if under_way and chance.random() < 0.5 else chance.randrange(1, 30) * MB
        moving[names[source], names[target]] += size
        add_transfer(view, state, source, target, size)
    got = [fetch_cost(view, state, node, len(parts)) for node in range(len(nodes))]
    assert got == [Links(cluster).fetch_ms(own, moving, name) for name in names]
    assert len(set(got)) > 1


# What it decides


def nodes_of(jobs: list[JobSpec], cluster: Cluster, policy: str) -> list[int]:
    run = simulate(build("x", jobs), cluster, policy, record=True, check=True, seed=1)
    assert run.manifest["outcome"] == "finished"
    return [int(node) for node in run.attempts.sort("task")["node"]]


def test_a_reader_goes_to_the_most_bytes() -> None:
    # Writers on n0, n1 and n2. By nearness all three are as near, and n0 comes first.
    jobs = [joining(MB, 2 * MB, 4 * MB)]
    assert nodes_of(jobs, hosts("aaa", slots=1), "network-aware(by=nearness)") == [0, 1, 2, 0]
    assert nodes_of(jobs, hosts("aaa", slots=1), "network-aware(by=fetch)") == [0, 1, 2, 2]


@pytest.mark.parametrize(("host", "reader"), [("n3", 1), ("n0", 0)])
def test_a_reader_shuns_a_node_that_is_being_sent_to(host: str, reader: int) -> None:
    # A job of higher priority fetches 9 MB to n0 from n3, where there is no room. The reader's 2 MB on n0 and 1 MB on
    # n1 would take 1 + 1 s on n0 and 2 + 2 s on n1; behind the 9 MB, 10 + 1 s on n0. If these lie on n0, nothing moves.
    full = JobSpec("full", 0, [StageSpec("s", (200, 2000), [TaskSpec(60_000, None, "n3", 0)])], priority=2)
    fetching = JobSpec("fetching", 0, [StageSpec("s", ONE, [TaskSpec(60_000, None, host, 9 * MB)])], priority=1)
    got = nodes_of([joining(2 * MB, MB), full, fetching], hosts("aaaa"), "network-aware(by=fetch)")
    assert got == [0, 1, reader, 3, 0]


def test_where_no_bytes_are_declared_it_goes_near() -> None:
    job = JobSpec("j", 0, [StageSpec("s", ONE, [TaskSpec(1000, None, "n3", 0)])])
    assert nodes_of([job], hosts("aabb"), "network-aware(by=fetch)") == [3]


def test_a_live_cluster_refuses_it_as_it_does_the_others() -> None:
    with pytest.raises(RunRefused, match="network-aware needs data sizes and bandwidths"):
        refuse_unfit(parse_policy("network-aware(by=fetch)"))
