"""What a ResourceManager answers over REST, of a simulated YARN: the fields and nesting of Hadoop 3.4."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from operator import gt
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.stock_yarn.sight import app_id, app_number, node_id
from heddle.storm.bridge import SimulatedBridge
from heddle.storm.machine import Asked
from heddle.storm.truth import By
from heddle.storm.yarn import EPOCH_MS, PREFIX, WITHOUT_LIMIT, SimulatedYarn
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, SHARES
from heddle.yarn.live.bridge.endpoint import PATH as BRIDGE
from heddle.yarn.live.bridge.leaves import ORDERING
from heddle.yarn.live.columns import Rows
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.rm_answers import NO_ALLOCATION_ID
from heddle.yarn.live.things_seen import AppSeen, NodeSeen, Size

ROOT: Final = "/ws/v1/cluster"
_OF_APP: Final = re.compile(r"/apps/(?P<app>[^/]+)(?P<rest>/.*)?")
CLOSE_TO_100: Final = 0.05
_RESIZE: Final = re.compile(r"/nodes/(?P<node>[^/]+)/resource")


class RmAnswers:
    """One ResourceManager. It remembers nothing: every answer is made of the YARN as it is."""

    def __init__(self, yarn: SimulatedYarn, configured: dict[str, str], bridge: SimulatedBridge | None) -> None:
        self.yarn, self._configured, self._bridge = yarn, configured, bridge

    def answer(self, asked: Asked) -> Answer:
        (path, query), body = path_and_query(asked.target), asked.body or ""
        if path.startswith(BRIDGE):
            return self._bridge.answer(asked, path.removeprefix(BRIDGE), query) if self._bridge else _no(path)
        if asked.method == "GET":
            return self._get(path, query)
        return self._resize(path, json.loads(body or "{}")) if asked.method == "POST" else self._put(path, body)

    def _get(self, path: str, query: dict[str, list[str]]) -> Answer:
        if path == "/conf":
            value = self._configured.get(query["name"][0])
            return _no(f"no {query['name'][0]}") if value is None else _ok({"property": {"value": value}})
        if path == "/nodes":
            rows = [_node(node) for name in self.yarn.nodes if (node := self.yarn.node(name)) is not None]
            return _ok({"nodes": {"node": rows} if rows else {}})
        if path == "/apps":
            rows = self._apps(query["states"][0].split(","), int(query.get("finishedTimeBegin", ["0"])[0]))
            return _ok({"apps": {"app": rows} if rows else None})
        if path == "/scheduler":
            return _ok({"scheduler": {"schedulerInfo": self._queues()}})
        if path == "/scheduler-conf":
            settings = [*self.yarn.settings.items()]
            settings += ((f"{PREFIX}.{leaf}.state", "STOPPED") for leaf in sorted(self.yarn.stopped))
            return _ok({"property": [{"name": name, "value": value} for name, value in settings]})
        if found := _OF_APP.fullmatch(path):
            return self._of_app(found["app"], found["rest"])
        return _no(path)

    def _apps(self, states: list[str], since_ms: int) -> list[dict[str, Any]]:
        rows = []
        if "RUNNING" in states:
            rows += [self._live(app) for app in self.yarn.look().apps.values()]
        if "FINISHED" in states:
            ended = self.yarn.ended_apps()
            rows += [self._ended(job) for job in ended if EPOCH_MS + self.yarn.ended_at_ms(job) >= since_ms]
        return rows

    def _of_app(self, name: str, rest: str | None) -> Answer:
        look = self.yarn.look()
        ended = name not in look.apps
        if ended and name not in map(app_id, self.yarn.ended_apps()):
            return _no(name)
        if rest is None:
            return _ok({"app": self._ended(app_number(name)) if ended else self._live(look.apps[name])})
        rows = self._containers(look.columns.containers, app_number(name))
        return _ok({"container": rows[0] if len(rows) == 1 else rows} if rows else {})

    def _about(self, job: int) -> dict[str, Any]:
        spec, workload = self.yarn.workload.jobs[job], self.yarn.workload
        return {
            "id": app_id(job),
            "name": f"job-{job}",
            "user": workload.users[spec["user"]],
            "queue": self.yarn.queue_of(job),
            "startedTime": EPOCH_MS + int(spec["submit_at_ms"]),
            "elapsedTime": self.yarn.look().at_ms - int(spec["submit_at_ms"]),
            "finishedTime": 0,
            "finalStatus": "UNDEFINED",
            "applicationType": "STORM",
            "memorySeconds": 0,
            "vcoreSeconds": 0,
            "currentAppAttemptId": f"appattempt_0_{job:04d}_000001",
            "amContainerLogs": f"http://node.example:8042/node/containerlogs/{self.yarn.am_of(job)}/ann",
        }

    def _live(self, app: AppSeen) -> dict[str, Any]:
        asks = [
            {
                "priority": ask.priority,
                "resourceName": "*",
                "capability": _resource(ask.size),
                "numContainers": ask.containers,
                "allocationRequestId": NO_ALLOCATION_ID,
            }
            for ask in app.asks
        ]
        return {
            **self._about(app_number(app.id)),
            "state": "RUNNING" if app.running else "ACCEPTED",
            "priority": self.yarn.priority(app.id),
            "resourceRequests": asks,
        }

    def _ended(self, job: int) -> dict[str, Any]:
        status = "SUCCEEDED" if self.yarn.has_succeeded(job) else "FAILED"
        ended_ms = self.yarn.ended_at_ms(job)
        return {
            **self._about(job),
            "state": "FINISHED",
            "finalStatus": status,
            "finishedTime": EPOCH_MS + ended_ms,
        }

    def _containers(self, held: Rows, job: int) -> list[dict[str, Any]]:
        held = held[held["app"] == job]
        columns = (held[name].tolist() for name in ("number", "attempt", "size", "node", "priority"))
        return [
            {
                "containerId": name,
                "allocatedMB": str(size[MEMORY]),
                "allocatedVCores": str(size[VCORES] // MILLI),
                "assignedNodeId": node_id(node),
                "priority": str(priority),
                "startedTime": str(EPOCH_MS + self.yarn.lives[name].began_ms),
                "containerState": "RUNNING",
            }
            for task, attempt, size, node, priority in zip(*columns, strict=True)
            for name in (self.yarn.container_id(task, attempt),)
        ]

    def _queues(self) -> dict[str, Any]:
        rows = [
            {
                "queueName": leaf.rpartition(".")[2],
                "state": "STOPPED" if leaf in self.yarn.stopped else "RUNNING",
                "absoluteCapacity": float(self.yarn.setting(leaf, GUARANTEE) or 0),
                "absoluteMaxCapacity": float(self.yarn.setting(leaf, MAXIMUM) or WITHOUT_LIMIT),
                "resourcesUsed": _resource(self.yarn.held_by_queue(leaf)),
                "configuredMaxAMResourceLimit": float(self.yarn.setting(leaf, AM_SHARE) or 0.1),
                "intraQueuePreemptionDisabled": True,
                "orderingPolicyInfo": ORDERING if self._bridge and leaf in self._bridge.leaves else "fifo",
            }
            for leaf in (*self.yarn.leaves, *self.yarn.empty_leaves)
        ]
        return {"type": "capacityScheduler", "queueName": "root", "capacity": 100.0, "queues": {"queue": rows}}

    # Changes, all by steering: whoever else changes something does it in the YARN itself.

    def _resize(self, path: str, asked: dict[str, Any]) -> Answer:
        found = _RESIZE.fullmatch(path)
        if not found or found["node"] not in self.yarn.nodes or self.yarn.node(found["node"]) is None:
            return _no(path)
        size = int(asked["resource"]["memory"]), MILLI * int(asked["resource"]["vCores"])
        self.yarn.resize(found["node"], size, int(asked.get("overCommitTimeout", 0)), By.US)
        return _ok({"resourceInfo": _resource(size)})

    def _put(self, path: str, body: str) -> Answer:
        if path == "/scheduler-conf":
            if wrong := self._wrong_with(changes := queue_changes(body)):
                return Answer(400, wrong)
            for leaf, key, value in changes:
                self.yarn.configure(leaf, key, value, By.US)
            return Answer(200, "Configuration change successfully applied.")
        found = _OF_APP.fullmatch(path)
        if not found or found["rest"] not in ("/priority", "/queue") or found["app"] not in self.yarn.look().apps:
            return _no(path)
        asked = json.loads(body)
        if found["rest"] == "/priority":
            self.yarn.prioritise(found["app"], int(asked["priority"]), By.US)
        elif asked["queue"] in self.yarn.stopped:
            return Answer(400, f"{asked['queue']} is STOPPED. Cannot accept submission of application")
        else:
            self.yarn.move(found["app"], asked["queue"], By.US)
        return _ok(asked)

    def _wrong_with(self, changes: list[tuple[str, str, str]]) -> str:
        """Why the Capacity scheduler would not have queues with these settings; empty: it would."""
        leaves = (*self.yarn.leaves, *self.yarn.empty_leaves)
        then = {(leaf, key): self.yarn.setting(leaf, key) for leaf in leaves for key in SHARES}
        then |= {(leaf, key): value for leaf, key, value in changes if (leaf, key) in then}
        due = [float(then[leaf, GUARANTEE] or 0) for leaf in leaves]
        if abs(sum(due) - 100) > CLOSE_TO_100:
            return f"Illegal capacity sum of {sum(due):g} for children of queue root"
        most = (float(then[leaf, MAXIMUM] or WITHOUT_LIMIT) for leaf in leaves)
        if any(map(gt, due, most)):
            return "Illegal queue capacity setting: capacity > maximum-capacity"
        return ""


@lru_cache(maxsize=4096)  # processes ask for the same again and again
def path_and_query(target: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(target)
    return unquote(parts.path).removeprefix(ROOT), parse_qs(parts.query)


def queue_changes(body: str) -> list[tuple[str, str, str]]:
    """Queue, setting and value of each entry in a change of queues."""
    return [
        (queue.findtext("queue-name") or "", entry.findtext("key") or "", entry.findtext("value") or "")
        for queue in ElementTree.fromstring(body).iter("update-queue")
        for entry in queue.iter("entry")
    ]


def _ok(answer: dict[str, Any]) -> Answer:
    return Answer(200, json.dumps(answer))


def _no(what: str) -> Answer:
    return Answer(404, json.dumps({"RemoteException": {"exception": "NotFoundException", "message": what}}))


def _resource(size: Size) -> dict[str, int]:
    return {"memory": size[MEMORY], "vCores": size[VCORES] // MILLI}


def _node(node: NodeSeen) -> dict[str, Any]:
    free = node.total[MEMORY] - node.allocated[MEMORY], node.total[VCORES] - node.allocated[VCORES]
    return {
        "id": node.id,
        "nodeHostName": node.host,
        "rack": node.rack,
        "state": node.state,
        "usedMemoryMB": node.allocated[MEMORY],
        "availMemoryMB": free[MEMORY],
        "usedVirtualCores": node.allocated[VCORES] // MILLI,
        "availableVirtualCores": free[VCORES] // MILLI,
        "totalResource": _resource(node.total),
        "memUtilization": 0.0 if node.memory_share is None else 100 * node.memory_share,
        "resourceUtilization": {
            "nodePhysicalMemoryMB": node.used_memory_mb,
            "nodeCPUUsage": node.physical_cores_used,
            "aggregatedContainersPhysicalMemoryMB": node.containers_memory_mb,
            "containersCPUUsage": node.container_vcores_used,
        },
    }
