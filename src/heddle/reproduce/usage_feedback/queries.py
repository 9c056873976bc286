"""The queries of VI: chains of MapReduce jobs, one query after another, and how long each takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heddle.analysis.measures.metrics import run_metrics
from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce.usage_feedback.day import Levels
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build


@dataclass(frozen=True)
class Queries:
    """Queries one after another; the last few have many small stages."""

    facts: tuple[tuple[str, float], ...]  # from the constants
    request_mb: int
    peak_mb: int
    median_s: float
    levels: Levels

    def jobs(self, seed: int) -> Workload:
        random = np.random.default_rng([4, seed])
        specs: list[JobSpec] = []
        for query in range(self._fact("queries")):
            for _ in range(int(random.integers(*self._span("stages_small" if self.is_small(query) else "stages")))):
                before = (specs[-1].name,) if specs else ()
                specs.append(self._job(f"q{query}-{len(specs)}", before, self.is_small(query), random))
        return build("queries", specs, about={"generator": "reproduce usage-feedback prototype", "seed": seed})

    def is_small(self, query: int) -> bool:
        return query >= self._fact("queries") - self._fact("queries_small")

    def _job(self, name: str, before: tuple[str, ...], small: bool, random: np.random.Generator) -> JobSpec:
        maps = int(random.integers(1, 1 + self._fact("maps_small")))
        if not small:
            maps = max(4, round(self._fact("maps") * float(np.exp(self._real("maps_sigma") * random.normal()))))
        reduces = max(1, maps // self._fact("maps_to_a_reduce"))
        demand = (self.request_mb, MILLI)
        stages = [
            StageSpec("map", demand, self._tasks(maps, random)),
            StageSpec("reduce", demand, self._tasks(reduces, random), after=("map",), slow_start_permille=50),
        ]
        am = (self._fact("am_mb"), MILLI)
        return JobSpec(name, 0, stages, am=am, am_use=(self._fact("am_used_mb"), 50), after=before)

    def _tasks(self, count: int, random: np.random.Generator) -> list[TaskSpec]:
        seconds = self.median_s * np.exp(self._real("sigma") * random.normal(size=count))
        cpu = self._fact("used_vcores_milli")
        use = tuple((until, (round(part * self.peak_mb), cpu)) for until, part in self.levels)
        return [TaskSpec(max(2000, round(1000 * one)), use) for one in seconds.tolist()]

    def _fact(self, name: str) -> int:
        return int(self._real(name))

    def _real(self, name: str) -> float:
        return float(dict(self.facts)[name])

    def _span(self, name: str) -> tuple[int, int]:
        return self._fact(f"{name}_least"), self._fact(f"{name}_most") + 1


@dataclass(frozen=True)
class Times:
    """Of each query in seconds, and what part of the tasks failed."""

    seconds: tuple[float, ...]
    failed_pct: float


def query_times(queries: Queries, cluster: Cluster, policy: str, seed: int) -> Times | None:
    """None where the run did not come to an end."""
    run = simulate(queries.jobs(seed), cluster, policy, seed=seed)
    metrics = run_metrics(run)
    if metrics["outcome"] != "finished":
        return None
    ended: dict[str, float] = {}
    for name, at_ms in zip(run.jobs["name"].to_list(), run.jobs["ended_at_ms"].to_list(), strict=True):
        query = name.partition("-")[0]
        ended[query] = max(ended.get(query, 0.0), at_ms / 1000)
    seconds = np.diff([0.0, *ended.values()])
    return Times(tuple(seconds.tolist()), 100 * metrics["crashed_tasks"] / metrics["tasks"])
