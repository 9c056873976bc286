"""What REST would tell of a simulated YARN: the engine's memory as a snapshot, as a poll of a real one gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import JOB_ADMITTED, JOB_ARRIVED, JOB_FAILED
from heddle.model.workload import AM, EXECUTORS, TASKS, Workload
from heddle.sim.codes import DONE, LAUNCHING
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import Sim
from heddle.yarn.live.snapshot import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen, Size, Snapshot

Sizes = Callable[[Sim], npt.NDArray[np.int64]]  # how large a ResourceManager says that each node is


def node_id(node: int) -> str:
    return f"node-{node}:0"


def node_number(name: str) -> int:
    return int(name[len("node-") : -len(":0")])


def app_id(job: int) -> str:
    return f"application_0_{job:04d}"


def app_number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _size(amounts: npt.NDArray[np.int64]) -> Size:
    return int(amounts[MEMORY]), int(amounts[VCORES])


class Sight:
    """Looks at one run. Priorities are those that jobs were submitted with, whatever was set since.

    A ResourceManager learns that a container has finished from the next heartbeat of its node, and then gives the room
    away in the same breath: until then it shows the container, and nobody outside ever sees that room free.
    """

    def __init__(
        self, workload: Workload, cluster: Cluster, queues: QueueTree, shared_out: tuple[str, ...], sizes: Sizes
    ) -> None:
        """`shared_out`: queues, right below root, whose shares may be set."""
        self._workload, self._found, self._shared_out = workload, queues.queues, shared_out
        self._queue_names, self._sizes = queues.names, sizes
        self._racks, self._labels = [node.rack for node in cluster.nodes], [node.label for node in cluster.nodes]
        timing = cluster.timing
        self._heartbeat_ms = min(1, timing.node_heartbeat_ms) if timing.heartbeat_at_end else timing.node_heartbeat_ms
        self._containers: dict[tuple[int, int], ContainerSeen] = {}  # (task, attempt): those of the last look
        self._live: set[int] = set()

    def snapshot(self, sim: Sim) -> Snapshot:
        """The engine has brought the nodes' reports up to date before."""
        live = self._live_jobs(sim)
        ended = {app_id(job): bool(sim.shown.job["state"][job] != JOB_FAILED) for job in self._live - live}
        self._live = live
        return Snapshot(
            at_ms=int(sim.shown.clock["now_ms"][0]),
            nodes={node_id(n): self._node(sim, n) for n in range(len(sim.shown.node))},
            apps={app_id(job): self._app(sim, job) for job in sorted(live)},
            containers=self._containers_now(sim),
            queues=tuple(self._queue(sim, q, name) for q, name in enumerate(self._queue_names)),
            ended=ended,
        )

    def _live_jobs(self, sim: Sim) -> set[int]:
        state = sim.shown.job["state"]
        return set(np.flatnonzero((state == JOB_ARRIVED) | (state == JOB_ADMITTED)).tolist())

    def _node(self, sim: Sim, n: int) -> NodeSeen:
        node = sim.shown.node[n]
        total = _size(self._sizes(sim)[n])
        # A NodeManager counts its containers' CPU in vcores of its present size, not in the machine's.
        vcores = node["containers_used"][VCORES] / MILLI * max(1, total[VCORES]) / max(1, node["capacity"][VCORES])
        return NodeSeen(
            id=node_id(n),
            host=node_id(n),
            rack=self._racks[n],
            state="RUNNING" if node["alive"] else "LOST",
            label=self._labels[n],
            total=total,
            allocated=_size(node["allocated"]),
            used_memory_mb=int(node["used"][MEMORY]),
            physical_cores_used=float(node["used"][VCORES]) / MILLI,
            containers_memory_mb=int(node["containers_used"][MEMORY]),
            container_vcores_used=float(vcores),
        )

    def _app(self, sim: Sim, job: int) -> AppSeen:
        spec, workload = self._workload.jobs[job], self._workload
        first = int(spec["first_stage"])
        begun = bool(sim.job_run["begun"][job])
        asks = []
        for stage in range(first, first + int(spec["n_stages"])):
            waiting = int(sim.shown.stage["waiting"][stage])
            if waiting and workload.stages["kind"][stage] in (AM, TASKS, EXECUTORS):
                asks.append(Ask(stage - first, self._shape(stage), waiting))
        return AppSeen(
            id=app_id(job),
            queue=self._queue_names[sim.shown.job["queue"][job]],
            user=workload.users[spec["user"]],
            running=begun,
            priority=int(spec["priority"]),
            started_at_ms=int(spec["submit_at_ms"]),
            has_am=bool(spec["has_am"]),
            attempt="",
            asks=tuple(asks),
            submitted_to=workload.queues[spec["queue"]],
        )

    def _shape(self, stage: int) -> Size:
        return _size(self._workload.shapes[self._workload.stages["shape"][stage]])

    def _containers_now(self, sim: Sim) -> dict[str, ContainerSeen]:
        container, slot = sim.shown.container, sim.slot
        held = np.flatnonzero((container["stage"] >= 0) & (slot["host"] < 0))
        tasks = slot["task"][held]
        attempts = sim.task["attempts"][tasks] - (slot["phase"][held] != LAUNCHING)
        before, self._containers = self._containers, {}
        for row, task, attempt in zip(held.tolist(), tasks.tolist(), attempts.tolist(), strict=True):
            seen = before.get((task, attempt)) or self._container(container[row], task, attempt)
            self._containers[task, attempt] = seen
        for (task, attempt), seen in before.items() if self._heartbeat_ms else ():
            finished = sim.task["state"][task] == DONE and sim.task["attempts"][task] == attempt + 1
            if finished and self._is_untold(sim, int(sim.task["ended_at_ms"][task]), seen):
                self._containers[task, attempt] = seen
        return {seen.id: seen for seen in self._containers.values()}

    def _is_untold(self, sim: Sim, ended_at_ms: int, seen: ContainerSeen) -> bool:
        """Whether no heartbeat has told yet that this container has finished. What an ended job had is gone."""
        node = node_number(seen.node)
        if not sim.shown.node["alive"][node] or app_number(seen.app) not in self._live:
            return False
        # Heartbeats of this very instant come after the look.
        before_now = int(sim.shown.clock["now_ms"][0]) - 1
        since_ms = (before_now - int(sim.node_run["heartbeat_phase_ms"][node])) % self._heartbeat_ms
        return bool(ended_at_ms > before_now - since_ms)

    def _container(self, row: Any, task: int, attempt: int) -> ContainerSeen:
        stage = int(row["stage"])
        job = int(self._workload.stages["job"][stage])
        return ContainerSeen(
            id=f"container_0_{job:04d}_{attempt:02d}_{task:09d}",
            app=app_id(job),
            node=node_id(int(row["node"])),
            priority=stage - int(self._workload.jobs["first_stage"][job]),
            size=self._shape(stage),
            is_am=bool(self._workload.stages["kind"][stage] == AM),
        )

    def _queue(self, sim: Sim, q: int, name: str) -> QueueSeen:
        queue, root, found = sim.shown.queue[q], sim.shown.queue[0], self._found[q]
        return QueueSeen(
            name=name,
            guarantee_permille=int(queue["guarantee"][MEMORY] * MILLI // max(1, root["guarantee"][MEMORY])),
            maximum_permille=int(queue["maximum"][MEMORY] * MILLI // max(1, root["maximum"][MEMORY])),
            user_limit_percent=int(queue["user_limit_percent"]),
            user_limit_factor_milli=int(queue["user_limit_factor_milli"]),
            max_running_jobs=int(queue["max_running_jobs"]),
            guarantee=_size(queue["guarantee"]),
            maximum=_size(queue["maximum"]),
            am_share_permille=found.am_share_permille,
            found_permille=((found.guarantee_permille, found.maximum_permille) if name in self._shared_out else None),
        )
