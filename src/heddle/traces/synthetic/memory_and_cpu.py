"""MapReduce jobs whose tasks are unlike: what a scheduler that packs by both resources is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from heddle.model.cluster import YARN, Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.parameters import Says, origin

AM: Final = (256, MILLI)
USE: Final = constant(24, 0)  # little, so that one machine can hold them all
SLOW_START_PERMILLE: Final = 50  # Hadoop's default: after 5% of the maps
SHUFFLE_MS: Final = 2000
SIGMA: Final = 0.2


@dataclass(frozen=True)
class _Kind:
    """Sizes as memory in MB and vcores. `part` of a task's usual time; with rounds the job is iterative."""

    name: str
    map_size: tuple[int, int]
    reduce_size: tuple[int, int]
    maps: int
    reduces: int
    rounds: int = 0
    part: float = 1.0


_KINDS: Final = (
    _Kind("memory", (1536, 1), (2048, 1), maps=16, reduces=4),
    _Kind("cpu", (512, 3), (768, 2), maps=16, reduces=4),
    _Kind("rounds", (1024, 2), (1024, 1), maps=6, reduces=2, rounds=3, part=0.6),
)


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs; the three kinds take turns", low=1)] = 12,
    gap_s: Annotated[float, Says("time between two arrivals", low=0)] = 6.0,
    task_s: Annotated[float, Says("median time of a task; in rounds 0.6 of it", low=0.5)] = 25.0,
) -> Workload:
    """MapReduce jobs that are memory-heavy, CPU-heavy, or iterative, with early reduces.

    Reduces hold their containers idle until the maps are done. All jobs have a small AM; tasks use next to nothing of
    what they reserve, so that `heddle yarn run` can replay them on one machine.
    """
    random = np.random.default_rng(seed)
    specs = []
    for number in range(jobs):
        kind = _KINDS[number % len(_KINDS)]
        specs.append(
            JobSpec(
                f"{kind.name}-{number}",
                round(1000 * gap_s * number),
                _stages(kind, task_s * kind.part, random),
                am=AM,
                am_use=(110, 0),
                iterative=kind.rounds > 0,
            )
        )
    return build("memory-and-cpu", specs, about=origin("memory-and-cpu", seed, jobs=jobs, gap_s=gap_s, task_s=task_s))


def _stages(kind: _Kind, task_s: float, random: np.random.Generator) -> list[StageSpec]:
    stages: list[StageSpec] = []
    for iteration in range(max(1, kind.rounds)):
        maps, reduces = f"map-{iteration}", f"reduce-{iteration}"
        before = (f"reduce-{iteration - 1}",) if iteration else ()
        stages += [
            StageSpec(
                maps, _demand(kind.map_size), _tasks(kind.maps, task_s, random), after=before, iteration=iteration
            ),
            StageSpec(
                reduces,
                _demand(kind.reduce_size),
                _tasks(kind.reduces, task_s, random),
                after=(maps,),
                slow_start_permille=SLOW_START_PERMILLE,
                shuffle_ms=SHUFFLE_MS,
                iteration=iteration,
            ),
        ]
    return stages


def _demand(size: tuple[int, int]) -> tuple[int, int]:
    return size[0], size[1] * MILLI


def _tasks(count: int, median_s: float, random: np.random.Generator) -> list[TaskSpec]:
    seconds = median_s * np.exp(SIGMA * random.normal(size=count))
    return [TaskSpec(max(500, round(1000 * one)), USE) for one in seconds.tolist()]


def cluster() -> Cluster:
    """Twelve nodes of 4 GB and 8 vcores with YARN's heartbeats, as `heddle yarn up --nodes 12` starts them."""
    return uniform_cluster(12, 4096, 8, timing=YARN, name="memory-and-cpu")
