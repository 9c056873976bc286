"""What a local cluster tells of its network, and how a workload's hosts are called there."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import RunRefused
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.yarn.live.declared_data import DeclaredData, declared_by_name
from heddle.yarn.live.things_seen import NodeSeen
from heddle.yarn.testbed.local.layout import Layout


def declared_on(layout: Layout, workload: Workload) -> DeclaredData:
    """The workload's data on this cluster. As in a replay (plan.py, Data.java), node-3 is the node of number 3."""
    if not layout.hosts:
        raise RunRefused("data is declared by node, and the nodes of this cluster share one host: `up --hosts`")
    addresses = [layout.node_host(node) for node in range(layout.nodes)]
    size = layout.node_memory_mb, layout.node_vcores * MILLI
    network = Cluster(
        name="local",
        resources=workload.resources[:2],
        nodes=tuple(Node(address, size, size, bandwidth_mbps=layout.link_mbit) for address in addresses),
    )
    hosts = tuple(_address(host, addresses) for host in workload.hosts)
    data = declared_by_name(replace(workload, hosts=hosts), network)
    if not layout.pairs:
        return data
    number_of = {address: node for node, address in enumerate(addresses)}

    def pair_mbps_of(one: NodeSeen, other: NodeSeen) -> int:
        return layout.pair_mbit(number_of[data.host_of(one)], number_of[data.host_of(other)])

    return replace(data, pair_mbps_of=pair_mbps_of)


def _address(host: str, addresses: list[str]) -> str:
    number = host.rpartition("-")[2]
    return addresses[int(number) % len(addresses)] if number.isdigit() else host
