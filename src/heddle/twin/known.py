"""What is known of a cluster at one instant, which is 0 here: the past is negative, and nothing is known of later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from heddle.check.jobs import kind_of
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import INNER, TASKS

WORKING: Final = (TASKS, INNER)  # kinds of stages whose tasks have a duration


@dataclass(frozen=True)
class Running:
    """A container, or a task inside an executor. `worked_ms`: for how long it has been at its work."""

    node: str
    worked_ms: int


@dataclass(frozen=True)
class Stage:
    """`finished_ms`: how long each finished task took; `left`: tasks that are asked for, or still to come.

    `use`: what one of its containers is thought to use of each resource; None: nobody has observed use.
    """

    name: str
    kind: int
    demand: tuple[int, ...]
    finished_ms: tuple[int, ...] = ()
    running: tuple[Running, ...] = ()
    left: int = 0
    after: tuple[int, ...] = ()  # places of others in its application
    slow_start_permille: int = -1
    slots: int = 1
    idle_timeout_ms: int = 0
    label: str = ""
    use: tuple[int, ...] | None = None

    @property
    def n_tasks(self) -> int:
        return len(self.finished_ms) + len(self.running) + self.left

    @property
    def is_complete(self) -> bool:
        return not self.running and not self.left and bool(self.finished_ms)


@dataclass(frozen=True)
class Application:
    """`stages`: as far as anybody tells; `counted`: whether they tell how many tasks are still to come.

    `in_part`: more stages may come than anybody can tell yet: nothing to judge others by if there is something better.
    `master`: the AM's size, None where it has none; `master_runs`: None while it waits to start; `master_use`: as that
    of stages.
    """

    id: str
    name: str
    queue: str
    user: str
    submitted_at_ms: int
    ended_at_ms: int | None = None
    master: tuple[int, ...] | None = None
    master_runs: Running | None = None
    master_use: tuple[int, ...] | None = None
    stages: tuple[Stage, ...] = ()
    counted: bool = True
    in_part: bool = False
    priority: int = 0

    @property
    def kind(self) -> tuple[str, str]:
        """What runs of the same job share."""
        return kind_of(self.name), self.user

    @property
    def has_started(self) -> bool:
        return self.master is None or self.master_runs is not None


@dataclass(frozen=True)
class Snapshot:
    """`watched_ms`: for how long somebody has looked; of what ended before that nothing is known."""

    cluster: Cluster
    policy: str
    watched_ms: int
    applications: tuple[Application, ...]

    @property
    def live(self) -> tuple[Application, ...]:
        return tuple(app for app in self.applications if app.ended_at_ms is None)

    @property
    def ended(self) -> tuple[Application, ...]:
        return tuple(app for app in self.applications if app.ended_at_ms is not None)


def contradictions(snapshot: Snapshot) -> list[str]:
    """What cannot be true of one instant."""
    nodes = {node.name for node in snapshot.cluster.nodes}
    queues = leaves(snapshot.cluster)
    found = []
    for app in snapshot.applications:
        if app.submitted_at_ms > 0 or (app.ended_at_ms is not None and app.ended_at_ms > 0):
            found.append(f"{app.id} was submitted or ended after the instant of the snapshot")
        if app.ended_at_ms is not None:
            continue
        if queues and app.queue not in queues:
            found.append(f"{app.id} is in queue {app.queue}, which the cluster does not have")
        containers = [one for stage in app.stages if stage.kind != INNER for one in stage.running]
        if containers and not app.has_started:
            found.append(f"{app.id} has {len(containers)} containers, but its AM does not run")
        masters = [app.master_runs] if app.master_runs else []
        found += [
            f"{app.id} has a container on node {one.node}, which the cluster does not have"
            for one in (*containers, *masters)
            if one.node not in nodes
        ]
    return found


def check_snapshot(snapshot: Snapshot, where: str) -> None:
    """BadInput with everything that contradicts itself."""
    if not snapshot.live:
        raise BadInput.of(where, "no application runs or waits at that time: there is nothing to forecast")
    if found := contradictions(snapshot):
        raise BadInput([problem for what in found for problem in BadInput.of(where, what).problems])


def leaves(cluster: Cluster) -> Sequence[str]:
    """() where the cluster names no queue: any will do."""
    names = [queue.name for queue in cluster.queues if queue.name != "root"]
    return [name for name in names if not any(other.startswith(name + ".") for other in names)]
