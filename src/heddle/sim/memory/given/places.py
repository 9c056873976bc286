"""Where data lie: nodes in place of the workload's hosts, and what levers may know of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import BYTES_PER_MS_OF_MBPS, MOST_MBPS, Cluster
from heddle.model.workload import NO_PREFERENCE, Workload
from heddle.policy.policy import Declared
from heddle.sim.memory.given.csr import by_owner


def nodes_of(hosts: npt.NDArray[np.int32] | None, workload: Workload, cluster: Cluster) -> npt.NDArray[np.int32]:
    """Nodes in place of the workload's numbers of hosts, one per task; those outside the cluster do not count."""
    if hosts is None:
        return np.zeros(0, np.int32)
    number = {node.name: i for i, node in enumerate(cluster.nodes)}
    node_of_host = np.array([number.get(name, NO_PREFERENCE) for name in workload.hosts] + [NO_PREFERENCE], np.int32)
    return node_of_host[hosts]


class Preferred(NamedTuple):
    """Nodes that tasks prefer."""

    by_task: npt.NDArray[np.int32]  # [tasks] or [0]
    first: npt.NDArray[np.int64]  # CSR, per stage: the distinct nodes that some of its tasks prefer
    nodes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, cluster: Cluster) -> Preferred:
        by_task, n_stages = nodes_of(workload.prefers, workload, cluster), len(workload.stages)
        if not len(by_task):
            return cls(by_task, np.zeros(n_stages + 1, np.int64), np.zeros(0, np.int64))
        stage_of_task = np.repeat(np.arange(n_stages), workload.stages["n_tasks"])
        chosen = by_task != NO_PREFERENCE
        pairs = np.unique(stage_of_task[chosen] * cluster.n_nodes + by_task[chosen])
        first, _ = by_owner(pairs // cluster.n_nodes, n_stages)
        return cls(by_task, first.astype(np.int64), pairs % cluster.n_nodes)


def declared(workload: Workload, cluster: Cluster, preferred: Preferred) -> Declared:
    """What levers may know of data and bandwidth: what the workload and the cluster declare."""
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    per_place = np.zeros(len(preferred.nodes), np.int64)
    if workload.input_bytes is not None and len(preferred.nodes):
        reads = np.flatnonzero(preferred.by_task >= 0)
        stage_of_place = np.repeat(np.arange(len(workload.stages)), np.diff(preferred.first))
        place_of = stage_of_place * cluster.n_nodes + preferred.nodes
        found = np.searchsorted(place_of, stage[reads] * cluster.n_nodes + preferred.by_task[reads])
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
