"""What a ResourceManager's answers mean.

What its JSON looks like varies: an empty list is `{}` or null, a list of one may be the object itself, numbers may be
strings. All of that is dealt with here; what cannot be read is a YarnError that names the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final

from heddle.model.resources import MILLI
from heddle.yarn.live.ids import CONTAINER_ID, application_id, attempt_id, container_name, node_id
from heddle.yarn.live.kinds import kinds_of
from heddle.yarn.live.things_seen import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen, Size
from heddle.yarn.live.wire import YarnError

ANY_NODE: Final = "*"
MOST: Final = 2**52  # megabytes, cores, milliseconds, and what they add up to over a job
NO_ALLOCATION_ID: Final = -1  # what YARN has where an application gave none
ENDED_STATES: Final = ("FINISHED", "FAILED", "KILLED")


def read_nodes(answer: dict[str, Any], where: str) -> dict[str, NodeSeen]:
    with Reading(f"{where}: nodes"):
        found = (_node(row) for row in rows_under(answer, "nodes", "node"))
        return {node.id: node for node in found}


def read_apps(answer: dict[str, Any], where: str) -> dict[str, AppSeen]:
    with Reading(f"{where}: apps"):
        found = (_app(row) for row in rows_under(answer, "apps", "app"))
        return {app.id: app for app in found}


def read_app(answer: dict[str, Any] | None, where: str) -> AppSeen | None:
    """One application that was asked for by its id; None: it has ended, or the ResourceManager has forgotten it."""
    if answer is None:
        return None
    with Reading(f"{where}: app"):
        row = answer["app"]
        return None if text(row["state"]) in ENDED_STATES else _app(row)


def read_containers(answer: dict[str, Any], app: AppSeen, where: str) -> dict[str, ContainerSeen]:
    with Reading(f"{where}: containers of {app.id}"):
        found = (_container(row, app) for row in _container_rows(answer) if row.get("containerState") != "COMPLETE")
        return {container.id: container for container in found}


def read_container_starts(answer: dict[str, Any], app: AppSeen, where: str) -> dict[str, int]:
    """When each container of an attempt was allocated, by the RM's clock."""
    with Reading(f"{where}: containers of {app.id}"):
        return {container_name(row["containerId"])[0]: whole(row["startedTime"]) for row in _container_rows(answer)}


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
        if isinstance(error, (TypeError, ValueError, AttributeError, OverflowError)):
            raise YarnError(self._where, f"the answer cannot be read ({error})") from error


def text(value: Any) -> str:
    """A name or a word; some versions write those that look like numbers as numbers."""
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"{value!r:.80} is not a text")
    return str(value)


def whole(value: Any, most: int = MOST) -> int:
    """A whole number that a column of 64 bits can hold, even if it is added to another and counted in thousandths."""
    found = int(value)
    if abs(found) > most:
        raise ValueError(f"{value!r:.80} is beyond all bounds")
    return found


def number(value: Any) -> float:
    """Neither beyond all bounds nor NaN, which is not above any limit."""
    found = float(value)
    if not abs(found) <= MOST:
        raise ValueError(f"{value!r:.80} is no number that can be meant")
    return found


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
    return whole(resource["memory"]), whole(resource["vCores"]) * MILLI


def _node(row: Any) -> NodeSeen:
    used = row.get("resourceUtilization") or {}
    allocated = whole(row["usedMemoryMB"]), whole(row["usedVirtualCores"]) * MILLI
    # Hadoop before 3.1 gives no total, but what is used and what is left.
    free = whole(row["availMemoryMB"]), whole(row["availableVirtualCores"]) * MILLI
    total = (
        _size(row["totalResource"]) if row.get("totalResource") else (allocated[0] + free[0], allocated[1] + free[1])
    )
    return NodeSeen(
        id=node_id(row["id"]),
        host=text(row["nodeHostName"]),
        rack=text(row.get("rack", "")),
        state=text(row["state"]),
        label=text((row.get("nodeLabels") or [""])[0]),
        total=total,
        allocated=allocated,
        used_memory_mb=whole(used.get("nodePhysicalMemoryMB", 0)),
        physical_cores_used=number(used.get("nodeCPUUsage", 0)),
        containers_memory_mb=whole(used.get("aggregatedContainersPhysicalMemoryMB", 0)),
        container_vcores_used=number(used.get("containersCPUUsage", 0)),
        http=text(row.get("nodeHTTPAddress") or ""),
        memory_share=_share(row, "memUtilization"),
        cpu_share=_share(row, "cpuUtilization"),
    )


def _share(row: Any, name: str) -> float | None:
    """Of what a machine has; None: it does not tell, as one of which YARN knows no size (NaN)."""
    percent = float(row.get(name, "nan"))
    return percent / 100 if isfinite(percent) else None


def _app(row: Any) -> AppSeen:
    am = CONTAINER_ID.search(text(row.get("amContainerLogs", "")))  # the address of its logs tells its container
    asks: dict[tuple[int, Size], int] = {}
    ids: dict[tuple[int, Size], set[int]] = {}
    for request in rows_under(row, "resourceRequests"):
        # The same containers are also listed by host and rack; "*" (or no name: a SchedulingRequest) is their number.
        if request.get("resourceName") in (ANY_NODE, None):
            kind = whole(request["priority"]), _size(request["capability"])
            asks[kind] = asks.get(kind, 0) + whole(request["numContainers"])
            if whole(request["numContainers"]) > 0:
                ids.setdefault(kind, set()).add(int(request.get("allocationRequestId", NO_ALLOCATION_ID)))
    return AppSeen(
        id=application_id(row["id"]),
        queue=text(row["queue"]),
        user=text(row["user"]),
        running=row["state"] == "RUNNING",
        priority=whole(row.get("priority") or 0),
        started_at_ms=whole(row.get("startedTime") or 0),
        has_am=not row.get("unmanagedApplication", False),
        attempt=_attempt(row, am),
        asks=tuple(
            Ask(*kind, containers, tuple(sorted(ids[kind]))) for kind, containers in asks.items() if containers > 0
        ),
        kinds=kinds_of(text(row.get("applicationType") or ""), text(row.get("applicationTags") or "")),
        name=text(row.get("name") or ""),
        type=text(row.get("applicationType") or ""),
        am=am[0] if am else "",
    )


def _attempt(row: Any, am: re.Match[str] | None) -> str:
    """The current attempt: as given or, where it is left out, from the AM's container."""
    if row.get("currentAppAttemptId"):
        return attempt_id(row["currentAppAttemptId"])
    return f"appattempt_{am['cluster']}_{int(am['app']):04d}_{int(am['attempt']):06d}" if am else ""


def is_am(name: re.Match[str], app: AppSeen) -> bool:
    """The RM allocates the AM before anything else of an attempt. But one that was restarted numbers the containers of
    attempts that go on from 1 again, in another epoch."""
    if not app.has_am or int(name["number"]) != 1:
        return False
    am = CONTAINER_ID.fullmatch(app.am)
    return am is None or am["attempt"] != name["attempt"] or am["epoch"] == name["epoch"]


def _container(row: Any, app: AppSeen) -> ContainerSeen:
    name = container_name(row["containerId"])
    return ContainerSeen(
        id=name[0],
        app=app.id,
        node=node_id(row["assignedNodeId"]),
        priority=whole(row["priority"]),
        size=(whole(row["allocatedMB"]), whole(row["allocatedVCores"]) * MILLI),
        is_am=is_am(name, app),
    )


def _queues(row: Any, above: str) -> Iterable[QueueSeen]:
    name = f"{above}.{text(row['queueName'])}" if above else text(row["queueName"])
    most = whole(row.get("maxParallelApps", -1))
    yield QueueSeen(
        name=name,
        guarantee_permille=round(10 * number(row.get("absoluteCapacity", 100))),
        maximum_permille=round(10 * number(row.get("absoluteMaxCapacity", 100))),
        user_limit_percent=round(number(row.get("userLimit", 100))),
        user_limit_factor_milli=round(MILLI * number(row.get("userLimitFactor", 1))),
        max_running_jobs=-1 if most >= 2**31 - 1 else most,
        guaranteed=number(row["absoluteCapacity"]) / 100 if "absoluteCapacity" in row else None,
        used=_size(row["resourcesUsed"]) if "resourcesUsed" in row else None,
        am_share_permille=round(MILLI * number(row.get("configuredMaxAMResourceLimit", -1 / MILLI))),
        preempts_within=row.get("intraQueuePreemptionDisabled") is not True,
    )
    for child in rows_under(row, "queues", "queue"):
        yield from _queues(child, name)
