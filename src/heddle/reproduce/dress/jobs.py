"""Twenty jobs, one every five seconds: Spark-like with executors, MapReduce-like, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import EXECUTORS, INNER, Workload
from heddle.reproduce.constants import Constants
from heddle.reproduce.yarn_cluster import yarn_cluster
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build

Kind = Literal["spark", "map-reduce", "mixed"]


@dataclass(frozen=True)
class Shape:
    """What the paper does not say about a job, the same for all."""

    steps: int
    waves: int
    map_part: float
    maps_of_containers: float
    sigma: float
    slow_start_permille: int


@dataclass(frozen=True)
class Figure:
    """A MapReduce job as a figure of the paper shows it: rounds of maps and reduces, all tasks of about one length."""

    rounds: int
    map_part: float
    task_s: float
    deviation_s: float
    last_reduce_s: float
    slow_start: int

    def stages(self, containers: int, demand: Vector, random: np.random.Generator) -> list[StageSpec]:
        """So many containers in each round, and no less than a map and a reduce."""
        maps = max(1, min(containers - 1, round(self.map_part * containers)))
        reduces = max(1, containers - maps)
        found: list[StageSpec] = []
        for number in range(self.rounds):
            after = (f"reduce-{number - 1}",) if number else ()
            found.append(StageSpec(f"map-{number}", demand, self._tasks(maps, random), after=after))
            tasks = self._tasks(reduces, random)
            if reduces > 1:
                tasks[-1] = TaskSpec(round(1000 * self.last_reduce_s))
            found.append(
                StageSpec(
                    f"reduce-{number}", demand, tasks, after=(f"map-{number}",), slow_start_permille=self.slow_start
                )
            )
        return found

    def _tasks(self, count: int, random: np.random.Generator) -> list[TaskSpec]:
        seconds = random.normal(self.task_s, self.deviation_s, count)
        return [TaskSpec(max(500, round(1000 * one))) for one in seconds.tolist()]


@dataclass(frozen=True)
class Twenty:
    """The jobs; which are small is drawn, so that the paper's positions are one case of many."""

    kind: Kind
    small_share: float
    large_containers: tuple[int, int]
    length_s: tuple[float, float]
    small_containers: tuple[int, int]
    count: int
    interval_s: int
    demand: Vector
    shape: Shape
    figure: Figure | None = None  # what MapReduce jobs look like, where not as `shape` says

    def small(self, seed: int) -> npt.NDArray[np.bool_]:
        """Which jobs are small, in order of submission."""
        chosen: npt.NDArray[np.bool_] = np.random.default_rng([0, seed]).permutation(self.count) < round(
            self.small_share * self.count
        )
        return chosen

    def jobs(self, seed: int) -> Workload:
        sizes, lengths, kinds, tasks = (np.random.default_rng([stream, seed]) for stream in range(1, 5))
        specs = []
        for number, small in enumerate(self.small(seed).tolist()):
            low, high = self.small_containers if small else self.large_containers
            containers = int(sizes.integers(low, high + 1))
            length_s = float(lengths.uniform(*self.length_s))
            spark = self.kind == "spark" or (self.kind == "mixed" and kinds.random() < 0.5)
            stages = (
                self._spark(containers, length_s, tasks) if spark else self._map_reduce(containers, length_s, tasks)
            )
            name = f"{'spark' if spark else 'map-reduce'}-{number + 1}{'-small' if small else ''}"
            specs.append(JobSpec(name, 1000 * self.interval_s * number, stages, am=self.demand))
        return build("twenty", specs, about={"generator": "reproduce dress", "seed": seed})

    def _spark(self, containers: int, length_s: float, random: np.random.Generator) -> list[StageSpec]:
        stages = [StageSpec("executors", self.demand, [TaskSpec(0)] * containers, kind=EXECUTORS)]
        mean_s = length_s / (self.shape.steps * self.shape.waves)
        for step in range(self.shape.steps):
            tasks = self._tasks(containers * self.shape.waves, mean_s, random)
            before = (f"step-{step - 1}",) if step else ()
            stages.append(StageSpec(f"step-{step}", (0, 0), tasks, after=before, kind=INNER))
        return stages

    def _map_reduce(self, containers: int, length_s: float, random: np.random.Generator) -> list[StageSpec]:
        if self.figure is not None:
            return self.figure.stages(containers, self.demand, random)
        maps = min(containers - 1, max(1, round(self.shape.maps_of_containers * containers)))
        map_s = self.shape.map_part * length_s
        return [
            StageSpec("map", self.demand, self._tasks(maps, map_s, random)),
            StageSpec(
                "reduce",
                self.demand,
                self._tasks(containers - maps, length_s - map_s, random),
                after=("map",),
                slow_start_permille=self.shape.slow_start_permille,
            ),
        ]

    def _tasks(self, count: int, mean_s: float, random: np.random.Generator) -> list[TaskSpec]:
        seconds = mean_s * np.exp(self.shape.sigma * random.normal(size=count))
        return [TaskSpec(max(500, round(1000 * one))) for one in seconds.tolist()]


def twenty(known: Constants, member: str, kind: Kind, small_share: float) -> Twenty:
    """The jobs of one member of the ensemble. Where it is a figure, Spark jobs of a mix are as in the first member."""
    ranges, figure = known.of("ensemble"), None
    low, high, shortest_s, longest_s = ranges.get(member) or next(iter(ranges.values()))
    small = tuple(known["jobs.small_containers"])
    if member not in ranges:
        rounds, map_part, low, high = known[f"figures.{member}"]
        figure = Figure(
            rounds, map_part, known["figures.task_s"], known["figures.task_variance_s2"] ** 0.5,
            known["figures.last_reduce_s"], known["jobs.slow_start_permille"],
        )  # fmt: skip
        small = (small[0], small[1] // rounds)  # of each round
    return Twenty(
        kind=kind,
        small_share=small_share,
        large_containers=(low, high),
        length_s=(shortest_s, longest_s),
        small_containers=small,
        count=known["jobs.count"],
        interval_s=known["jobs.interval_s"],
        demand=(known["cluster.container_mb"], known["cluster.container_vcores"] * MILLI),
        shape=Shape(
            known["jobs.steps"], known["jobs.waves"], known["jobs.map_part"], known["jobs.maps_of_containers"],
            known["jobs.sigma"], known["jobs.slow_start_permille"],
        ),
        figure=figure,
    )  # fmt: skip


def paper_cluster(known: Constants) -> Cluster:
    """5 nodes of 20 cores and 160 GB."""
    return yarn_cluster(known, known["cluster.nodes"], known["cluster.memory_mb"], known["cluster.vcores"] * MILLI)
