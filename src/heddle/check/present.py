"""The cluster as it is today: nodes, queues, its scheduler as the present policy, and what had to be assumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from heddle.model.cluster import Cluster, Preemption, Queue
from heddle.model.errors import BadInput
from heddle.traces.cluster_import.imported import ImportedQueues, Left, with_queues
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.cluster_import import nodes_of, of_nodes, queues_of

FILES: Final = ("capacity-scheduler.xml", "fair-scheduler.xml")
SMALLEST_MB: Final = "yarn.scheduler.minimum-allocation-mb"
PREEMPTS: Final = "yarn.resourcemanager.scheduler.monitor.enable"
OF_PREEMPTION: Final = "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval"
_DEFAULT_SMALLEST_MB: Final = 1024
_DEFAULT_INTERVAL_MS: Final = 3000


@dataclass(frozen=True)
class Present:
    """The cluster to simulate on. `assumed`: settings that nobody told, or that are not modelled."""

    cluster: Cluster
    smallest_mb: int  # a request below it is rounded up
    assumed: tuple[Left, ...]

    @property
    def policy(self) -> str:
        return self.cluster.policy

    @property
    def leaves(self) -> tuple[str, ...]:
        parents = {queue.name.rpartition(".")[0] for queue in self.cluster.queues}
        return tuple(queue.name for queue in self.cluster.queues if queue.name not in parents)

    def with_queues_made_for(self, queues: Iterable[str]) -> Present:
        """The Fair scheduler makes a queue when a job names one, and drops it when it is empty: they belong to it."""
        if self.policy != "fair":
            return self
        wanted = {_full(queue) for queue in queues}
        known = {queue.name for queue in self.cluster.queues}
        made = sorted(name for name in wanted - known if name.rpartition(".")[0] in known - set(self.leaves) | {"root"})
        left = [Left(f"queue {name}", "created on demand", "assumed to have YARN's default weight") for name in made]
        cluster = replace(self.cluster, queues=(*self.cluster.queues, *map(Queue, made)))
        return replace(self, cluster=cluster, assumed=(*self.assumed, *left))

    def leaf(self, queue: str) -> str | None:
        """The leaf that an application's queue is, by its full name or its last part; None: there is none today."""
        full = _full(queue)
        same_end = [leaf for leaf in self.leaves if leaf.rpartition(".")[2] == queue.rpartition(".")[2]]
        return full if full in self.leaves else same_end[0] if len(same_end) == 1 else None


def _full(queue: str) -> str:
    return queue if queue.startswith("root.") else f"root.{queue}"


def present_of(client: RmClient, conf: Path | None) -> Present:
    """Asks the ResourceManager; the scheduler's settings come from the XML in `conf` where it is given."""
    nodes, resources, untold = nodes_of(client)
    base = of_nodes(nodes, resources)
    queues = queues_of(client) if conf is None else _from_folder(conf, base)
    left = [*untold.found, *queues.left]
    smallest = _setting(client, SMALLEST_MB, _DEFAULT_SMALLEST_MB, left)
    cluster = replace(with_queues(base, queues), name="the cluster", preemption=_preemption(client, left))
    return Present(cluster, smallest, tuple(left))


def _from_folder(conf: Path, base: Cluster) -> ImportedQueues:
    if not conf.is_dir():
        raise BadInput.of("--conf", f"{conf} is not a folder")
    found = [conf / name for name in FILES if (conf / name).is_file()]
    if len(found) != 1:
        which = "has neither" if not found else "has both"
        raise BadInput.of("--conf", f"{conf} {which} of {' and '.join(FILES)}: one of them must define the queues")
    return read_queues_xml(found[0], base.total_allowance())


def _preemption(client: RmClient, left: list[Left]) -> Preemption:
    try:
        on = client.setting(PREEMPTS)
    except YarnError as error:
        left.append(Left(PREEMPTS, f"unknown: {error}", "assumed to be off"))
        return Preemption()
    if on != "true":
        return Preemption()
    return Preemption(every_ms=_setting(client, OF_PREEMPTION, _DEFAULT_INTERVAL_MS, left))


def _setting(client: RmClient, name: str, default: int, left: list[Left]) -> int:
    try:
        told = client.setting(name)
    except YarnError as error:
        left.append(Left(name, f"unknown: {error}", f"assumed to be {default}, YARN's default"))
        return default
    return int(told) if told is not None and told.isdigit() else default
