"""Random DAGs of equal tasks with data on their edges, and the paper's hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heddle.model.cluster import Cluster, Network, Node
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce.constants import Constants
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

BYTES_PER_MB = 1_000_000


@dataclass(frozen=True)
class Dags:
    """Jobs that come all at once; each task is a stage of its own, as in the paper's graphs."""

    count: int
    levels: tuple[int, int]
    width: tuple[int, int]
    parents: tuple[int, int]
    edge_mb: float
    input_mb: float
    task_s: float
    demand: tuple[int, int]
    hosts: int

    def jobs(self, seed: int) -> Workload:
        shape, data, places = (np.random.default_rng([stream, seed]) for stream in range(3))
        specs = [JobSpec(f"dag-{number}", 0, self._stages(shape, data, places)) for number in range(self.count)]
        return build("dags", specs, about={"generator": "reproduce network-aware", "seed": seed})

    def _stages(
        self, shape: np.random.Generator, data: np.random.Generator, places: np.random.Generator
    ) -> list[StageSpec]:
        task = TaskSpec(round(1000 * self.task_s), constant(*self.demand))
        stages: list[StageSpec] = []
        above: list[str] = []
        for level in range(int(shape.integers(self.levels[0], self.levels[1] + 1))):
            names = [f"{level}-{n}" for n in range(int(shape.integers(self.width[0], self.width[1] + 1)))]
            for name in names:
                if not above:
                    own = replace(
                        task,
                        prefers=f"node-{places.integers(self.hosts)}",
                        input_bytes=_bytes(data, self.input_mb),
                    )
                    stages.append(StageSpec(name, self.demand, [own]))
                    continue
                n_parents = min(len(above), int(shape.integers(self.parents[0], self.parents[1] + 1)))
                after = tuple(sorted(shape.choice(above, n_parents, replace=False).tolist()))
                carried = tuple(_bytes(data, self.edge_mb) for _ in after)
                stages.append(StageSpec(name, self.demand, [task], after, after_bytes=carried))
            above = names
        return stages


def _bytes(random: np.random.Generator, mean_mb: float) -> int:
    return round(BYTES_PER_MB * mean_mb * float(random.uniform(0.25, 1.75)))


def dags(known: Constants, member: Sequence[float], count: int) -> Dags:
    """The jobs of a member of the ensemble."""
    edge_mb, slots = member
    return Dags(
        count=count,
        levels=tuple(known["dags.levels"]),
        width=tuple(known["dags.width"]),
        parents=tuple(known["dags.parents"]),
        edge_mb=edge_mb,
        input_mb=known["dags.input_mb"],
        task_s=known["task.seconds"],
        demand=task_demand(known),
        hosts=hosts_of(known, int(slots)),
    )


def task_demand(known: Constants) -> tuple[int, int]:
    """All vcores of a host of the paper's: one task at a time."""
    return known["task.memory_mb"], known["cluster.vcores"] * MILLI


def hosts_of(known: Constants, slots: int) -> int:
    """As many as run the paper's number of tasks at a time."""
    return int(known["cluster.hosts"]) // slots


def paper_cluster(known: Constants, bandwidth_mbps: int, slots: int = 1) -> Cluster:
    """Hosts that run so many tasks at a time, 200 in all, in racks with an uplink that is shared."""
    hosts, racks = hosts_of(known, slots), known["cluster.racks"]
    size = (known["cluster.memory_mb"], slots * known["cluster.vcores"] * MILLI)
    nodes = tuple(
        Node(f"node-{n}", size, size, rack=f"rack-{n * racks // hosts}", bandwidth_mbps=bandwidth_mbps)
        for n in range(hosts)
    )
    uplink = max(1, round(bandwidth_mbps * hosts / racks * known["cluster.uplink_part"]))
    return Cluster(nodes=nodes, network=Network(rack_uplink_mbps=uplink), name="network-aware")
