"""Bursts of random jobs on random small clusters: with rule `placeable` every one of them ends."""

from __future__ import annotations

import random

import pytest

from heddle.model.cluster import YARN, Cluster, Node
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

ORDERINGS = ("fifo", "fair", "capacity", "smallest-first", "haste", "dress", "random-order", "fifo(blocking=false)")
GB = 1024


def burst(seed: int) -> tuple[list[JobSpec], Cluster]:
    """Every AM fits beside any one task on the largest node."""
    chance = random.Random(seed)
    sizes = [(8 * GB, 4000)] + [(chance.choice((4, 8)) * GB, chance.choice((2000, 4000))) for _ in range(3)]
    nodes = tuple(Node(f"n{i}", size, size) for i, size in enumerate(sizes))

    def demand() -> tuple[int, int]:
        return chance.randint(1, 4) * GB, chance.randint(1, 2) * 1000

    jobs = []
    for number in range(chance.randint(8, 40)):
        maps = [TaskSpec(chance.randint(1, 20_000)) for _ in range(chance.randint(1, 4))]
        stages = [StageSpec("map", demand(), maps)]
        if chance.random() < 0.6:
            early = chance.choice((-1, 50, 500))
            stages.append(StageSpec("reduce", demand(), [TaskSpec(5000)], after=("map",), slow_start_permille=early))
        jobs.append(JobSpec(f"j{number}", chance.choice((0, 0, chance.randint(0, 3000))), stages, am=demand()))
    return jobs, Cluster(nodes, timing=YARN) if seed % 2 else Cluster(nodes)


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_no_burst_stalls(ordering: str) -> None:
    stalled_without = 0
    for seed in range(8):
        jobs, cluster = burst(seed)
        workload = build("burst", jobs)
        stalled_without += (
            simulate(workload, cluster, f"{ordering}+admit-all", seed=seed).manifest["outcome"] != "finished"
        )
        run = simulate(workload, cluster, f"{ordering}+admission-control", seed=seed)
        assert run.manifest["outcome"] == "finished", f"{seed}: {run.manifest['reason']}"
    assert stalled_without > 0
