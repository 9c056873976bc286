"""A cluster as a running ResourceManager describes it: nodes, labels, racks, and its queue tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heddle.model.cluster import Cluster, LabelShare, Node, Queue
from heddle.model.resources import BASE_RESOURCES, MILLI
from heddle.traces.cluster_import.capacity import CALCULATOR, DEFAULT_OFF_SWITCH, OFF_SWITCH, calculator_of
from heddle.traces.cluster_import.capacity_properties import PREFIX
from heddle.traces.cluster_import.imported import ImportedQueues, Leftovers, with_queues
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, number, rows_under, whole
from heddle.yarn.live.wire import YarnError

_ALIVE = ("RUNNING", "UNHEALTHY")
_ORDERS = ("fifo", "fair", "drf")


def nodes_of(client: RmClient) -> tuple[tuple[Node, ...], tuple[str, ...], Leftovers]:
    """The nodes that the RM counts, their resources, and what it did not tell."""
    answer = client.nodes()
    with Reading(f"{client.address}: nodes"):
        return _nodes(rows_under(answer, "nodes", "node"), client.address)


def _nodes(rows: list[Any], address: str) -> tuple[tuple[Node, ...], tuple[str, ...], Leftovers]:
    left = Leftovers()
    alive = [row for row in rows if row.get("state", "RUNNING") in _ALIVE]
    for row in rows:
        if row not in alive:
            left.add(f"node {row.get('id')}", row.get("state"), "not running: left out")
    if not alive:
        raise YarnError(address, "the ResourceManager has no running node")
    sizes = [_sizes(row) for row in alive]
    further = tuple(sorted({name for size in sizes for name in size} - set(BASE_RESOURCES)))
    resources = (*BASE_RESOURCES, *further)
    on_host = Counter(_host(row) for row in alive)
    nodes = []
    for row, size in zip(alive, sizes, strict=True):
        host = _host(row)
        # Of several NodeManagers on one host none is *the* host: all go by host and port.
        name = host if on_host[host] == 1 else str(row.get("id"))
        total = tuple(size.get(resource, 0) for resource in resources)
        labels = [str(label) for label in row.get("nodeLabels") or ()]
        rack = str(row.get("rack") or "/default-rack").strip("/") or "rack-0"
        nodes.append(Node(name, total, total, rack=rack, label=labels[0] if labels else ""))
    left.add(
        "hardware of nodes",
        "unknown",
        "the RM only reports what may be allocated; heddle assumes that the hardware has as much",
    )
    return tuple(nodes), resources, left


def live_cluster(client: RmClient) -> Cluster:
    """Both, as a cluster to simulate on."""
    nodes, resources, _ = nodes_of(client)
    return with_queues(of_nodes(nodes, resources), queues_of(client))


def of_nodes(nodes: tuple[Node, ...], resources: tuple[str, ...]) -> Cluster:
    return Cluster(nodes=nodes, resources=resources, exclusive=resources[2:], increment=(1,) * len(resources))


def queues_of(client: RmClient) -> ImportedQueues:
    """The queue tree as /scheduler shows it, with the settings that the RM tells; what it does not is named."""
    answer = client.scheduler()
    with Reading(f"{client.address}: scheduler"):
        info = (answer.get("scheduler") or {}).get("schedulerInfo") or {}
        if info.get("type") == "fairScheduler":
            return _fair(info)
        if info.get("type") == "capacityScheduler" or "queues" in info:
            return _capacity(info, _settings(client))
        raise YarnError(client.address, f"heddle does not support a scheduler of type {info.get('type')!r}")


def _settings(client: RmClient) -> dict[str, str] | None:
    """None where the RM keeps them to itself: its queues are in a file, or we may only read."""
    try:
        return client.scheduler_settings()
    except YarnError:
        return None


def _capacity(info: Mapping[str, Any], settings: Mapping[str, str] | None) -> ImportedQueues:
    left, queues = Leftovers(), [Queue("root")]
    amounts: dict[str, dict[str, Any]] = {}

    def walk(row: Mapping[str, Any], parent: str) -> None:
        path = str(row.get("queuePath") or f"{parent}.{row.get('queueName')}")
        said: dict[str, Any] = {
            "guarantee_permille": _permille(row.get("capacity"), 1000),
            "maximum_permille": _permille(row.get("maxCapacity"), 1000),
            "labels": _label_shares(row),
        }
        children = rows_under(row, "queues", "queue")
        if not children:
            said["user_limit_percent"] = round(_number(row.get("userLimit"), 100))
            said["user_limit_factor_milli"] = round(MILLI * _number(row.get("userLimitFactor"), 1))
            order = (row.get("orderingPolicyInfo") or "").lower()
            said["order"] = order if order in _ORDERS else ""
            said["am_share_permille"] = _am_share_permille(row)
        most = row.get("maxParallelApps")
        if isinstance(most, int) and 0 < most < 2**31 - 1:
            said["max_running_jobs"] = most
        said["stopped"] = row.get("state", "RUNNING") != "RUNNING"
        for amount, share in (("guarantee", "guarantee_permille"), ("maximum", "maximum_permille")):
            if amount in amounts.get(path, {}):
                said[amount] = amounts[path][amount]
                del said[share]
        queues.append(replace(Queue(path), **said))
        walk_all(children, path)

    def walk_all(rows: list[dict[str, Any]], parent: str) -> None:
        found = {str(row.get("queuePath") or f"{parent}.{row.get('queueName')}"): _configured(row) for row in rows}
        if all("guarantee" in one for one in found.values()):  # siblings have amounts or shares, not both
            amounts.update(found)
        for row in rows:
            walk(row, parent)

    walk_all(rows_under(info, "queues", "queue"), "root")
    why = "not in the RM's answer: import capacity-scheduler.xml to include or list them"
    if settings is None:
        left.add("resource calculator, assignments per heartbeat", "unknown", why, matters=True)
        settings = {}
    left.add("ACLs, mappings", "unknown", why)
    calculator = calculator_of(settings.get(PREFIX + CALCULATOR, "")) or "memory"
    off_switch = whole(settings.get(PREFIX + OFF_SWITCH, DEFAULT_OFF_SWITCH))
    return ImportedQueues("capacity", tuple(queues), calculator, off_switch, tuple(left.found))


def _configured(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a queue is guaranteed, and its maximum, where they are configured as amounts; YARN says 0 where not."""
    names = {"guarantee": "configuredMinResource", "maximum": "configuredMaxResource"}
    for partition in rows_under(row, "capacities", "queueCapacitiesByPartition"):
        if partition.get("partitionName", "") == "":
            told = {ours: partition.get(theirs) or {} for ours, theirs in names.items()}
            return {
                ours: (whole(one["memory"]), MILLI * whole(one.get("vCores") or 0))
                for ours, one in told.items()
                if isinstance(one.get("memory"), int) and one["memory"] > 0
            }
    return {}


def _am_share_permille(row: Mapping[str, Any]) -> int:
    """Of a leaf, without labels; -1 where an older RM does not tell it."""
    for partition in rows_under(row, "capacities", "queueCapacitiesByPartition"):
        if partition.get("partitionName", "") == "":
            return _permille(partition.get("maxAMLimitPercentage"), -1)
    return -1


def _label_shares(row: Mapping[str, Any]) -> tuple[LabelShare, ...]:
    """Of the nodes with a label, where the RM tells."""
    return tuple(
        LabelShare(label, _permille(partition["capacity"], 0), _permille(partition.get("maxCapacity"), 1000))
        for partition in rows_under(row, "capacities", "queueCapacitiesByPartition")
        if (label := str(partition.get("partitionName") or "")) and "capacity" in partition
    )


def _fair(info: Mapping[str, Any]) -> ImportedQueues:
    left, queues = Leftovers(), []

    def walk(row: Mapping[str, Any]) -> None:
        said: dict[str, Any] = {}
        children = rows_under(row, "childQueues", "queue")
        order = str(row.get("schedulingPolicy") or "").lower()
        if not children and order in _ORDERS:
            said["order"] = order
        least = row.get("minResources") or {}
        if least.get("memory") or least.get("vCores"):
            said["min_share"] = (whole(least.get("memory") or 0), MILLI * whole(least.get("vCores") or 0))
        most = row.get("maxApps")
        if isinstance(most, int) and 0 <= most < 2**31 - 1:
            said["max_running_jobs"] = most
        queues.append(replace(Queue(str(row.get("queueName"))), **said))
        for child in children:
            walk(child)

    walk(info.get("rootQueue") or {"queueName": "root"})
    why = "not in the RM's answer: import fair-scheduler.xml to include or list them"
    left.add("weights, maxima, AM shares, ACLs, placement rules", "unknown", why, matters=True)
    return ImportedQueues("fair", tuple(queues), "memory", 0, tuple(left.found))


def _host(row: Mapping[str, Any]) -> str:
    return str(row.get("nodeHostName") or row.get("id"))


def _sizes(row: Mapping[str, Any]) -> dict[str, int]:
    """What may be promised on a node, by resource."""
    total = row.get("totalResource") or {}
    found = {}
    for one in rows_under(total, "resourceInformations", "resourceInformation"):
        name = str(one.get("name", "")).rpartition("/")[2]
        if name and name not in ("memory-mb", "vcores"):
            found[name] = whole(one.get("value") or 0)
    memory = total.get("memory", _sum(row, "usedMemoryMB", "availMemoryMB"))
    vcores = total.get("vCores", _sum(row, "usedVirtualCores", "availableVirtualCores"))
    return dict(zip(BASE_RESOURCES, (whole(memory), MILLI * whole(vcores)), strict=True)) | found


def _sum(row: Mapping[str, Any], *names: str) -> int:
    return sum(whole(row.get(name) or 0) for name in names)


def _number(value: Any, default: float) -> float:
    return number(value) if isinstance(value, int | float) and value >= 0 else default


def _permille(percent: Any, default: int) -> int:
    return round(10 * number(percent)) if isinstance(percent, int | float) and percent >= 0 else default
