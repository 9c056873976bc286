"""What REST would tell of a simulated YARN: the engine's memory as columns, as a poll of a real one gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import le
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.sim.handle import SimHandle
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import Sim
from heddle.stock_yarn.looking import APPS, ASKS, CONTAINERS, ENDED, N_COUNTS, look
from heddle.yarn.live import columns
from heddle.yarn.live.columns import Columns, no_rows
from heddle.yarn.live.names import Counted, Learnt, Names
from heddle.yarn.live.snapshot import Snapshot

ROOM_AT_FIRST: Final = 64
Sizes = Callable[[Sim], npt.NDArray[np.int64]]  # how large a ResourceManager says that each node is


def node_id(node: int) -> str:
    return f"node-{node}:0"


@cache
def node_number(name: str) -> int:
    return int(name[len("node-") : -len(":0")])


def app_id(job: int) -> str:
    return f"application_0_{job:04d}"


@cache
def app_number(name: str) -> int:
    return int(name.rpartition("_")[2])


def container_id(task: int) -> str:
    return f"container_0_{task:09d}"


class Sight:
    """Looks at one run. Priorities are those that jobs were submitted with, whatever was set since.

    Nodes, jobs, tasks, queues and users have the engine's numbers. A container has that of its task: a task has one at
    a time, and another attempt is another container.

    A ResourceManager learns that a container has finished from the next heartbeat of its node, and then gives the room
    away in the same breath: until then it shows the container, and nobody outside ever sees that room free.
    """

    def __init__(
        self, workload: Workload, cluster: Cluster, queues: QueueTree, shared_out: tuple[str, ...], sizes: Sizes
    ) -> None:
        """`shared_out`: queues, right below root, whose shares may be set."""
        self._sizes = sizes
        timing = cluster.timing
        self._heartbeat_ms = min(1, timing.node_heartbeat_ms) if timing.heartbeat_at_end else timing.node_heartbeat_ms
        self._names = Names(
            nodes=Counted(cluster.n_nodes, node_id, node_number),
            apps=Counted(len(workload.jobs), app_id, app_number),
            containers=Counted(len(workload.tasks), container_id, app_number),
            queues=Learnt(queues.names),
            users=Learnt(workload.users),
            words=Counted(cluster.n_nodes + len(_STATES), self._word, node_number),
        )
        nodes = np.zeros(cluster.n_nodes, columns.NODE)
        nodes["node"] = np.arange(cluster.n_nodes)
        nodes["host"] = nodes["node"] + len(_STATES)
        nodes["rack"] = [self._names.racks.number(node.rack) for node in cluster.nodes]
        nodes["label"] = [self._names.labels.number(node.label) for node in cluster.nodes]
        nodes["memory_share"] = nodes["cpu_share"] = np.nan
        self._nodes, self._queues = nodes, _own_queues(queues, shared_out)
        came_to = [queues.names.index(name) for name in workload.queues]
        self._submitted_to = np.array(came_to, np.int64)[workload.jobs["queue"]]
        self._last = no_rows()
        self._rooms, self._counts = [ROOM_AT_FIRST] * N_COUNTS, np.zeros(N_COUNTS, np.int64)

    @staticmethod
    def _word(number: int) -> str:
        return _STATES[number] if number < len(_STATES) else node_id(number - len(_STATES))

    def snapshot(self, handle: SimHandle) -> Snapshot:
        """The engine has brought the nodes' reports up to date before."""
        before, own_nodes, own_queues, counts = self._last, self._nodes, self._queues, self._counts
        sizes = np.ascontiguousarray(self._sizes(handle.sim))
        while True:
            nodes, queues = np.empty(len(own_nodes), columns.NODE), np.empty(len(own_queues), columns.QUEUE)
            apps, asks, held, ended = (np.empty(self._rooms[at], dtype) for at, dtype in _GROWING)
            look(
                handle, sizes, before.apps, before.containers, own_nodes, own_queues, self._submitted_to,
                self._heartbeat_ms, nodes, apps, asks, held, queues, ended, counts,
            )  # fmt: skip
            n = counts.tolist()
            if all(map(le, n, self._rooms)):
                break
            self._rooms = [max(room, 2 * used) for used, room in zip(n, self._rooms, strict=True)]
        self._last = Columns(nodes, apps[: n[APPS]], asks[: n[ASKS]], held[: n[CONTAINERS]], queues, ended[: n[ENDED]])
        return Snapshot(_now(handle), self._names, self._last)


def _own_queues(tree: QueueTree, shared_out: tuple[str, ...]) -> columns.Rows:
    """What never changes of queues, and how they were found."""
    rows = np.zeros(len(tree.names), columns.QUEUE)
    rows["queue"], rows["guaranteed"] = np.arange(len(tree.names)), np.nan
    rows["used"] = rows["found_permille"] = columns.NOT_TOLD
    rows["am_share_permille"] = tree.permille("am_share_permille")
    for row, (name, queue) in enumerate(zip(tree.names, tree.queues, strict=True)):
        if name in shared_out:
            rows["found_permille"][row] = queue.guarantee_permille, queue.maximum_permille
    return rows


_STATES: Final = ("", "LOST", "RUNNING", "DECOMMISSIONING")
_GROWING: Final[tuple[tuple[int, np.dtype[Any]], ...]] = (
    (APPS, columns.APP),
    (ASKS, columns.ASK),
    (CONTAINERS, columns.CONTAINER),
    (ENDED, columns.ENDED),
)


def _now(handle: SimHandle) -> int:
    clock: npt.NDArray[Any] = handle.sim.shown.clock
    return int(clock["now_ms"][0])
