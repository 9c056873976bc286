"""Puts nodes back to their sizes and proves it by reading them again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.client import RmClient, YarnError
from heddle.yarn.snapshot import NodeSeen, Size, read_nodes

PROOF_TRIES: Final = 10
PROOF_EVERY_S: Final = 0.3
_SETTINGS: Final = ("yarn.nodemanager.resource.memory-mb", "yarn.nodemanager.resource.cpu-vcores")


@dataclass(frozen=True)
class PutBack:
    """A node, its size before and now; None: the node is not there."""

    node: str
    wanted: Size
    before: Size | None
    now: Size | None

    @property
    def proven(self) -> bool:
        return self.now == self.wanted


def put_back(client: RmClient, sizes: Mapping[str, Size]) -> list[PutBack]:
    """Raises YarnError if the RM cannot be asked or refuses; whoever calls tries again."""
    before = _totals(client)
    for node, wanted in sizes.items():
        if node in before and before[node] != wanted:
            client.resize_node(node, wanted[MEMORY], wanted[VCORES] // MILLI)
    for _ in range(PROOF_TRIES):
        now = _totals(client)
        if all(now.get(node, wanted) == wanted for node, wanted in sizes.items()):
            break
        time.sleep(PROOF_EVERY_S)
    return [PutBack(node, wanted, before.get(node), now.get(node)) for node, wanted in sizes.items()]


def sizes_of_nodemanagers(nodes: Mapping[str, NodeSeen], timeout_s: float = 3.0) -> dict[str, Size]:
    """What each NodeManager itself was configured with. Nodes that do not say are left out."""
    found = {}
    for node in nodes.values():
        if not node.http:
            continue
        try:
            with RmClient(node.http, timeout_s=timeout_s) as nodemanager:
                memory_mb, vcores = (_setting(nodemanager.get("/conf", name=name)) for name in _SETTINGS)
        except (YarnError, KeyError, TypeError, ValueError):
            continue
        if memory_mb > 0 and vcores > 0:  # -1: it looks at its hardware
            found[node.id] = memory_mb, vcores * MILLI
    return found


def _setting(answer: dict[str, Any]) -> int:
    return int(answer["property"]["value"])


def _totals(client: RmClient) -> dict[str, Size]:
    return {node.id: node.total for node in read_nodes(client.nodes(), client.address).values()}
