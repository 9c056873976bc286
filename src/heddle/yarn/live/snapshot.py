"""One poll of the ResourceManager as plain data.

What the RM's JSON looks like varies: an empty list is `{}` or null, a list of one may be the object itself, numbers may
be strings. All of that is dealt with here; what cannot be read is a YarnError that names the field.

Containers are read with one call per running application. The bulk answers hold only sums per node and per
application, which do not say what was reserved where, nor show a container that ended while another began.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.model.resources import MILLI
from heddle.yarn.live.client import RmClient
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
    submitted_to: str = ""  # the queue that it came to, if we have moved it


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
    am_share_permille: int = -1  # as it was found; -1: not told
    found_permille: tuple[int, int] | None = None  # guarantee and maximum before we set them; None: as they are


@dataclass(frozen=True)
class Snapshot:
    """Everything that one poll told. `ended`: applications that were live in the poll before; true = it succeeded."""

    at_ms: int
    nodes: Mapping[str, NodeSeen]
    apps: Mapping[str, AppSeen] = field(default_factory=dict)
    containers: Mapping[str, ContainerSeen] = field(default_factory=dict)
    queues: tuple[QueueSeen, ...] = ()
    ended: Mapping[str, bool] = field(default_factory=dict)


def take_snapshot(client: RmClient, at_ms: int, live_before: Iterable[str] = ()) -> Snapshot:
    """Polls the RM. `live_before`: applications of the poll before; of those gone since it asks how they ended."""
    nodes = read_nodes(client.nodes(), client.address)
    apps = read_apps(client.apps(), client.address)
    queues = read_queues(client.scheduler(), client.address)
    containers: dict[str, ContainerSeen] = {}
    for app in apps.values():
        answer = client.containers(app.id, app.attempt) if app.attempt else None
        if answer is not None:
            containers.update(read_containers(answer, app, client.address))
    ended = {}
    for app_id in live_before:
        if app_id not in apps:
            answer = client.app(app_id)  # one that the RM has forgotten counts as a success
            ended[app_id] = answer is None or (answer.get("app") or {}).get("finalStatus") == "SUCCEEDED"
    return Snapshot(at_ms, nodes, apps, containers, queues, ended)


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
        am_share_permille=round(MILLI * float(row.get("configuredMaxAMResourceLimit", -1 / MILLI))),
    )
    for child in rows_under(row, "queues", "queue"):
        yield from _queues(child, name)
