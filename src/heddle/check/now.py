"""The cluster at this moment: who waits and what YARN says why, and how much of what is reserved is in use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from heddle.check.jobs import UseShare
from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, read_apps, read_nodes, rows_under, whole
from heddle.yarn.live.things_seen import AppSeen, NodeSeen

# What the Capacity scheduler writes into an application's diagnostics, and what that means; the first that fits counts.
_SAID: Final = {
    r"user.?s? AM resource limit": "its user's application masters have reached their limit",
    r"AM resource limit": "the queue's application masters have reached its AM share",
    r"max(imum)?.?parallel": "the queue has reached its limit of running applications",
    r"Cluster resource is empty": "the cluster has no nodes",
    r"not.*label|Ignore Exclusivity": "no node with its label has room",
}
QUEUE_FULL: Final = "the queue is at its maximum capacity"
CLUSTER_FULL: Final = "no node has room"
FRAGMENTED: Final = "fragmentation: there is room, but not enough on any one node"
OTHERS_FIRST: Final = "others come first, or a heartbeat is pending"
NOT_TOLD: Final = "YARN gives no reason"
_FULL: Final = 0.99


@dataclass(frozen=True)
class Waiting:
    """Applications of one queue that wait for one reason. `wanted_mb`: what they ask for and do not have.

    `longest_s`, `median_s`: since they were submitted. How long one that runs has waited for more only watching tells.
    """

    queue: str
    why: str
    to_start: bool  # for its application master; else for more containers
    applications: int
    wanted_mb: int
    longest_s: float
    median_s: float


@dataclass(frozen=True)
class Now:
    nodes: int
    away: Mapping[str, int]  # state -> nodes in it that take no containers
    running: int
    waiting: tuple[Waiting, ...]
    use: UseShare
    silent: int  # nodes with containers of which no use is reported
    at_ms: int  # the ResourceManager's clock


def look(client: RmClient) -> Now:
    """Three calls, however large the cluster is."""
    where = client.address
    everywhere = client.get("/ws/v1/cluster/nodes", states=_ALL_STATES)
    nodes = read_nodes(everywhere, where)
    answer = client.apps()
    apps = read_apps(answer, where)
    with Reading(f"{where}: apps"):
        rows = {str(row["id"]): row for row in rows_under(answer, "apps", "app")}
        at_ms = max((whole(row["startedTime"]) + whole(row["elapsedTime"]) for row in rows.values()), default=0)
        queues = dict(_full_queues(client.scheduler()))
    alive = [node for node in nodes.values() if node.alive]
    away: dict[str, int] = {}
    for node in nodes.values():
        if not node.alive:
            away[node.state] = away.get(node.state, 0) + 1
    found: dict[tuple[str, str, bool], list[tuple[float, int]]] = {}
    for app in apps.values():
        wanted_mb = sum(ask.size[0] * ask.containers for ask in app.asks)
        if app.running and not wanted_mb:
            continue
        why = _why(app, rows[app.id], alive, queues)
        waited_s = whole(rows[app.id]["elapsedTime"]) / 1000
        found.setdefault((app.queue, why, not app.running), []).append((waited_s, wanted_mb))
    waiting = (
        Waiting(
            queue,
            why,
            to_start,
            len(some),
            sum(mb for _, mb in some),
            max(s for s, _ in some),
            median(s for s, _ in some),
        )
        for (queue, why, to_start), some in found.items()
    )
    ordered = tuple(sorted(waiting, key=lambda one: (-one.wanted_mb, -one.applications, one.queue)))
    busy = [node for node in alive if node.allocated[0]]
    telling = [node for node in busy if node.containers_memory_mb > 0]
    running = sum(app.running for app in apps.values())
    return Now(len(alive), away, running, ordered, _use(telling), len(busy) - len(telling), at_ms)


def why_one_waits(client: RmClient, app_id: str) -> str:
    """Why an application that is live waits at this moment; "": it does not."""
    where = client.address
    answer = client.apps()
    app = read_apps(answer, where).get(app_id)
    if app is None or (app.running and not app.asks):
        return ""
    nodes = [node for node in read_nodes(client.nodes(), where).values() if node.alive]
    with Reading(f"{where}: apps"):
        row = next(row for row in rows_under(answer, "apps", "app") if row["id"] == app_id)
        return _why(app, row, nodes, dict(_full_queues(client.scheduler())))


_ALL_STATES: Final = "NEW,RUNNING,UNHEALTHY,DECOMMISSIONING,DECOMMISSIONED,LOST,REBOOTED,SHUTDOWN"


def _use(telling: list[NodeSeen]) -> UseShare:
    memory_mb = sum(node.allocated[0] for node in telling)
    vcores = sum(node.allocated[1] for node in telling)
    if not memory_mb or not vcores:
        return UseShare(None, None)
    used_mb = sum(node.containers_memory_mb for node in telling)
    used_milli = sum(node.container_vcores_used * MILLI for node in telling)
    return UseShare(used_mb / memory_mb, used_milli / vcores)


def _why(app: AppSeen, row: Mapping[str, Any], nodes: list[NodeSeen], queues: Mapping[str, float]) -> str:
    said = str(row.get("diagnostics") or "")
    if not app.running:
        for pattern, meaning in _SAID.items():
            if re.search(pattern, said, re.IGNORECASE):
                return meaning
    share = next((used for name, used in queues.items() if name in (app.queue, app.queue.rpartition(".")[2])), 0.0)
    if share >= _FULL:
        return QUEUE_FULL
    if not app.asks:
        return NOT_TOLD
    least = min((ask.size for ask in app.asks), key=lambda size: size[0])
    free = [tuple(node.total[r] - node.allocated[r] for r in range(2)) for node in nodes]
    if any(left[0] >= least[0] and left[1] >= least[1] for left in free):
        return OTHERS_FIRST
    return FRAGMENTED if sum(left[0] for left in free) >= least[0] else CLUSTER_FULL


def _full_queues(answer: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Leaf queues by their short names: what they hold, of what they may hold at most."""
    info = (answer.get("scheduler") or {}).get("schedulerInfo") or {}
    found: list[tuple[str, float]] = []

    def walk(row: Mapping[str, Any]) -> None:
        children = rows_under(row, "queues", "queue")
        if not children:
            most = float(row.get("absoluteMaxCapacity") or 0)
            found.append((str(row.get("queueName")), float(row.get("absoluteUsedCapacity") or 0) / most if most else 0))
        for child in children:
            walk(child)

    if info.get("type") == "capacityScheduler":
        walk(info)
    return found
