"""A round of the paper: a batch of equal terasort jobs, all submitted at once, on its cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce.constants import Constants
from heddle.reproduce.yarn_cluster import yarn_cluster
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build


@dataclass(frozen=True)
class Terasort:
    """What a job does: was not published, so there are several."""

    maps: int
    map_s: float
    reduce_s: float


@dataclass(frozen=True)
class Batch:
    """Jobs of one round; with `mixed` sizes each job draws its own from 1 to the round's."""

    n_jobs: int
    am_vcores: int
    task_vcores: int
    mixed: bool
    terasort: Terasort
    memory_mb: int
    slow_start_permille: int
    sigma: float
    interval_ms: int = 0  # between submissions

    def jobs(self, seed: int) -> Workload:
        durations = np.random.default_rng([0, seed])
        sizes = np.random.default_rng([1, seed])
        specs = []
        for number in range(self.n_jobs):
            am, task = self.am_vcores, self.task_vcores
            if self.mixed:
                am, task = (int(sizes.integers(1, most + 1)) for most in (am, task))
            demand = (self.memory_mb, task * MILLI)
            map_ms, reduce_ms = (
                1000 * mean * np.exp(self.sigma * durations.normal(size=count))
                for mean, count in ((self.terasort.map_s, self.terasort.maps), (self.terasort.reduce_s, 1))
            )
            stages = (
                StageSpec("maps", demand, [TaskSpec(round(ms)) for ms in map_ms]),
                StageSpec(
                    "reduces",
                    demand,
                    [TaskSpec(round(ms)) for ms in reduce_ms],
                    after=("maps",),
                    slow_start_permille=self.slow_start_permille,
                ),
            )
            specs.append(
                JobSpec(f"terasort-{number}", self.interval_ms * number, stages, am=(self.memory_mb, am * MILLI))
            )
        return build("terasort", specs, about={"generator": "reproduce admission-control", "seed": seed})


def paper_cluster(known: Constants, node_vcores: int) -> Cluster:
    """8 nodes of 12 GB."""
    return yarn_cluster(known, known["cluster.nodes"], known["cluster.memory_mb"], node_vcores * MILLI)


def batch(known: Constants, am_vcores: int, task_vcores: int, terasort: Terasort, mixed: bool = False) -> Batch:
    return Batch(
        known["round.jobs"],
        am_vcores,
        task_vcores,
        mixed,
        terasort,
        known["round.memory_mb"],
        known["round.slow_start_permille"],
        known["round.sigma"],
    )


def kinds_of_job(known: Constants) -> dict[str, Terasort]:
    return {name: Terasort(*values) for name, values in known.of("ensemble").items()}
