"""DAGs whose first stages read input that lies on certain nodes."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.arrivals import poisson_at_ms
from heddle.traces.synthetic.parameters import Says, origin

_NODES_PER_RACK = 4


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs", low=1)] = 24,
    hosts: Annotated[int, Says("nodes that hold input: node-0, node-1, ...", low=1)] = 12,
    mean_gap_s: Annotated[float, Says("mean time between two arrivals", low=0.001)] = 10.0,
) -> Workload:
    """Layered DAGs with the nodes where their input lies; data sizes on edges await the network model.

    Two to four layers of one to three stages; a stage comes after one or two stages of the layer above. Tasks of the
    first layer prefer a node, and a job's input lies on a third of the nodes. No bytes are attached to edges: a
    workload cannot say them until the simulator can move them.
    """
    random = np.random.default_rng(seed)
    arrivals = poisson_at_ms(random, jobs, jobs * mean_gap_s * 1000).tolist()
    specs = [
        JobSpec(f"dag-{number}", submit_at_ms, _layers(random, hosts), am=(1024, 1000), am_use=(500, 50))
        for number, submit_at_ms in enumerate(arrivals)
    ]
    return build(
        "network-dags", specs, about=origin("network-dags", seed, jobs=jobs, hosts=hosts, mean_gap_s=mean_gap_s)
    )


def _layers(random: np.random.Generator, hosts: int) -> list[StageSpec]:
    stages: list[StageSpec] = []
    holders = random.choice(hosts, max(1, hosts // 3), replace=False)
    above: list[str] = []
    for layer in range(int(random.integers(2, 5))):
        names = [f"layer-{layer}-{number}" for number in range(int(random.integers(1, 4)))]
        for name in names:
            n_before = min(len(above), int(random.integers(1, 3)))
            after = tuple(sorted(random.choice(above, n_before, replace=False).tolist())) if above else ()
            demand = (1024 * int(random.integers(1, 4)), 1000)
            tasks = [
                TaskSpec(int(random.integers(5_000, 40_001)), constant(int(demand[0] * random.uniform(0.4, 0.9)), 800))
                for _ in range(int(random.integers(2, 13)))
            ]
            if layer == 0:
                places = random.choice(holders, len(tasks)).tolist()
                tasks = [
                    dataclasses.replace(task, prefers=f"node-{place}")
                    for task, place in zip(tasks, places, strict=True)
                ]
            stages.append(StageSpec(name, demand, tasks, after))
        above = names
    return stages


def cluster(hosts: int) -> Cluster:
    """The nodes that hold the input, in racks of four, with YARN's heartbeats."""
    flat = uniform_cluster(hosts, 16384, 8, timing=YARN, name="network-dags")
    nodes = tuple(
        dataclasses.replace(node, rack=f"rack-{number // _NODES_PER_RACK}") for number, node in enumerate(flat.nodes)
    )
    return dataclasses.replace(flat, nodes=nodes)
