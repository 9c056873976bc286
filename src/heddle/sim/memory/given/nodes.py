"""Nodes before the run: what they are, when they heartbeat and report, how fast they are, what else runs on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.draw import STREAM_SLOW_NODE, draw
from heddle.sim.memory.given.csr import by_owner


def racks(cluster: Cluster) -> npt.NDArray[np.int32]:
    """The rack of each node; racks are numbered as nodes first name them."""
    number = {name: i for i, name in enumerate(dict.fromkeys(node.rack for node in cluster.nodes))}
    return np.array([number[node.rack] for node in cluster.nodes], np.int32)


def labels(cluster: Cluster, known: Sequence[str]) -> npt.NDArray[np.int32]:
    """The label of each node, by its number in the workload; one that no job asks for is past the last."""
    number = {name: i for i, name in enumerate(known)}
    return np.array([number.get(node.label, len(known)) for node in cluster.nodes], np.int32)


def phases(seed: int, stream: int, interval_ms: int, n_nodes: int) -> npt.NDArray[np.int64]:
    """When in each interval a node has its turn."""
    return np.array([draw(seed, stream, i) % interval_ms if interval_ms else 0 for i in range(n_nodes)], np.int64)


def by_phase(phase: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Nodes in the order of their turns."""
    return np.argsort(phase, kind="stable").astype(np.int32)


def first_of_phase(phase: npt.NDArray[np.int64], interval_ms: int) -> npt.NDArray[np.int32]:
    """[interval + 2]: position in that order of the first node whose turn is not before this ms."""
    return np.searchsorted(np.sort(phase), np.arange(interval_ms + 2)).astype(np.int32)


def speeds(cluster: Cluster, seed: int) -> npt.NDArray[np.int64]:
    """In permille, the nodes that are slow in this run included."""
    faults = cluster.faults
    found = np.array([node.speed_permille for node in cluster.nodes], np.int64)
    for i in range(cluster.n_nodes):
        if faults.slow_node_permille and draw(seed, STREAM_SLOW_NODE, i) % 1000 < faults.slow_node_permille:
            found[i] = faults.slow_speed_permille
    return found


class Background(NamedTuple):
    """What else uses a node, in levels."""

    first: npt.NDArray[np.int32]  # [nodes + 1]: of a node's levels
    level: npt.NDArray[np.int64]  # from_at_ms, then use per resource


def background(cluster: Cluster, n_resources: int) -> Background:
    """The levels that differ from the one before, which is nothing at first: others are no event."""
    levels = []
    for i, node in enumerate(cluster.nodes):
        use: tuple[int, ...] = (0,) * n_resources
        for level in node.background:
            if tuple(level.use) != use:
                levels.append((i, level))
            use = tuple(level.use)
    first, _ = by_owner(np.array([i for i, _ in levels], np.int64), cluster.n_nodes)
    rows = np.array([(level.from_at_ms, *level.use) for _, level in levels], np.int64)
    return Background(first, rows.reshape(-1, 1 + n_resources))


def leaves_of_tree(n_nodes: int) -> int:
    """The placement index is a binary tree with a leaf for each node: the next power of two."""
    return 1 << max(0, (n_nodes - 1).bit_length())


def first_nodes_of_tree(n_nodes: int) -> npt.NDArray[np.int64]:
    """[2 * leaves]: the first node below each place of the tree; among equals the first is the best."""
    leaves = leaves_of_tree(n_nodes)
    first = np.zeros(2 * leaves, np.int64)
    first[leaves:] = np.arange(leaves)
    at = leaves
    while at > 1:
        first[at // 2 : at] = first[at : 2 * at : 2]
        at //= 2
    return first
