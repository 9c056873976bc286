"""Four phases, each made for another policy: over-reserved, a storm of AMs, small jobs between large, tight memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

import numpy as np

from heddle.model.cluster import YARN, Cluster, Node, Queue
from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, Vector, build, constant
from heddle.traces.synthetic.arrivals import poisson_at_ms
from heddle.traces.synthetic.parameters import Says, origin

NODES: Final = 4
CAPACITY: Final = (16384, 16 * MILLI)
ALLOWANCE: Final = (15360, 16 * MILLI)
_RAMP_PERMYRIAD: Final = 6000  # of a task that fills its memory: before, it uses little of it


def make(
    seed: int,
    *,
    phase_s: Annotated[float, Says("length of each of the four phases", low=10)] = 240.0,
    load: Annotated[float, Says("factor on how many jobs come", low=0.1)] = 1.0,
) -> Workload:
    """Four phases of four minutes, each of which suits another policy.

    First jobs reserve 4 GB for each task and use 1 GB; then 30 jobs come within ten seconds, whose AMs fill the
    cluster; then small jobs come between large ones; then tasks fill the memory that they reserve, but only after a
    while, so that whoever promises what is unused runs out of it.
    """
    random = np.random.default_rng(seed)
    span_ms = round(1000 * phase_s)
    phases = (_over_reserved, _storm, _small_between_large, _tight)
    specs = [spec for number, phase in enumerate(phases) for spec in phase(random, number * span_ms, span_ms, load)]
    return build("phases", specs, about=origin("phases", seed, phase_s=phase_s, load=load))


def _over_reserved(random: np.random.Generator, from_ms: int, span_ms: int, load: float) -> Iterator[JobSpec]:
    demand = (4096, MILLI)
    for number, at_ms in enumerate(_arrivals(random, from_ms, span_ms, load * span_ms / 26_000)):
        tasks = [
            TaskSpec(_ms(random, 20, 60), constant(int(random.integers(600, 1400)), int(random.integers(200, 600))))
            for _ in range(int(random.integers(6, 15)))
        ]
        yield _job(f"etl-{number}", at_ms, demand, tasks, "ana")


def _storm(random: np.random.Generator, from_ms: int, span_ms: int, load: float) -> Iterator[JobSpec]:
    demand = (2048, MILLI)
    for number, at_ms in enumerate(_arrivals(random, from_ms, 10_000, load * span_ms / 8_000)):
        tasks = [
            TaskSpec(_ms(random, 20, 40), constant(int(random.integers(1000, 1800)), int(random.integers(500, 1000))))
            for _ in range(4)
        ]
        yield _job(f"hourly-{number}", at_ms, demand, tasks, "ben", am=(2048, MILLI), am_use=(1800, 50))


def _small_between_large(random: np.random.Generator, from_ms: int, span_ms: int, load: float) -> Iterator[JobSpec]:
    demand = (2048, MILLI)
    for number, at_ms in enumerate(_arrivals(random, from_ms, span_ms, load * span_ms / 100_000)):
        tasks = [
            TaskSpec(_ms(random, 20, 50), constant(int(random.integers(1200, 1900)), int(random.integers(600, 1000))))
            for _ in range(int(random.integers(50, 80)))
        ]
        yield _job(f"report-{number}", at_ms, demand, tasks, "chen")
    for number, at_ms in enumerate(_arrivals(random, from_ms, span_ms, load * span_ms / 5_000)):
        tasks = [TaskSpec(_ms(random, 4, 10), constant(700, 600)) for _ in range(2)]
        yield _job(f"query-{number}", at_ms, (1024, MILLI), tasks, "dora")


def _tight(random: np.random.Generator, from_ms: int, span_ms: int, load: float) -> Iterator[JobSpec]:
    demand = (3072, MILLI)
    for number, at_ms in enumerate(_arrivals(random, from_ms, span_ms, load * span_ms / 32_000)):
        tasks = [
            TaskSpec(_ms(random, 50, 120), _filling(int(random.integers(2900, 3060)), 700))
            for _ in range(int(random.integers(5, 12)))
        ]
        yield _job(f"train-{number}", at_ms, demand, tasks, "emil")


def _arrivals(random: np.random.Generator, from_ms: int, span_ms: int, n_jobs: float) -> Iterator[int]:
    return (from_ms + int(at_ms) for at_ms in poisson_at_ms(random, max(1, round(n_jobs)), span_ms))


def _job(
    name: str,
    at_ms: int,
    demand: Vector,
    tasks: list[TaskSpec],
    user: str,
    am: Vector = (1024, MILLI),
    am_use: Vector = (300, 50),
) -> JobSpec:
    return JobSpec(name, at_ms, [StageSpec("work", demand, tasks)], am=am, am_use=am_use, user=user)


def _ms(random: np.random.Generator, low_s: int, high_s: int) -> int:
    return int(random.integers(1000 * low_s, 1000 * high_s + 1))


def _filling(memory_mb: int, vcores_milli: int) -> Profile:
    return (_RAMP_PERMYRIAD, (memory_mb * 3 // 10, vcores_milli)), (PERMYRIAD, (memory_mb, vcores_milli))


def cluster() -> Cluster:
    """Four nodes with YARN's heartbeats and the leaves of DRESS's pools; AMs may hold three quarters of a leaf."""
    nodes = tuple(Node(f"node-{number}", CAPACITY, ALLOWANCE) for number in range(NODES))
    shares = {"root": 1000, "root.default": 1000, "root.pool-0": 500, "root.pool-1": 500}
    queues = tuple(
        Queue(name, share, am_share_permille=750, user_limit_factor_milli=10_000) for name, share in shares.items()
    )
    return Cluster(nodes=nodes, timing=YARN, queues=queues, name="phases")
