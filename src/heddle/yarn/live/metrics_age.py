"""For how long the figures of a node have not moved.

A node whose NodeManager hangs stays in the RM's list with its last figures, which then never change.
"""

from __future__ import annotations

from collections.abc import Iterable

from heddle.yarn.live.things_seen import NodeSeen


def figures_of(node: NodeSeen) -> tuple[float, ...]:
    """What its NodeManager measures, and reports with a heartbeat."""
    return node.used_memory_mb, node.physical_cores_used, node.containers_memory_mb, node.container_vcores_used


class MetricsAge:
    """Remembers the figures of every node, and since when it has had them."""

    def __init__(self) -> None:
        self._figures: dict[str, tuple[tuple[float, ...], int]] = {}

    def look(self, nodes: Iterable[NodeSeen], now_ms: int) -> dict[str, int]:
        """Of each of these nodes, the age of its figures."""
        ages_ms = {}
        for node in nodes:
            figures = figures_of(node)
            if node.id not in self._figures or self._figures[node.id][0] != figures:
                self._figures[node.id] = figures, now_ms
            ages_ms[node.id] = now_ms - self._figures[node.id][1]
        return ages_ms
