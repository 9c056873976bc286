"""Puts everything back as it was found and proves it by reading it again: nodes, queues, applications."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.snapshot import NodeSeen, Size, read_apps, read_nodes
from heddle.yarn.live.steering.desk import Found
from heddle.yarn.live.wire import YarnError

PROOF_TRIES: Final = 10
PROOF_EVERY_S: Final = 0.3
PREFIX: Final = "yarn.scheduler.capacity"
_SETTINGS: Final = ("yarn.nodemanager.resource.memory-mb", "yarn.nodemanager.resource.cpu-vcores")


@dataclass(frozen=True)
class PutBack:
    """One thing: what it must be, was and is. A node that is away is None, an application that has ended as wanted."""

    what: str  # as in Found: sizes, queues, priorities, leaves
    name: str
    wanted: Any
    before: Any
    now: Any

    @property
    def proven(self) -> bool:
        return bool(self.now == self.wanted)

    @property
    def away(self) -> bool:
        """A node that may come back, and is owed its size then."""
        return self.what == "sizes" and self.now is None


def put_back(client: RmClient, found: Found) -> list[PutBack]:
    """Raises YarnError if the RM cannot be asked or refuses; whoever calls tries again."""
    # Sizes first: they are what can do harm. Queues before applications, which may have to go back into them.
    done = _with_proof("sizes", found.sizes, lambda: _totals(client), lambda node, size: _resize(client, node, size))
    done += _put_queues_back(client, found.queues)
    done += _put_apps_back(client, found)
    return done


def in_words(done: list[PutBack]) -> str:
    """How many of what."""
    words = {
        "sizes": "nodes have their own sizes",
        "queues": "queues have their own settings",
        "leaves": "applications are in their own queues",
        "priorities": "applications have their own priorities",
    }
    counts = Counter(one.what for one in done)
    return ", ".join(f"{counts[what]} {said}" for what, said in words.items() if counts[what]) or "nothing was left"


def still_owed(done: list[PutBack]) -> Found:
    """What is not back yet."""
    left: dict[str, dict[str, Any]] = {"sizes": {}, "queues": {}, "priorities": {}, "leaves": {}}
    for one in done:
        if not one.proven:
            left[one.what][one.name] = one.wanted
    return Found(**left)


def _with_proof(
    what: str,
    wanted: Mapping[str, Any],
    read: Callable[[], Mapping[str, Any]],
    change: Callable[[str, Any], None],
) -> list[PutBack]:
    """Changes what is there and different, then reads until it has come true; the RM answers before it acts."""
    if not wanted:
        return []
    before = read()
    for name, value in wanted.items():
        if name in before and before[name] != value:
            change(name, value)
    for _ in range(PROOF_TRIES):
        now = read()
        if all(now.get(name, value) == value for name, value in wanted.items()):
            break
        time.sleep(PROOF_EVERY_S)
    return [PutBack(what, name, value, before.get(name), now.get(name)) for name, value in wanted.items()]


def _resize(client: RmClient, node: str, size: Size) -> None:
    client.resize_node(node, size[MEMORY], size[VCORES] // MILLI)


def _put_queues_back(client: RmClient, queues: Mapping[str, Mapping[str, str | None]]) -> list[PutBack]:
    """All queues in one change: shares of neighbours must add up at every moment."""
    if not queues:
        return []
    before = settings_of_queues(client, queues)
    if before != queues:
        client.change_queues(queues)
    now = settings_of_queues(client, queues)
    return [PutBack("queues", name, dict(wanted), before[name], now[name]) for name, wanted in queues.items()]


def settings_of_queues(
    client: RmClient, wanted: Mapping[str, Mapping[str, str | None]]
) -> dict[str, dict[str, str | None]]:
    """What these settings of these queues are now; None: not set."""
    settings = client.scheduler_settings()
    return {
        queue: {key: settings.get(f"{PREFIX}.{queue}.{key}") for key in of_queue} for queue, of_queue in wanted.items()
    }


def _put_apps_back(client: RmClient, found: Found) -> list[PutBack]:
    """Applications that have ended meanwhile need nothing."""
    if not (found.priorities or found.leaves):
        return []

    def read(field: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        apps = read_apps(client.apps(), client.address)
        return {name: getattr(apps[name], field) if name in apps else value for name, value in wanted.items()}

    def set_priority(app: str, priority: int) -> None:
        client.set_priority(app, priority)

    leaves, priorities = found.leaves, found.priorities
    done = _with_proof("leaves", leaves, lambda: read("queue", leaves), client.move)
    return done + _with_proof("priorities", priorities, lambda: read("priority", priorities), set_priority)


def sizes_of_nodemanagers(nodes: Mapping[str, NodeSeen], rm: str, timeout_s: float = 3.0) -> dict[str, Size]:
    """What each NodeManager itself was configured with. Nodes that do not say are left out.

    They speak TLS if their ResourceManager does: YARN has one setting for both.
    """
    scheme = rm.partition("://")[0]
    found = {}
    for node in nodes.values():
        if not node.http:
            continue
        try:
            with RmClient(f"{scheme}://{node.http}", timeout_s=timeout_s) as nodemanager:
                memory_mb, vcores = (int(nodemanager.setting(name) or -1) for name in _SETTINGS)
        except (YarnError, ValueError):
            continue
        if memory_mb > 0 and vcores > 0:  # -1: it looks at its hardware
            found[node.id] = memory_mb, vcores * MILLI
    return found


def _totals(client: RmClient) -> dict[str, Size]:
    return {node.id: node.total for node in read_nodes(client.nodes(), client.address).values()}
