"""A live cluster as it would be if nobody had steered it: policies are rolled out from there, as they would begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.resources import MILLI
from heddle.twin.known import Application, Snapshot
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, QueueSettings, Standing
from heddle.yarn.live.things_seen import Size


def as_found(snapshot: Snapshot, found: Standing, default_am_share: str | None) -> Snapshot:
    """`found`: knobs that may have been turned, as they stood before. `default_am_share`: of leaves that set none."""
    sizes = _by_name(snapshot.cluster, found.sizes)
    nodes = tuple(_sized(node, sizes.get(node.name)) for node in snapshot.cluster.nodes)
    queues = tuple(_set(queue, found.queues.get(queue.name, {}), default_am_share) for queue in snapshot.cluster.queues)
    cluster = replace(snapshot.cluster, nodes=nodes, queues=queues)
    applications = tuple(_in_leaf(app, found.leaves.get(app.id)) for app in snapshot.applications)
    return replace(snapshot, cluster=cluster, applications=applications)


def _by_name(cluster: Cluster, sizes: Mapping[str, Size]) -> dict[str, Size]:
    """Nodes go by their host where it has one NodeManager only, else by their id."""
    ids = {node.name for node in cluster.nodes} & sizes.keys()
    return {name if name in ids else name.partition(":")[0]: size for name, size in sizes.items()}


def _sized(node: Node, own: Size | None) -> Node:
    if own is None:
        return node
    size = (*own, *node.allowance[len(own) :])
    return replace(node, capacity=size, allowance=size)


def _set(queue: Queue, settings: QueueSettings, default_am_share: str | None) -> Queue:
    """What is no number - a weight, an amount - no lever has set."""
    said: dict[str, Any] = {}
    if AM_SHARE in settings:
        share = _number(settings[AM_SHARE] if settings[AM_SHARE] is not None else default_am_share)
        said["am_share_permille"] = -1 if share is None else round(MILLI * share)
    for key, field in ((GUARANTEE, "guarantee_permille"), (MAXIMUM, "maximum_permille")):
        percent = _number(settings.get(key))
        if percent is not None:
            said[field] = round(10 * percent)
    return replace(queue, **said)


def _number(setting: str | None) -> float | None:
    try:
        return None if setting is None else float(setting)
    except ValueError:
        return None


def _in_leaf(app: Application, leaf: str | None) -> Application:
    return app if leaf is None or app.ended_at_ms is not None else replace(app, queue=leaf)
