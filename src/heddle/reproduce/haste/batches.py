"""The batches of the paper's settings: MapReduce jobs of several kinds, some of them iterative."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build, constant


@dataclass(frozen=True)
class JobKind:
    """A benchmark: its tasks and what they ask for. With iterations, these follow each other within the job."""

    maps: int
    reduces: int
    map_mb: int
    map_vcores: int
    reduce_mb: int
    reduce_vcores: int
    map_s: float
    reduce_s: float
    iterations: int

    def with_reduces_of(self, times: float) -> JobKind:
        """With reduces of so many times a map's memory, and its vcores; 0: as they are."""
        if not times:
            return self
        return replace(self, reduce_mb=round(times * self.map_mb), reduce_vcores=self.map_vcores)

    def cut_to(self, memory_mb: int, vcores: int) -> JobKind:
        """With demands that a node of this size holds."""
        return JobKind(
            self.maps, self.reduces,
            min(self.map_mb, memory_mb), min(self.map_vcores, vcores),
            min(self.reduce_mb, memory_mb), min(self.reduce_vcores, vcores),
            self.map_s, self.reduce_s, self.iterations,
        )  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Jobs in the order of their names; the order of submission is drawn. `mean_gap_s` 0: all at once."""

    kinds: tuple[tuple[str, JobKind], ...]
    mean_gap_s: float
    am: Vector | None
    sigma: float
    slow_start_permille: int
    shuffle_ms: int
    uses_demand: bool = False  # tasks use all that they ask for, and so share vcores that are promised twice

    def jobs(self, seed: int) -> Workload:
        order, durations, gaps = (np.random.default_rng([stream, seed]) for stream in range(3))
        specs, now_s = [], 0.0
        for number, place in enumerate(order.permutation(len(self.kinds)).tolist()):
            name, kind = self.kinds[place]
            stages = self._stages(kind, durations)
            specs.append(
                JobSpec(f"{name}-{number}", round(1000 * now_s), stages, am=self.am, iterative=kind.iterations > 0)
            )
            now_s += float(gaps.exponential(self.mean_gap_s)) if self.mean_gap_s else 0.0
        return build("haste", specs, about={"generator": "reproduce haste", "seed": seed})

    def _stages(self, kind: JobKind, random: np.random.Generator) -> list[StageSpec]:
        stages: list[StageSpec] = []
        before: tuple[str, ...] = ()
        for iteration in range(max(1, kind.iterations)):
            names = f"map-{iteration}", f"reduce-{iteration}"
            maps = StageSpec(
                names[0],
                (kind.map_mb, kind.map_vcores * MILLI),
                self._tasks(kind.maps, kind.map_s, (kind.map_mb, kind.map_vcores * MILLI), random),
                after=before,
                iteration=iteration,
            )
            reduces = StageSpec(
                names[1],
                (kind.reduce_mb, kind.reduce_vcores * MILLI),
                self._tasks(kind.reduces, kind.reduce_s, (kind.reduce_mb, kind.reduce_vcores * MILLI), random),
                after=names[:1],
                slow_start_permille=self.slow_start_permille,
                shuffle_ms=self.shuffle_ms,
                iteration=iteration,
            )
            stages += [maps, reduces]
            before = names[1:]
        return stages

    def _tasks(self, count: int, mean_s: float, demand: Vector, random: np.random.Generator) -> list[TaskSpec]:
        seconds = mean_s * np.exp(self.sigma * random.normal(size=count))
        use = constant(*demand) if self.uses_demand else None
        return [TaskSpec(max(500, round(1000 * one)), use) for one in seconds.tolist()]
