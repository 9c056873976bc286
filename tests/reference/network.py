"""Flows between nodes: what a task reads from where, who shares which link, and how far each flow has come."""

from __future__ import annotations

from dataclasses import dataclass

from heddle.model.draw import STREAM_TRAFFIC, draw
from heddle.model.workload import INNER, TASKS

from .state import Node, Run, Task, World

UNIT = 1024  # of a byte
MBPS = 128_000  # 1 Mbit/s in units per ms
UNDECLARED_MBPS = 1_000_000


@dataclass(eq=False)
class Flow:
    source: Node
    run: Run
    left: int
    rate: int = 0
    since: int = 0


class Network:
    def __init__(self, world: World) -> None:
        self.world = world
        self.on = world.cluster.has_network
        self.flows: list[Flow] = []
        self.waiting: list[Run] = []  # fetch from the end of this instant on

    # What is read

    def sources(self, run: Run) -> dict[Node, int]:
        """The bytes that a run reads from other nodes."""
        if not self.on or run.kind not in (TASKS, INNER):
            return {}
        found: dict[Node, int] = {}
        task, stage = run.task, run.task.stage
        if task.prefers is not None:
            found[task.prefers] = task.input_bytes
        number = stage.tasks.index(task)
        for before, total in zip(stage.after, stage.after_bytes, strict=True):
            n, m = len(stage.tasks), len(before.tasks)
            share = total * (number + 1) // n - total * number // n
            writers = sorted(before.tasks, key=lambda writer: self._wrote_on(writer).number)
            for c, writer in enumerate(writers):
                node = self._wrote_on(writer)
                found[node] = found.get(node, 0) + share * (c + 1) // m - share * c // m
        return {node: size for node, size in found.items() if node is not run.node and size > 0}

    @staticmethod
    def _wrote_on(task: Task) -> Node:
        assert task.finished_on is not None
        return task.finished_on

    # Beginning and ending

    def drop(self, run: Run) -> None:
        self.flows = [flow for flow in self.flows if flow.run is not run]
        self.waiting = [other for other in self.waiting if other is not run]

    def next_event(self) -> int | None:
        times = [flow.since + -(-flow.left // flow.rate) for flow in self.flows if flow.rate > 0]
        network = self.world.cluster.network
        if self.flows and network.traffic_permille > 0:
            times.append((self.world.now // network.traffic_ms + 1) * network.traffic_ms)
        return min(times, default=None)

    def end_flows(self) -> bool:
        """Whether anything happened: a flow ended, or the traffic of others changed."""
        now, network = self.world.now, self.world.cluster.network
        ended = [flow for flow in self.flows if flow.left - (now - flow.since) * flow.rate <= 0]
        self.flows = [flow for flow in self.flows if flow not in ended]
        for flow in ended:
            if all(other.run is not flow.run for other in self.flows):
                flow.run.due = now
        changed = bool(self.flows) and network.traffic_permille > 0 and now % network.traffic_ms == 0
        return bool(ended) or changed

    # Rates

    def renew(self) -> None:
        """Phase 8: flows begin, and all get the rates of now."""
        now = self.world.now
        for run in self.waiting:
            self.flows += [Flow(node, run, size * UNIT, since=now) for node, size in self.sources(run).items()]
        self.waiting = []
        links_of = {flow: links_between(self.world, flow.source, flow.run.node) for flow in self.flows}
        for flow, rate in fair_rates(links_of, self._capacity).items():
            flow.left -= (now - flow.since) * flow.rate
            flow.since, flow.rate = now, rate

    def _capacity(self, link: int) -> int:
        world, network = self.world, self.world.cluster.network
        if link < 2 * len(world.nodes) and world.nodes[link // 2].lost:
            return 0
        capacity = declared_mbps(world, link) * MBPS
        if network.traffic_permille == 0:
            return capacity
        x = int(draw(world.seed, STREAM_TRAFFIC, link * 2**32 + world.now // network.traffic_ms))
        return max(1, capacity - capacity * (x % (2 * network.traffic_permille + 1)) // 1000)


def links_between(world: World, a: Node, b: Node) -> list[int]:
    """The links that a flow from one node to another takes."""
    links = [2 * a.number, 2 * b.number + 1]
    if a.spec.rack != b.spec.rack:
        for node, side in ((a, 0), (b, 1)):
            if world.cluster.network.uplink_mbps(node.spec.rack) > 0:
                links.append(2 * len(world.nodes) + 2 * _racks(world).index(node.spec.rack) + side)
    return links


def declared_mbps(world: World, link: int) -> int:
    """What a link would carry if nothing else were on it."""
    beyond_nodes = link - 2 * len(world.nodes)
    if beyond_nodes < 0:
        return world.nodes[link // 2].spec.bandwidth_mbps or UNDECLARED_MBPS
    return world.cluster.network.uplink_mbps(_racks(world)[beyond_nodes // 2])


def _racks(world: World) -> list[str]:
    """As the nodes first name them."""
    return list(dict.fromkeys(node.spec.rack for node in world.nodes))


def fair_rates(links_of, capacity_of):  # type: ignore[no-untyped-def]
    """Progressive filling: `links_of` has the links of each flow, `capacity_of` tells what a link can carry."""
    rates = {}
    while len(rates) < len(links_of):
        shares = []
        for link in {link for links in links_of.values() for link in links}:
            here = [flow for flow, links in links_of.items() if link in links]
            without = [flow for flow in here if flow not in rates]
            if without:
                capacity = capacity_of(link)
                rest = capacity - sum(rates[flow] for flow in here if flow in rates)
                share = max(1, rest // len(without)) if capacity > 0 else 0
                shares.append((share, link, without))
        share, _, flows = min(shares, key=lambda one: one[:2])
        rates |= dict.fromkeys(flows, share)
    return rates
