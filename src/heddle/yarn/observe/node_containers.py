"""Containers as NodeManagers list them: one call for each node, and none to the ResourceManager.

They tell neither a container's priority nor when it was allocated: so this is for clusters where more applications run
than the ResourceManager may be asked about in a step, and fewer nodes have containers than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import container_name
from heddle.yarn.live.nodemanagers import TIMEOUT_S
from heddle.yarn.live.rm_answers import Reading, is_am, rows_under, whole
from heddle.yarn.live.things_seen import AppSeen, ContainerSeen, NodeSeen
from heddle.yarn.live.wire import YarnError

AT_ONCE: Final = 16
LEFT_ALONE_S: Final = 60.0  # a NodeManager that did not answer
NOT_TOLD: Final = -1  # a priority
_OVER: Final = "DONE"


class NodeContainers:
    """Of the cluster that `client` talks to."""

    def __init__(self, client: RmClient, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._client, self._clock_s = client, clock_s
        self._silent_until_s: dict[str, float] = {}

    def cheaper(self, apps: int, nodes: Collection[NodeSeen]) -> bool:
        """Whether asking the ResourceManager for each application would take more than a second of its calls."""
        pace = self._client.pace
        return pace is not None and apps > pace.calls_per_s and apps > sum(_busy(node) for node in nodes)

    def read(self, nodes: Collection[NodeSeen], apps: Mapping[str, AppSeen]) -> tuple[list[ContainerSeen], set[str]]:
        """(the containers that these applications have on nodes that answer, the nodes that do not)."""
        now_s = self._clock_s()
        asked = [node for node in nodes if _busy(node) and self._silent_until_s.get(node.id, now_s) <= now_s]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(lambda node: self._of_node(node, apps), asked))
        found: list[ContainerSeen] = []
        silent = {node.id for node in nodes if _busy(node)} - {node.id for node in asked}
        for node, answer in zip(asked, answers, strict=True):
            if answer is None:
                silent.add(node.id)
                self._silent_until_s[node.id] = now_s + LEFT_ALONE_S
            else:
                found += answer
        return found, silent

    def _of_node(self, node: NodeSeen, apps: Mapping[str, AppSeen]) -> list[ContainerSeen] | None:
        scheme = self._client.address.partition("://")[0]
        try:
            with self._client.elsewhere(f"{scheme}://{node.http}", TIMEOUT_S) as nodemanager:
                answer = nodemanager.get("/ws/v1/node/containers")
            with Reading(f"{node.http}: containers"):
                return list(_containers(rows_under(answer, "containers", "container"), node, apps))
        except YarnError:
            return None


def _busy(node: NodeSeen) -> bool:
    return bool(node.http) and node.allocated[0] > 0


def _containers(rows: list[Any], node: NodeSeen, apps: Mapping[str, AppSeen]) -> Iterator[ContainerSeen]:
    for row in rows:
        name = container_name(row["id"])
        app = apps.get(f"application_{name['cluster']}_{name['app']}")
        if app is not None and row.get("state") != _OVER:
            yield ContainerSeen(
                id=name[0],
                app=app.id,
                node=node.id,
                priority=NOT_TOLD,
                size=(whole(row["totalMemoryNeededMB"]), whole(row["totalVCoresNeeded"]) * MILLI),
                is_am=is_am(name, app),
            )
