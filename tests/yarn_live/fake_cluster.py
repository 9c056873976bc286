"""A cluster for tests, with nodes, applications and containers under the test's control, that answers as an RM does.

The payloads have the fields, nesting and oddities of Hadoop 3.4: empty lists are null or {}, the containers' numbers
are strings, a list of one container is the object itself, and a lost node is simply not listed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

CLUSTER_AT_MS = 1_700_000_000_000
ROOT = "/ws/v1/cluster"
ORDER_OF = "yarn.scheduler.capacity.root.{}.ordering-policy"
CAPACITY_OF = "yarn.scheduler.capacity.root.{}.capacity"
AM_SHARE_OF = "yarn.scheduler.capacity.root.{}.maximum-am-resource-percent"


@dataclass
class FakeNode:
    memory_mb: int
    vcores: int
    host: str
    rack: str = "/default-rack"
    state: str = "RUNNING"
    lost: bool = False
    used_memory_mb: int = 0
    used_cores: float = 0.0
    containers_memory_mb: int = 0
    containers_vcores: float = 0.0
    http: str = ""
    machine_memory_mb: int = 0  # of the machine that it runs on, as its cores; 0: what it promises at first
    machine_cores: int = 0

    def __post_init__(self) -> None:
        self.machine_memory_mb = self.machine_memory_mb or self.memory_mb
        self.machine_cores = self.machine_cores or self.vcores


@dataclass
class FakeContainer:
    node: str
    memory_mb: int
    vcores: int
    priority: int


@dataclass
class FakeApp:
    number: int
    queue: str
    user: str
    priority: int
    state: str = "ACCEPTED"
    final_status: str = "UNDEFINED"
    attempt: int = 1
    next_container: int = 1
    am: str = ""  # its container
    containers: dict[str, FakeContainer] = field(default_factory=dict)
    asks: list[tuple[int, int, int, int]] = field(default_factory=list)  # priority, memory, vcores, containers
    finished_at_ms: int = 0
    kind: str = "TEST"
    memory_mb_seconds: int = 0
    vcore_seconds: int = 0
    name: str = ""
    submitted_at_ms: int = 0  # 0: soon after the cluster's start
    launched_at_ms: int = 0
    diagnostics: str = ""

    @property
    def id(self) -> str:
        return f"application_{CLUSTER_AT_MS}_{self.number:04d}"

    @property
    def attempt_id(self) -> str:
        return f"appattempt_{CLUSTER_AT_MS}_{self.number:04d}_{self.attempt:06d}"


class FakeCluster:
    """Change it between polls; read `posts` afterwards."""

    def __init__(self) -> None:
        self.nodes: dict[str, FakeNode] = {}
        self.apps: dict[str, FakeApp] = {}
        self.posts: list[tuple[str, dict[str, Any]]] = []
        self.instead: dict[str, tuple[int, str]] = {}  # path under the root -> (status, text) to answer
        self.refuses_puts: dict[str, tuple[int, str]] = {}  # the same, for changes only
        self.gives_attempt_ids = True
        self.gives_am_logs = True
        self.epoch = 0  # how often the ResourceManager was started again; then it numbers containers from 1
        self.now_ms = CLUSTER_AT_MS
        self.on_post: Callable[[], None] = lambda: None
        # What the fake answers, as RM or as NodeManager, at /conf.
        self.configured = {"yarn.resourcemanager.scheduler.monitor.enable": "false"}
        self.leaves = {"default": (75.0, 100.0), "batch": (25.0, 50.0)}  # percent: guarantee, maximum
        self.settings: dict[str, str] = {}  # of the scheduler, by full name
        self.am_share = 0.1  # of leaves that have none of their own
        self.preempts_within = False  # each leaf
        self.info: dict[str, Any] = {
            "clusterInfo": {"id": CLUSTER_AT_MS, "startedOn": CLUSTER_AT_MS, "state": "STARTED", "haState": "ACTIVE",
                            "resourceManagerVersion": "3.4.2", "hadoopVersion": "3.4.2"}
        }  # fmt: skip

    # What a test changes.

    def add_node(self, name: str, memory_mb: int, vcores: int, host: str | None = None) -> None:
        self.nodes[name] = FakeNode(memory_mb, vcores, host or name.partition(":")[0])

    def add_app(self, queue: str = "default", user: str = "ann", priority: int = 0) -> FakeApp:
        app = FakeApp(len(self.apps) + 1, queue, user, priority)
        self.apps[app.id] = app
        return app

    def allocate(self, app: FakeApp, node: str, memory_mb: int, vcores: int, priority: int = 20) -> str:
        epoch = f"e{self.epoch:02d}_" if self.epoch else ""
        name = f"container_{epoch}{CLUSTER_AT_MS}_{app.number:04d}_{app.attempt:02d}_{app.next_container:06d}"
        app.containers[name] = FakeContainer(node, memory_mb, vcores, priority)
        app.next_container += 1
        return name

    def start_am(self, app: FakeApp, node: str, memory_mb: int, vcores: int) -> str:
        name = self.allocate(app, node, memory_mb, vcores, priority=0)
        app.state, app.asks, app.am = "RUNNING", [], name
        return name

    def end_container(self, name: str) -> None:
        for app in self.apps.values():
            app.containers.pop(name, None)

    def end_app(self, app: FakeApp, final_status: str = "SUCCEEDED", lingering: bool = False) -> None:
        """`lingering`: its containers are still there for a while, as an AM's is."""
        app.state = "FINISHED" if final_status == "SUCCEEDED" else final_status
        app.final_status = final_status
        app.finished_at_ms = self.now_ms
        app.containers, app.asks = app.containers if lingering else {}, []

    def restart(self) -> None:
        """The ResourceManager starts again; applications go on."""
        self.epoch += 1
        for app in self.apps.values():
            app.next_container = 1

    def lose(self, node: str) -> None:
        self.nodes[node].lost = True
        for app in self.apps.values():
            app.containers = {name: c for name, c in app.containers.items() if c.node != node}

    # What the server answers.

    def get(self, path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        path = path.removeprefix(ROOT)
        if path in self.instead:
            return self.instead[path]
        if path == "/conf":
            name = query["name"][0]
            if name not in self.configured:
                return 404, json.dumps({"RemoteException": {"message": f"no {name}"}})
            return 200, json.dumps({"property": {"key": name, "value": self.configured[name], "isFinal": False}})
        parts = path.strip("/").split("/")
        if parts == ["nodes"]:
            held: dict[str, list[FakeContainer]] = {name: [] for name in self.nodes}
            for app in self.apps.values():
                for container in app.containers.values():
                    held[container.node].append(container)
            rows = [_node(name, node, held[name]) for name, node in self.nodes.items() if not node.lost]
            return 200, json.dumps({"nodes": {"node": rows} if rows else {}})
        if parts == ["info"]:
            return 200, json.dumps(self.info)
        if parts == ["apps"]:
            states = query["states"][0].split(",")
            since_ms, until_ms = (
                int(query.get(f"finishedTime{end}", [other])[0]) for end, other in (("Begin", "0"), ("End", str(2**62)))
            )
            wanted = [
                app
                for app in self.apps.values()
                if app.state in states and (not since_ms or since_ms <= app.finished_at_ms <= until_ms)
            ]
            rows = [self._app(app) for app in wanted[: int(query.get("limit", [str(2**62)])[0])]]
            for name in query.get("deSelects", [""])[0].split(","):
                for row in rows:
                    row.pop(name, None)
            return 200, json.dumps({"apps": {"app": rows} if rows else None})
        if parts == ["scheduler-conf"]:
            settings = self._own_shares() | self.settings
            return 200, json.dumps({"property": [{"name": name, "value": v} for name, v in settings.items()]})
        if parts == ["scheduler"]:
            return 200, json.dumps({"scheduler": {"schedulerInfo": self._queues()}})
        app = self.apps.get(parts[1]) if parts[0] == "apps" and len(parts) > 1 else None
        if app is not None and len(parts) == 2:
            return 200, json.dumps({"app": self._app(app)})
        if app is not None and parts[2] == "appattempts" and parts[3:] == [app.attempt_id, "containers"]:
            found = [self._container(name, container) for name, container in app.containers.items()]
            return 200, json.dumps({"container": found[0] if len(found) == 1 else found} if found else {})
        return 404, json.dumps({"RemoteException": {"exception": "NotFoundException", "message": f"no {path}"}})

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        path = path.removeprefix(ROOT)
        self.on_post()
        self.posts.append((path, body))
        if path in self.instead:
            return self.instead[path]
        name = path.removeprefix("/nodes/").removesuffix("/resource")
        node = self.nodes.get(name)
        if node is None or node.lost:
            return 404, json.dumps({"RemoteException": {"message": f"no node {name}"}})
        node.memory_mb, node.vcores = body["resource"]["memory"], body["resource"]["vCores"]
        return 200, json.dumps({"resourceInfo": _resource(node.memory_mb, node.vcores)})

    def put(self, path: str, body: str) -> tuple[int, str]:
        path = path.removeprefix(ROOT)
        self.on_post()
        if refusal := self.refuses_puts.get(path) or self.instead.get(path):
            return refusal
        if path == "/scheduler-conf":
            for queue in ElementTree.fromstring(body).iter("update-queue"):
                for entry in queue.iter("entry"):
                    name = f"yarn.scheduler.capacity.{queue.findtext('queue-name')}.{entry.findtext('key')}"
                    self.settings[name] = entry.findtext("value") or ""
            own = self._own_shares()  # an empty one is none
            self.settings = {name: v for name, v in self.settings.items() if v and v != own.get(name)}
            return 200, "Configuration change successfully applied."
        _, _, app_id, what = path.split("/")
        app, asked = self.apps[app_id], json.loads(body)
        if what == "priority":
            app.priority = asked["priority"]
        else:
            app.queue = asked["queue"]
        return 200, json.dumps(asked)

    def _app(self, app: FakeApp) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": app.id,
            "user": app.user,
            "name": app.name or f"app {app.number}",
            "queue": app.queue,
            "state": app.state,
            "finalStatus": app.final_status,
            "priority": app.priority,
            "startedTime": app.submitted_at_ms or CLUSTER_AT_MS + app.number,
            "launchTime": app.launched_at_ms,
            "finishedTime": app.finished_at_ms,
            "elapsedTime": self.now_ms - (app.submitted_at_ms or CLUSTER_AT_MS + app.number),
            "diagnostics": app.diagnostics,
            "applicationType": app.kind,
            "memorySeconds": app.memory_mb_seconds,
            "vcoreSeconds": app.vcore_seconds,
            "runningContainers": len(app.containers),
            "unmanagedApplication": False,
            "resourceRequests": [
                {
                    "priority": priority,
                    "allocationRequestId": -1,
                    "resourceName": place,
                    "capability": _resource(memory_mb, vcores),
                    "numContainers": containers,
                    "relaxLocality": True,
                    "nodeLabelExpression": "",
                }
                for priority, memory_mb, vcores, containers in app.asks
                for place in ("*", "/default-rack", "host-a")  # the same containers, three times
            ],
        }
        if self.gives_am_logs:
            am = app.am or f"container_{CLUSTER_AT_MS}_{app.number:04d}_01_000001"
            shown["amContainerLogs"] = f"http://h:8042/node/containerlogs/{am}/ann"
        if self.gives_attempt_ids:
            shown["currentAppAttemptId"] = app.attempt_id
        return shown

    def _container(self, name: str, container: FakeContainer) -> dict[str, Any]:
        return {
            "containerId": name,
            "allocatedMB": str(container.memory_mb),
            "allocatedVCores": str(container.vcores),
            "assignedNodeId": container.node,
            "priority": str(container.priority),
            "startedTime": str(CLUSTER_AT_MS),
            "finishedTime": "0",
            "containerExitStatus": "0",
            "containerState": "RUNNING",
        }

    def _held_in(self, leaf: str) -> dict[str, int]:
        of_leaf = [app for app in self.apps.values() if app.queue.rpartition(".")[2] == leaf]
        held = [container for app in of_leaf for container in app.containers.values()]
        return _resource(sum(one.memory_mb for one in held), sum(one.vcores for one in held))

    def _own_shares(self) -> dict[str, str]:
        return {CAPACITY_OF.format(name): f"{least:g}" for name, (least, _) in self.leaves.items()}

    def _am_share_of(self, leaf: str) -> float:
        return float(self.settings.get(AM_SHARE_OF.format(leaf), self.am_share))

    def _queues(self) -> dict[str, Any]:
        leaf = {
            "type": "capacitySchedulerLeafQueueInfo",
            "userLimit": 100,
            "userLimitFactor": 1.0,
            "maxParallelApps": 2**31 - 1,
            "intraQueuePreemptionDisabled": not self.preempts_within,
        }
        return {
            "type": "capacityScheduler",
            "queueName": "root",
            "capacity": 100.0,
            "queues": {
                "queue": [
                    {
                        **leaf,
                        "queueName": name,
                        "capacity": least,
                        "maxCapacity": most,
                        "orderingPolicyInfo": self.settings.get(ORDER_OF.format(name), "fifo"),
                        "absoluteCapacity": least,
                        "absoluteMaxCapacity": most,
                        "resourcesUsed": self._held_in(name),
                        "configuredMaxAMResourceLimit": self._am_share_of(name),
                        "capacities": {
                            "queueCapacitiesByPartition": [
                                {"partitionName": "", "maxAMLimitPercentage": 100 * self._am_share_of(name)}
                            ]
                        },
                    }
                    for name, (least, most) in self.leaves.items()
                ]
            },
        }


def _resource(memory_mb: int, vcores: int) -> dict[str, int]:
    return {"memory": memory_mb, "vCores": vcores}


def _node(name: str, node: FakeNode, held: list[FakeContainer]) -> dict[str, Any]:
    memory_mb, vcores = sum(c.memory_mb for c in held), sum(c.vcores for c in held)
    return {
        "rack": node.rack,
        "state": node.state,
        "id": name,
        "nodeHostName": node.host,
        "nodeHTTPAddress": node.http,
        "memUtilization": 100 * node.used_memory_mb / node.machine_memory_mb,
        "cpuUtilization": 100 * node.used_cores / node.machine_cores,
        "lastHealthUpdate": CLUSTER_AT_MS,
        "version": "3.4.2",
        "healthReport": "",
        "numContainers": len(held),
        "usedMemoryMB": memory_mb,
        "availMemoryMB": node.memory_mb - memory_mb,
        "usedVirtualCores": vcores,
        "availableVirtualCores": node.vcores - vcores,
        "resourceUtilization": {
            "nodePhysicalMemoryMB": node.used_memory_mb,
            "nodeVirtualMemoryMB": node.used_memory_mb,
            "nodeCPUUsage": node.used_cores,
            "aggregatedContainersPhysicalMemoryMB": node.containers_memory_mb,
            "aggregatedContainersVirtualMemoryMB": 0,
            "containersCPUUsage": node.containers_vcores,
        },
        "usedResource": _resource(memory_mb, vcores),
        "availableResource": _resource(node.memory_mb - memory_mb, node.vcores - vcores),
        "totalResource": _resource(node.memory_mb, node.vcores),
    }
