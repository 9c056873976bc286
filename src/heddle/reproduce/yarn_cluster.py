"""A cluster of equal nodes with YARN's heartbeats, from the constants of a paper that was measured on one."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Timing
from heddle.reproduce.constants import Constants

TIMINGS = ("node_heartbeat_ms", "am_heartbeat_ms", "launch_ms", "am_start_ms")  # of the group `cluster`


def yarn_cluster(known: Constants, count: int, memory_mb: int, vcores_milli: int) -> Cluster:
    """So many nodes; all that they have may be promised."""
    size = (memory_mb, vcores_milli)
    nodes = tuple(Node(f"node-{number}", size, size) for number in range(count))
    given = known.of("cluster")
    return Cluster(nodes=nodes, timing=Timing(**{name: given[name] for name in TIMINGS}), name=known.paper)
