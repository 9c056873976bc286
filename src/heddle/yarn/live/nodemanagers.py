"""What NodeManagers say of themselves, whatever their ResourceManager was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.things_seen import NodeSeen, Size
from heddle.yarn.live.wire import YarnError

TIMEOUT_S: Final = 3.0
_SETTINGS: Final = ("yarn.nodemanager.resource.memory-mb", "yarn.nodemanager.resource.cpu-vcores")


def sizes_of_nodemanagers(rm: RmClient, nodes: Mapping[str, NodeSeen]) -> dict[str, Size]:
    """What each NodeManager itself was configured with. Nodes that do not say are left out.

    They speak TLS if their ResourceManager does: YARN has one setting for both.
    """
    scheme = rm.address.partition("://")[0]
    found = {}
    for node in nodes.values():
        if not node.http:
            continue
        try:
            with rm.elsewhere(f"{scheme}://{node.http}", TIMEOUT_S) as nodemanager:
                memory_mb, vcores = (int(nodemanager.setting(name) or -1) for name in _SETTINGS)
        except (YarnError, ValueError):
            continue
        if memory_mb > 0 and vcores > 0:  # -1: it looks at its hardware
            found[node.id] = memory_mb, vcores * MILLI
    return found
