"""The mix: MapReduce, Spark-like, DAG and iterative jobs of several users and queues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from heddle.model.cluster import YARN, Cluster, Queue
from heddle.model.workload import EXECUTORS, INNER, PERMYRIAD, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, Vector, build, constant
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.arrivals import poisson_at_ms
from heddle.traces.synthetic.parameters import Says, origin

QUEUES: Final = ("root.prod", "root.dev", "root.adhoc")
USERS: Final = ("ana", "ben", "chen", "dora", "emil", "fay")
AM_DEMAND: Final = (1536, 1000)
AM_USE: Final = (600, 100)


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs; kinds take turns, so that eight jobs hold every kind", low=1)] = 40,
    mean_gap_s: Annotated[float, Says("mean time between two arrivals", low=0.001)] = 12.0,
    scale: Annotated[float, Says("factor on the number of tasks of each stage", low=0.01)] = 1.0,
) -> Workload:
    """MapReduce with slow start, Spark-like executors, plain DAGs and iterative jobs, in three queues.

    Arrivals are Poisson, all jobs have an AM, true use is recorded and lies below the reservation.
    """
    random = np.random.default_rng(seed)
    arrivals = poisson_at_ms(random, jobs, jobs * mean_gap_s * 1000).tolist()
    specs = []
    for number, submit_at_ms in enumerate(arrivals):
        kind = _TURNS[number % len(_TURNS)]
        specs.append(
            JobSpec(
                name=f"{kind.name}-{number}",
                submit_at_ms=submit_at_ms,
                stages=kind.stages(_Draw(random, scale)),
                am=AM_DEMAND,
                am_use=AM_USE,
                queue=QUEUES[int(random.choice(len(QUEUES), p=(0.5, 0.3, 0.2)))],
                user=USERS[int(random.integers(len(USERS)))],
                iterative=kind.iterative,
            )
        )
    return build("mix", specs, about=origin("mix", seed, jobs=jobs, mean_gap_s=mean_gap_s, scale=scale))


@dataclass(frozen=True)
class _Draw:
    """Random choices of a job, in its terms."""

    random: np.random.Generator
    scale: float

    def between(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def count(self, low: int, high: int) -> int:
        return max(1, round(self.between(low, high) * self.scale))

    def tasks(self, n: int, median_s: float, demand: Vector, low: float, high: float) -> list[TaskSpec]:
        """Tasks around a median duration that use a share between low and high of what they reserve."""
        seconds = median_s * np.exp(self.random.normal(0.0, 0.4, n))
        shares = self.random.uniform(low, high, (n, 2))
        return [
            TaskSpec(max(500, round(1000 * duration)), self._growing(round(m * demand[0]), round(c * demand[1])))
            for duration, (m, c) in zip(seconds.tolist(), shares.tolist(), strict=True)
        ]

    def _growing(self, memory_mb: int, vcores_milli: int) -> Profile:
        """Memory grows once, somewhere in the first half."""
        turn = self.between(500, PERMYRIAD // 2)
        return (turn, (memory_mb * 6 // 10, vcores_milli)), (PERMYRIAD, (memory_mb, vcores_milli))


def _map_reduce(draw: _Draw) -> list[StageSpec]:
    map_demand, reduce_demand = (2048, 1000), (4096, 1000)
    maps = draw.tasks(draw.count(12, 48), 25.0, map_demand, 0.35, 0.8)
    reduces = draw.tasks(draw.count(2, 8), 30.0, reduce_demand, 0.3, 0.75)
    return [
        StageSpec("map", map_demand, maps),
        StageSpec(
            "reduce",
            reduce_demand,
            reduces,
            after=("map",),
            slow_start_permille=50,  # Hadoop's default: after 5% of the maps
            shuffle_ms=1000 * draw.between(3, 12),
        ),
    ]


def _spark(draw: _Draw) -> list[StageSpec]:
    executor_demand, slots = (8192, 4000), 4
    n_executors = draw.count(3, 8)
    executors = [TaskSpec(0, constant(1800, 100))] * n_executors
    idle_timeout_ms = 60_000 if draw.between(0, 1) else 0
    stages = [
        StageSpec("executors", executor_demand, executors, kind=EXECUTORS, slots=slots, idle_timeout_ms=idle_timeout_ms)
    ]
    before: tuple[str, ...] = ()
    for number in range(draw.between(2, 5)):
        # An inner task has no reservation of its own; four of them and the executor's own use fit into 8 GB.
        tasks = draw.tasks(draw.count(8, 40), 8.0, (1300, 1000), 0.3, 1.0)
        stages.append(StageSpec(f"step-{number}", (0, 0), tasks, after=before, kind=INNER))
        before = (f"step-{number}",)
    return stages


def _dag(draw: _Draw) -> list[StageSpec]:
    stages: list[StageSpec] = []
    for number in range(draw.between(4, 7)):
        demand = (1024 * draw.between(1, 4), 1000 * draw.between(1, 2))
        n_before = min(number, draw.between(1, 2))
        before = sorted(draw.random.choice(number, n_before, replace=False).tolist()) if number else []
        stages.append(
            StageSpec(
                f"vertex-{number}",
                demand,
                draw.tasks(draw.count(2, 12), 20.0, demand, 0.3, 0.85),
                after=tuple(f"vertex-{earlier}" for earlier in before),
            )
        )
    return stages


def _iterative(draw: _Draw) -> list[StageSpec]:
    demand = (3072, 1000)
    n_tasks = draw.count(6, 16)
    return [
        StageSpec(
            f"iteration-{number}",
            demand,
            draw.tasks(n_tasks, 12.0, demand, 0.4, 0.9),
            after=(f"iteration-{number - 1}",) if number else (),
            iteration=number,
        )
        for number in range(draw.between(4, 8))
    ]


@dataclass(frozen=True)
class _Kind:
    name: str
    stages: Callable[[_Draw], list[StageSpec]]
    iterative: bool = False


_MAP_REDUCE = _Kind("map-reduce", _map_reduce)
_SPARK = _Kind("spark", _spark)
_DAG = _Kind("dag", _dag)
_ITERATIVE = _Kind("iterative", _iterative, iterative=True)
_TURNS: Final = (_MAP_REDUCE, _SPARK, _DAG, _MAP_REDUCE, _ITERATIVE, _SPARK, _MAP_REDUCE, _DAG)


def cluster() -> Cluster:
    """Six nodes with YARN's heartbeats and the mix's three queues: busy, with lines at times."""
    shares = (500, 300, 200)
    leaves = tuple(
        Queue(name, guarantee_permille=share, weight_milli=share * 10, user_limit_factor_milli=2000)
        for name, share in zip(QUEUES, shares, strict=True)
    )
    return uniform_cluster(6, 32768, 16, timing=YARN, queues=(Queue("root"), *leaves), name="mix")
