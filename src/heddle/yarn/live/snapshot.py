"""One poll of the ResourceManager as plain data.

What the RM's JSON looks like varies: an empty list is `{}` or null, a list of one may be the object itself, numbers may
be strings. All of that is dealt with here; what cannot be read is a YarnError that names the field.

Containers are read with one call per running application. The bulk answers hold only sums per node and per
application, which do not say what was reserved where, nor show a container that ended while another began.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.columns import APP, ASK, CONTAINER, ENDED, NODE, NOT_TOLD, QUEUE, Columns, Rows
from heddle.yarn.live.names import Names, Passing
from heddle.yarn.live.wire import YarnError

ANY_NODE: Final = "*"
IN_SERVICE: Final = ("NEW", "RUNNING", "DECOMMISSIONING")
_CONTAINER: Final = re.compile(r"container_(?:e\d+_)?(?P<cluster>\d+)_(?P<app>\d+)_(?P<attempt>\d+)_(?P<number>\d+)")

Size = tuple[int, int]  # memory in MB, vcores in millicores


@dataclass(frozen=True)
class NodeSeen:
    """A node as the RM reports it. Cores used are the machine's; its containers' are counted in its current vcores."""

    id: str
    host: str
    rack: str
    state: str
    label: str
    total: Size
    allocated: Size
    used_memory_mb: int
    physical_cores_used: float
    containers_memory_mb: int
    container_vcores_used: float
    http: str = ""  # where its NodeManager answers
    memory_share: float | None = None  # of the machine's memory in use; None: not told
    cpu_share: float | None = None  # of the machine's cores in use; None: not told

    @property
    def machine_memory_mb(self) -> int | None:
        """What the machine has, whatever of it may be promised; None: not told."""
        return round(self.used_memory_mb / self.memory_share) if self.memory_share else None

    @property
    def alive(self) -> bool:
        return self.state in IN_SERVICE

    @property
    def resizable(self) -> bool:
        """The RM itself shrinks a node that is being decommissioned."""
        return self.state == "RUNNING"


@dataclass(frozen=True)
class Ask:
    """Containers of one kind that an application waits for."""

    priority: int
    size: Size
    containers: int


@dataclass(frozen=True)
class AppSeen:
    """An application that waits or runs."""

    id: str
    queue: str
    user: str
    running: bool  # its AM has registered; before, what it waits for is the AM
    priority: int
    started_at_ms: int  # the RM's clock
    has_am: bool
    attempt: str  # "" before the first attempt
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class ContainerSeen:
    """A container that holds its reservation."""

    id: str
    app: str
    node: str
    priority: int
    size: Size
    is_am: bool


@dataclass(frozen=True)
class QueueSeen:
    """A queue of the Capacity scheduler. Shares are permille of the cluster; amounts are None where not told."""

    name: str
    guarantee_permille: int
    maximum_permille: int
    user_limit_percent: int = 100
    user_limit_factor_milli: int = MILLI
    max_running_jobs: int = -1
    guarantee: Size | None = None
    maximum: Size | None = None
    guaranteed: float | None = None  # the share of unlabelled nodes that it is due, as exactly as the RM says it
    used: Size | None = None  # all that it holds, wherever


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
        hosts = Counter(node.host for node in nodes.values())
        asks = [ask for app in (apps or {}).values() for ask in app.asks]
        return cls(
            at_ms,
            names,
            Columns(
                np.array([_node_row(names, node, hosts[node.host] > 1) for node in nodes.values()], NODE),
                np.array(list(_app_rows(names, (apps or {}).values())), APP),
                np.array([(ask.priority, ask.size, ask.containers) for ask in asks], ASK),
                np.array([_container_row(names, container) for container in (containers or {}).values()], CONTAINER),
                np.array([_queue_row(names, queue) for queue in queues], QUEUE),
                np.array([(names.apps.number(app), well) for app, well in (ended or {}).items()], ENDED),
            ),
        )

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
        of, words = _fields(self.columns.nodes, row), self.names.words
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
            asks=tuple(Ask(priority, tuple(size), containers) for priority, size, containers in asks.tolist()),
        )

    def container(self, row: int) -> ContainerSeen:
        of, names = _fields(self.columns.containers, row), self.names
        return ContainerSeen(
            id=names.containers.name(of["container"]),
            app=names.apps.name(of["app"]),
            node=names.nodes.name(of["node"]),
            priority=of["priority"],
            size=of["size"],
            is_am=bool(of["is_am"]),
        )

    def queue(self, row: int) -> QueueSeen:
        of = _fields(self.columns.queues, row)

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
        )


def _fields(rows: Rows, row: int) -> dict[str, Any]:
    values = (tuple(value.tolist()) if isinstance(value, np.ndarray) else value for value in rows[row].tolist())
    return dict(zip(rows.dtype.names or (), values, strict=True))


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
            first, len(app.asks),
        )  # fmt: skip
        first += len(app.asks)


def _number(app_id: str) -> int:
    """application_1700000000000_12345: its number."""
    tail = app_id.rpartition("_")[2]
    return int(tail) if tail.isdigit() else 0


def _container_row(names: Names, container: ContainerSeen) -> tuple[Any, ...]:
    parts = container.id.rsplit("_", 2)
    return (
        names.containers.number(container.id), names.apps.number(container.app), int(parts[1]), int(parts[2]),
        names.nodes.number(container.node), container.priority, container.size, container.is_am,
    )  # fmt: skip


def _queue_row(names: Names, queue: QueueSeen) -> tuple[Any, ...]:
    untold = NOT_TOLD, NOT_TOLD
    return (
        names.queues.number(queue.name), queue.guarantee_permille, queue.maximum_permille, queue.user_limit_percent,
        queue.user_limit_factor_milli, queue.max_running_jobs, queue.guarantee or untold, queue.maximum or untold,
        math.nan if queue.guaranteed is None else queue.guaranteed, queue.used or untold,
    )  # fmt: skip


def take_snapshot(client: RmClient, at_ms: int, before: Snapshot | None = None) -> Snapshot:
    """Polls the RM. Names keep the numbers of the poll before; of applications gone since it asks how they ended."""
    names = before.names if before else Names()
    nodes = read_nodes(client.nodes(), client.address)
    apps = read_apps(client.apps(), client.address)
    queues = read_queues(client.scheduler(), client.address)
    containers: dict[str, ContainerSeen] = {}
    for app in apps.values():
        answer = client.containers(app.id, app.attempt) if app.attempt else None
        if answer is not None:
            containers.update(read_containers(answer, app, client.address))
    ended = {}
    for number in before.columns.apps["app"].tolist() if before else ():
        app_id = names.apps.name(number)
        if app_id not in apps:
            answer = client.app(app_id)  # one that the RM has forgotten counts as a success
            ended[app_id] = answer is None or (answer.get("app") or {}).get("finalStatus") == "SUCCEEDED"
    snapshot = Snapshot.of(names, at_ms, nodes, apps, containers, queues, ended)
    if isinstance(names.containers, Passing):
        names.containers.end_look()
    return snapshot


def read_nodes(answer: dict[str, Any], where: str) -> dict[str, NodeSeen]:
    with Reading(f"{where}: nodes"):
        found = (_node(row) for row in rows_under(answer, "nodes", "node"))
        return {node.id: node for node in found}


def read_apps(answer: dict[str, Any], where: str) -> dict[str, AppSeen]:
    with Reading(f"{where}: apps"):
        found = (_app(row) for row in rows_under(answer, "apps", "app"))
        return {app.id: app for app in found}


def read_containers(answer: dict[str, Any], app: AppSeen, where: str) -> dict[str, ContainerSeen]:
    with Reading(f"{where}: containers of {app.id}"):
        found = (_container(row, app) for row in _container_rows(answer) if row.get("containerState") != "COMPLETE")
        return {container.id: container for container in found}


def read_container_starts(answer: dict[str, Any]) -> dict[str, int]:
    """When each container of an attempt was allocated, by the RM's clock."""
    return {str(row["containerId"]): int(row["startedTime"]) for row in _container_rows(answer)}


def read_queues(answer: dict[str, Any], where: str) -> tuple[QueueSeen, ...]:
    """The Capacity scheduler's tree, parents first. Other schedulers have none that this version reads: only root."""
    with Reading(f"{where}: scheduler"):
        root = (answer.get("scheduler") or {}).get("schedulerInfo") or {}
        if root.get("type") != "capacityScheduler":
            return (QueueSeen("root", MILLI, MILLI),)
        return tuple(_queues(root, ""))


class Reading:
    """Turns what goes wrong while a payload is read into an error that says which payload and which field."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, KeyError):
            raise YarnError(self._where, f"field {error} is missing in the answer") from error
        if isinstance(error, (TypeError, ValueError, AttributeError)):
            raise YarnError(self._where, f"the answer cannot be read ({error})") from error


def rows_under(answer: Any, *keys: str) -> list[Any]:
    """The list under these keys; nothing at all, null and {} are an empty one, a lone object is a list of one."""
    for key in keys:
        if not isinstance(answer, dict):
            raise TypeError(f"{key!r} is looked for in {answer!r:.80}")
        answer = answer.get(key)
        if not answer:
            return []
    return answer if isinstance(answer, list) else [answer]


def _container_rows(answer: dict[str, Any]) -> list[Any]:
    return rows_under(answer.get("containers", answer), "container")


def _size(resource: Any) -> Size:
    return int(resource["memory"]), int(resource["vCores"]) * MILLI


def _node(row: Any) -> NodeSeen:
    used = row.get("resourceUtilization") or {}
    allocated = int(row["usedMemoryMB"]), int(row["usedVirtualCores"]) * MILLI
    # Hadoop before 3.1 gives no total, but what is used and what is left.
    free = int(row["availMemoryMB"]), int(row["availableVirtualCores"]) * MILLI
    total = (
        _size(row["totalResource"]) if row.get("totalResource") else (allocated[0] + free[0], allocated[1] + free[1])
    )
    return NodeSeen(
        id=str(row["id"]),
        host=str(row["nodeHostName"]),
        rack=str(row.get("rack", "")),
        state=str(row["state"]),
        label=str((row.get("nodeLabels") or [""])[0]),
        total=total,
        allocated=allocated,
        used_memory_mb=int(used.get("nodePhysicalMemoryMB", 0)),
        physical_cores_used=float(used.get("nodeCPUUsage", 0)),
        containers_memory_mb=int(used.get("aggregatedContainersPhysicalMemoryMB", 0)),
        container_vcores_used=float(used.get("containersCPUUsage", 0)),
        http=str(row.get("nodeHTTPAddress") or ""),
        memory_share=float(row["memUtilization"]) / 100 if "memUtilization" in row else None,
        cpu_share=float(row["cpuUtilization"]) / 100 if "cpuUtilization" in row else None,
    )


def _app(row: Any) -> AppSeen:
    asks: dict[tuple[int, Size], int] = {}
    for request in rows_under(row, "resourceRequests"):
        # The same containers are also listed by host and rack; "*" (or no name: a SchedulingRequest) is their number.
        if request.get("resourceName") in (ANY_NODE, None):
            kind = int(request["priority"]), _size(request["capability"])
            asks[kind] = asks.get(kind, 0) + int(request["numContainers"])
    return AppSeen(
        id=str(row["id"]),
        queue=str(row["queue"]),
        user=str(row["user"]),
        running=row["state"] == "RUNNING",
        priority=int(row.get("priority") or 0),
        started_at_ms=int(row.get("startedTime") or 0),
        has_am=not row.get("unmanagedApplication", False),
        attempt=_attempt(row),
        asks=tuple(Ask(priority, size, containers) for (priority, size), containers in asks.items() if containers > 0),
    )


def _attempt(row: Any) -> str:
    """The current attempt: as given or, where it is left out, from the AM's container in the address of its logs."""
    if row.get("currentAppAttemptId"):
        return str(row["currentAppAttemptId"])
    found = _CONTAINER.search(str(row.get("amContainerLogs", "")))
    if not found:
        return ""
    return f"appattempt_{found['cluster']}_{int(found['app']):04d}_{int(found['attempt']):06d}"


def _container(row: Any, app: AppSeen) -> ContainerSeen:
    name = _CONTAINER.fullmatch(str(row["containerId"]))
    if not name:
        raise ValueError(f"{row['containerId']!r} is no container id")
    return ContainerSeen(
        id=name[0],
        app=app.id,
        node=str(row["assignedNodeId"]),
        priority=int(row["priority"]),
        size=(int(row["allocatedMB"]), int(row["allocatedVCores"]) * MILLI),
        # The RM allocates the AM before anything else of an attempt.
        is_am=app.has_am and int(name["number"]) == 1,
    )


def _queues(row: Any, above: str) -> Iterable[QueueSeen]:
    name = f"{above}.{row['queueName']}" if above else str(row["queueName"])
    most = int(row.get("maxParallelApps", -1))
    yield QueueSeen(
        name=name,
        guarantee_permille=round(10 * float(row.get("absoluteCapacity", 100))),
        maximum_permille=round(10 * float(row.get("absoluteMaxCapacity", 100))),
        user_limit_percent=round(float(row.get("userLimit", 100))),
        user_limit_factor_milli=round(MILLI * float(row.get("userLimitFactor", 1))),
        max_running_jobs=-1 if most >= 2**31 - 1 else most,
        guaranteed=float(row["absoluteCapacity"]) / 100 if "absoluteCapacity" in row else None,
        used=_size(row["resourcesUsed"]) if "resourcesUsed" in row else None,
    )
    for child in rows_under(row, "queues", "queue"):
        yield from _queues(child, name)
