"""The network's memory at time 0, and more of it when the engine runs short."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import MOST_MBPS, Cluster
from heddle.model.workload import Workload
from heddle.policy.policy import Declared
from heddle.sim.codes import FOREVER
from heddle.sim.memory.network_tables import BYTES_PER_MS_OF_MBPS, FLOW, LINK, RATE_OF_MBPS, ROUTE
from heddle.sim.memory.tables import Sim

FIRST_FLOWS = 1024  # room for so many; doubled as often as needed


def network_setting(cluster: Cluster) -> dict[str, int]:
    return {
        "network": cluster.has_network,
        "traffic_permille": cluster.network.traffic_permille,
        "traffic_ms": cluster.network.traffic_ms,
        "flow_margin": cluster.n_nodes,  # one task has a flow from each node at most
    }


def network_memory(workload: Workload, cluster: Cluster, rack: npt.NDArray[np.int32], n_slots: int) -> dict[str, Any]:
    """The network's part of Sim; empty arrays while the network is off."""
    on = cluster.has_network
    link, uplink = _links(cluster, rack)
    n_nodes, n_tasks = cluster.n_nodes if on else 0, len(workload.tasks) if on else 0
    nothing = np.zeros(0, np.int64)
    return {
        "edge_bytes": nothing if workload.edge_bytes is None else workload.edge_bytes,
        "input_bytes": nothing if workload.input_bytes is None else workload.input_bytes,
        "output_node": np.zeros(n_tasks, np.int32),
        "output_tasks": np.zeros(n_tasks, np.int32),
        "link": link,
        "route": _chained(ROUTE, "first_flow", 0, FIRST_FLOWS),
        "flow": _chained(FLOW, "next", 0, FIRST_FLOWS),
        "uplink": uplink,
        "changed_links": np.zeros(len(link), np.int32),
        "reached_links": np.zeros(len(link), np.int32),
        "reached_routes": np.zeros(FIRST_FLOWS, np.int32),
        "link_heap": np.zeros(len(link), np.int32),
        "fetchers": np.zeros(n_slots if on else 0, np.int32),
        "sources": np.zeros(n_nodes, np.int32),
        "bytes_on_node": np.zeros(n_nodes, np.int64),
        "route_from": np.zeros(n_nodes, np.int32),
    }


def declared(
    workload: Workload,
    cluster: Cluster,
    prefers: npt.NDArray[np.int32],
    first_preferred: npt.NDArray[np.int64],
    preferred: npt.NDArray[np.int64],
) -> Declared:
    """What levers may know of data and bandwidth: what the workload and the cluster declare."""
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    per_place = np.zeros(len(preferred), np.int64)
    if workload.input_bytes is not None and len(preferred):
        reads = np.flatnonzero(prefers >= 0)
        place_of = np.repeat(np.arange(len(workload.stages)), np.diff(first_preferred)) * cluster.n_nodes + preferred
        found = np.searchsorted(place_of, stage[reads] * cluster.n_nodes + prefers[reads])
        np.add.at(per_place, found, workload.input_bytes[reads])
    mbps = np.array([node.bandwidth_mbps or MOST_MBPS for node in cluster.nodes], np.int64)
    racks = dict.fromkeys(node.rack for node in cluster.nodes)
    nothing = np.zeros(len(workload.stage_after), np.int64)
    return Declared(
        after=workload.stage_after,
        edge_bytes=nothing if workload.edge_bytes is None else workload.edge_bytes,
        preferred_bytes=per_place,
        bandwidth=mbps * BYTES_PER_MS_OF_MBPS,
        uplink=np.array([cluster.network.uplink_mbps(rack) for rack in racks], np.int64) * BYTES_PER_MS_OF_MBPS,
        heartbeats=cluster.timing.node_heartbeat_ms > 0,
    )


def _links(cluster: Cluster, rack: npt.NDArray[np.int32]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """(links, number of each rack's link up). Racks are numbered as the nodes first name them, as in the view."""
    uplink = np.full(int(rack.max(initial=0)) + 1, -1, np.int32)
    if not cluster.has_network:
        return np.zeros(0, LINK), uplink
    capacities = [node.bandwidth_mbps or MOST_MBPS for node in cluster.nodes for _ in range(2)]
    for name, number in dict(zip((node.rack for node in cluster.nodes), rack.tolist(), strict=True)).items():
        mbps = cluster.network.uplink_mbps(name)
        uplink[number] = 2 * cluster.n_nodes + 2 * number if mbps else -1
        capacities += [mbps] * 2
    link = np.zeros(len(capacities), LINK)
    link["capacity"] = link["available"] = np.array(capacities, np.int64) * RATE_OF_MBPS
    link["first"] = -1
    link["due_ms"] = FOREVER
    link["side"] = np.arange(len(link)) % 2
    link["side"][2 * cluster.n_nodes :] += 2
    return link, uplink


def _chained(dtype: np.dtype[Any], field: str, first: int, end: int) -> npt.NDArray[Any]:
    """Free rows with the numbers from first to end, each pointing to the next."""
    rows = np.zeros(end - first, dtype)
    rows[field] = np.arange(first + 1, end + 1)
    return rows


def with_more_flows(sim: Sim) -> Sim:
    """The same memory with room for at least twice as many flows and routes."""

    def longer(rows: npt.NDArray[Any], field: str, first_free: str, n_free: str) -> npt.NDArray[Any]:
        before = len(rows)
        end = 2 * before + int(sim.setting["flow_margin"][0])
        more = _chained(rows.dtype, field, before, end)
        more[field][-1] = sim.control[first_free][0]
        sim.control[first_free] = before
        sim.control[n_free] += end - before
        return np.concatenate([rows, more])

    route = longer(sim.route, "first_flow", "free_route", "n_free_routes")
    return sim._replace(
        route=route,
        flow=longer(sim.flow, "next", "free_flow", "n_free_flows"),
        reached_routes=np.zeros(len(route), np.int32),
    )
