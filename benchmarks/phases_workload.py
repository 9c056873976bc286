"""Four phases for a real YARN on one small machine: `python -m benchmarks.phases_workload FILE.parquet [--times 4]`.

They follow the built-in workload `phases`, made smaller: three nodes of 4 GB instead of four of 16, 30 jobs, four
minutes. `--times 4`: each phase lasts four times as long, with four times as many jobs: long enough for a policy that
is chosen by what goes on. Tasks burn a hundredth of a core, since what is tried is what schedulers do with memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from heddle.model.resources import MILLI
from heddle.model.workload import PERMYRIAD, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build, constant
from heddle.traces.parquet import write_parquet

CLUSTER: Final = "examples/yarn/phases-cluster.yaml"
PHASES: Final = {  # by how names of jobs begin
    "etl": "over-reserved",
    "hourly": "AM storm",
    "report": "large jobs",
    "query": "small jobs between them",
    "train": "tight memory",
}
SEED: Final = 0
BURNS_MILLI: Final = 10
AM_HOLDS: Final = (110, BURNS_MILLI)  # what the AM of a replay has resident, whatever it reserves
QUEUE: Final = "root.pool-0"  # DRESS needs two pools, and everybody gets the same cluster
STORM_S, LARGE_S, TIGHT_S, OVER_S = 60.0, 105.0, 160.0, 220.0  # when the second to fourth phase begin, and the end
JOBS: Final = 30

Wave = Callable[[np.random.Generator, float, int], Iterator[JobSpec]]


def four_phases(times: int = 1) -> Workload:
    """`times`: each phase comes in so many waves, one after the other, before the next one begins."""
    random = np.random.default_rng(SEED)
    waves: tuple[Wave, ...] = (_over_reserved, _storm, _small_between_large, _tight)
    begins_s, ends_s = (0.0, STORM_S, LARGE_S, TIGHT_S), (STORM_S, LARGE_S, TIGHT_S, OVER_S)
    jobs = [
        job
        for wave, begin_s, end_s in zip(waves, begins_s, ends_s, strict=True)
        for number in range(times)
        for job in wave(random, times * begin_s + number * (end_s - begin_s), number)
    ]
    about = {"generator": "benchmarks.phases_workload", "seed": SEED, "times": times}
    return build("four-phases", jobs, about=about)


def phase_of(job: str) -> str:
    return PHASES[job.partition("-")[0]]


def _over_reserved(random: np.random.Generator, at_s: float, wave: int) -> Iterator[JobSpec]:
    """Tasks reserve 1024 MB and hold a quarter of it."""
    for number in range(4):
        tasks = [TaskSpec(_ms(random, 25, 32), _steady(int(random.integers(200, 300)))) for _ in range(6)]
        yield _job(f"etl-{4 * wave + number}", at_s + 3.0 * number, 1024, tasks)


def _storm(random: np.random.Generator, at_s: float, wave: int) -> Iterator[JobSpec]:
    """Twelve AMs of 768 MB within four seconds: together the three quarters of the cluster that AMs may have."""
    for number in range(12):
        tasks = [TaskSpec(_ms(random, 7, 10), _steady(int(random.integers(380, 460)))) for _ in range(3)]
        yield _job(f"hourly-{12 * wave + number}", at_s + number / 3, 512, tasks, am_mb=768)


def _small_between_large(random: np.random.Generator, at_s: float, wave: int) -> Iterator[JobSpec]:
    for number in range(2):
        tasks = [TaskSpec(_ms(random, 12, 20), _steady(int(random.integers(380, 460)))) for _ in range(30)]
        yield _job(f"report-{2 * wave + number}", at_s + 6.0 * number, 512, tasks)
    for number in range(8):
        tasks = [TaskSpec(_ms(random, 4, 6), _steady(200)) for _ in range(2)]
        yield _job(f"query-{8 * wave + number}", at_s + 8 + 5.0 * number, 256, tasks)


def _tight(random: np.random.Generator, at_s: float, wave: int) -> Iterator[JobSpec]:
    """Tasks hold little of what they reserve for a while, then all of it."""
    for number in range(4):
        tasks = [TaskSpec(_ms(random, 20, 28), _filling(int(random.integers(690, 730)))) for _ in range(5)]
        yield _job(f"train-{4 * wave + number}", at_s + 5.0 * number, 768, tasks)


def _job(name: str, at_s: float, memory_mb: int, tasks: list[TaskSpec], am_mb: int = 256) -> JobSpec:
    stage = StageSpec("work", (memory_mb, MILLI), tasks)
    return JobSpec(name, round(1000 * at_s), [stage], am=(am_mb, MILLI), am_use=AM_HOLDS, queue=QUEUE)


def _ms(random: np.random.Generator, low_s: int, high_s: int) -> int:
    return int(random.integers(1000 * low_s, 1000 * high_s + 1))


def _steady(memory_mb: int) -> Profile:
    return constant(memory_mb, BURNS_MILLI)


def _filling(memory_mb: int) -> Profile:
    return (6000, (memory_mb * 3 // 10, BURNS_MILLI)), (PERMYRIAD, (memory_mb, BURNS_MILLI))


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.phases_workload", description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--times", type=int, default=1)
    chosen = options.parse_args()
    write_parquet(four_phases(chosen.times), chosen.file)


if __name__ == "__main__":
    main()
