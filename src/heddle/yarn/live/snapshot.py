"""One look at a cluster: columns for those who go through everything, objects for those who look at single things."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heddle.yarn.live.columns import APP, ASK, CONTAINER, ENDED, NODE, NOT_TOLD, QUEUE, Columns, Rows
from heddle.yarn.live.kinds import MAPS_ALONE
from heddle.yarn.live.names import Names
from heddle.yarn.live.things_seen import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen, Size


@dataclass(frozen=True)
class Snapshot:
    """Everything that one poll told, in columns; as objects, by name, for whoever looks at single things.

    `ended`: applications that were live in the poll before; true = it succeeded.
    """

    at_ms: int
    names: Names
    columns: Columns

    @classmethod
    def of(
        cls,
        names: Names,
        at_ms: int,
        nodes: Mapping[str, NodeSeen],
        apps: Mapping[str, AppSeen] | None = None,
        containers: Mapping[str, ContainerSeen] | None = None,
        queues: tuple[QueueSeen, ...] = (),
        ended: Mapping[str, bool] | None = None,
    ) -> Snapshot:
        """From what was read, thing by thing."""
        apps, containers = apps or {}, containers or {}
        hosts = Counter(node.host for node in nodes.values())
        columns = Columns(
            np.array([_node_row(names, node, hosts[node.host] > 1) for node in nodes.values()], NODE),
            np.array(list(_app_rows(names, apps.values())), APP),
            np.array(list(_ask_rows(apps.values())), ASK),
            np.array([_container_row(names, one, apps.get(one.app)) for one in containers.values()], CONTAINER),
            np.array([_queue_row(names, queue) for queue in queues], QUEUE),
            np.array([(names.apps.number(app), well) for app, well in (ended or {}).items()], ENDED),
        )
        snapshot = cls(at_ms, names, columns)
        # The cached properties below: what it was made of need not be made again.
        vars(snapshot).update(nodes=dict(nodes), apps=dict(apps), containers=dict(containers))
        return snapshot

    def asking(self, apps: Mapping[str, AppSeen]) -> Snapshot:
        """This look, where the same applications ask for something else. Nothing has ended in it."""
        rows, asks = (
            np.array(list(_app_rows(self.names, apps.values())), APP),
            np.array(list(_ask_rows(apps.values())), ASK),
        )
        snapshot = Snapshot(
            self.at_ms, self.names, self.columns._replace(apps=rows, asks=asks, ended=np.zeros(0, ENDED))
        )
        vars(snapshot).update(nodes=self.nodes, apps=dict(apps), containers=self.containers)
        return snapshot

    @cached_property
    def nodes(self) -> dict[str, NodeSeen]:
        return {node.id: node for node in map(self.node, range(len(self.columns.nodes)))}

    @cached_property
    def apps(self) -> dict[str, AppSeen]:
        return {app.id: app for app in map(self.app, range(len(self.columns.apps)))}

    @cached_property
    def containers(self) -> dict[str, ContainerSeen]:
        return {container.id: container for container in map(self.container, range(len(self.columns.containers)))}

    @cached_property
    def queues(self) -> tuple[QueueSeen, ...]:
        return tuple(map(self.queue, range(len(self.columns.queues))))

    @cached_property
    def ended(self) -> dict[str, bool]:
        return {self.names.apps.name(app): bool(well) for app, well in self.columns.ended.tolist()}

    def node(self, row: int) -> NodeSeen:
        of, words = _fields(self.columns.nodes, row, "total", "allocated"), self.names.words
        return NodeSeen(
            id=self.names.nodes.name(of["node"]),
            host=words.name(of["host"]),
            rack=self.names.racks.name(of["rack"]),
            state=words.name(of["state"]),
            label=self.names.labels.name(of["label"]),
            total=of["total"],
            allocated=of["allocated"],
            used_memory_mb=of["used_memory_mb"],
            physical_cores_used=of["physical_cores_used"],
            containers_memory_mb=of["containers_memory_mb"],
            container_vcores_used=of["container_vcores_used"],
            http=words.name(of["http"]),
            memory_share=_told(of["memory_share"]),
            cpu_share=_told(of["cpu_share"]),
        )

    def app(self, row: int) -> AppSeen:
        of, names = _fields(self.columns.apps, row), self.names
        asks = self.columns.asks[of["first_ask"] : of["first_ask"] + of["n_asks"]]
        return AppSeen(
            id=names.apps.name(of["app"]),
            queue=names.queues.name(of["queue"]),
            user=names.users.name(of["user"]),
            running=bool(of["running"]),
            priority=of["priority"],
            started_at_ms=of["started_at_ms"],
            has_am=bool(of["has_am"]),
            attempt=names.words.name(of["attempt"]),
            asks=tuple(
                Ask(priority, tuple(size.tolist()), containers) for priority, size, containers, *_ in asks.tolist()
            ),
            submitted_to="" if of["submitted_to"] == of["queue"] else names.queues.name(of["submitted_to"]),
            name=names.words.name(of["name"]),
            type=names.words.name(of["type"]),
        )

    def container(self, row: int) -> ContainerSeen:
        of, names = _fields(self.columns.containers, row, "size"), self.names
        return ContainerSeen(
            id=names.containers.name(of["container"]),
            app=names.apps.name(of["app"]),
            node=names.nodes.name(of["node"]),
            priority=of["priority"],
            size=of["size"],
            is_am=bool(of["is_am"]),
        )

    def queue(self, row: int) -> QueueSeen:
        of = _fields(self.columns.queues, row, "guarantee", "maximum", "used", "found_permille")

        def amount(name: str) -> Size | None:
            size: Size = of[name]
            return None if size[0] == NOT_TOLD else size

        return QueueSeen(
            name=self.names.queues.name(of["queue"]),
            guarantee_permille=of["guarantee_permille"],
            maximum_permille=of["maximum_permille"],
            user_limit_percent=of["user_limit_percent"],
            user_limit_factor_milli=of["user_limit_factor_milli"],
            max_running_jobs=of["max_running_jobs"],
            guarantee=amount("guarantee"),
            maximum=amount("maximum"),
            guaranteed=_told(of["guaranteed"]),
            used=amount("used"),
            am_share_permille=of["am_share_permille"],
            found_permille=amount("found_permille"),
            preempts_within=bool(of["preempts_within"]),
        )


def _fields(rows: Rows, row: int, *sizes: str) -> dict[str, Any]:
    """One row's values by name; `sizes`: those that have one for each resource."""
    of = dict(zip(rows.dtype.names or (), rows[row].tolist(), strict=True))
    for name in sizes:
        of[name] = tuple(of[name].tolist())
    return of


def _told(share: float) -> float | None:
    return None if math.isnan(share) else share


def _node_row(names: Names, node: NodeSeen, shares_host: bool) -> tuple[Any, ...]:
    word = names.words.number
    shares = (math.nan if share is None else share for share in (node.memory_share, node.cpu_share))
    return (
        names.nodes.number(node.id), node.total, node.allocated, node.used_memory_mb, node.physical_cores_used,
        node.containers_memory_mb, node.container_vcores_used, *shares, word(node.host), names.racks.number(node.rack),
        word(node.state), names.labels.number(node.label), word(node.http), node.alive, shares_host,
    )  # fmt: skip


def _app_rows(names: Names, apps: Iterable[AppSeen]) -> Iterator[tuple[Any, ...]]:
    first = 0
    for app in apps:
        yield (
            names.apps.number(app.id), _number(app.id), app.started_at_ms, names.queues.number(app.queue),
            names.users.number(app.user), app.running, app.priority, app.has_am, names.words.number(app.attempt),
            first, len(app.asks), names.queues.number(app.submitted_to or app.queue), app.kinds.iterative,
            names.words.number(app.name), names.words.number(app.type),
        )  # fmt: skip
        first += len(app.asks)


def _ask_rows(apps: Iterable[AppSeen]) -> Iterator[tuple[Any, ...]]:
    for app in apps:
        for ask in app.asks:
            yield ask.priority, ask.size, ask.containers, *app.kinds.of(ask.priority)


def _number(app_id: str) -> int:
    """application_1700000000000_12345: its number."""
    tail = app_id.rpartition("_")[2]
    return int(tail) if tail.isdigit() else 0


def _container_row(names: Names, container: ContainerSeen, app: AppSeen | None) -> tuple[Any, ...]:
    parts = container.id.rsplit("_", 2)
    kinds = app.kinds if app else MAPS_ALONE
    return (
        names.containers.number(container.id), names.apps.number(container.app), int(parts[1]), int(parts[2]),
        names.nodes.number(container.node), container.priority, container.size, container.is_am,
        *kinds.of(container.priority),
    )  # fmt: skip


def _queue_row(names: Names, queue: QueueSeen) -> tuple[Any, ...]:
    untold = NOT_TOLD, NOT_TOLD
    return (
        names.queues.number(queue.name), queue.guarantee_permille, queue.maximum_permille, queue.user_limit_percent,
        queue.user_limit_factor_milli, queue.max_running_jobs, queue.guarantee or untold, queue.maximum or untold,
        math.nan if queue.guaranteed is None else queue.guaranteed, queue.used or untold, queue.am_share_permille,
        queue.found_permille or untold, queue.preempts_within,
    )  # fmt: skip
