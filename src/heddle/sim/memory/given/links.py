"""The links of nodes and racks, as the cluster declares them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import MOST_MBPS, Cluster


class Links(NamedTuple):
    mbps: npt.NDArray[np.int64]
    side: npt.NDArray[np.int64]  # what it is to its routes
    uplink: npt.NDArray[np.int32]  # [racks]: number of the rack's link up; -1: none

    @classmethod
    def of(cls, cluster: Cluster, rack: npt.NDArray[np.int32]) -> Links:
        """None while the network is off."""
        uplink = np.full(int(rack.max(initial=0)) + 1, -1, np.int32)
        if not cluster.has_network:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), uplink)
        mbps = [node.bandwidth_mbps or MOST_MBPS for node in cluster.nodes for _ in range(2)]
        for name, number in dict(zip((node.rack for node in cluster.nodes), rack.tolist(), strict=True)).items():
            of_rack = cluster.network.uplink_mbps(name)
            uplink[number] = 2 * cluster.n_nodes + 2 * number if of_rack else -1
            mbps += [of_rack] * 2
        side = np.arange(len(mbps)) % 2
        side[2 * cluster.n_nodes :] += 2
        return cls(np.array(mbps, np.int64), side, uplink)
