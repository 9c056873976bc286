"""DAGs whose first stages read input that lies on certain nodes, and whose later stages read from earlier ones."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import in_racks, uniform_cluster
from heddle.traces.synthetic.arrivals import poisson_at_ms
from heddle.traces.synthetic.parameters import Says, origin

_NODES_PER_RACK = 4
_MBPS = 1000


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs", low=1)] = 24,
    hosts: Annotated[int, Says("nodes that hold input: node-0, node-1, ...", low=1)] = 12,
    mean_gap_s: Annotated[float, Says("mean time between two arrivals", low=0.001)] = 10.0,
    read_mb: Annotated[
        float, Says("mean MB that a task reads, from its node or from each stage before", low=0)
    ] = 100.0,
) -> Workload:
    """Layered DAGs with the nodes where their input lies and the bytes that stages hand on.

    Two to four layers of one to three stages; a stage comes after one or two stages of the layer above. Tasks of the
    first layer prefer a node, and a job's input lies on a third of the nodes. What tasks read is spread evenly between
    a quarter of read_mb and seven quarters. Moving it takes time on clusters that declare bandwidth, as the suggested
    one does.
    """
    random = np.random.default_rng(seed)
    sizes = np.random.default_rng((seed, 1))  # of their own, so that other sizes are the same DAGs
    arrivals = poisson_at_ms(random, jobs, jobs * mean_gap_s * 1000).tolist()
    specs = [
        JobSpec(
            f"dag-{number}", submit_at_ms, _layers(random, hosts, sizes, read_mb), am=(1024, 1000), am_use=(500, 50)
        )
        for number, submit_at_ms in enumerate(arrivals)
    ]
    about = origin("network-dags", seed, jobs=jobs, hosts=hosts, mean_gap_s=mean_gap_s, read_mb=read_mb)
    return build("network-dags", specs, about=about)


def _bytes(sizes: np.random.Generator, read_mb: float) -> int:
    return round(1e6 * read_mb * float(sizes.uniform(0.25, 1.75)))


def _layers(random: np.random.Generator, hosts: int, sizes: np.random.Generator, read_mb: float) -> list[StageSpec]:
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
                    dataclasses.replace(task, prefers=f"node-{place}", input_bytes=_bytes(sizes, read_mb))
                    for task, place in zip(tasks, places, strict=True)
                ]
            carried = tuple(len(tasks) * _bytes(sizes, read_mb) for _ in after)
            stages.append(StageSpec(name, demand, tasks, after, after_bytes=carried))
        above = names
    return stages


def cluster(hosts: int) -> Cluster:
    """The nodes that hold the input, in racks of four, with YARN's heartbeats; half of a rack's bandwidth goes up."""
    return in_racks(uniform_cluster(hosts, 16384, 8, timing=YARN, name="network-dags"), _NODES_PER_RACK, _MBPS)
