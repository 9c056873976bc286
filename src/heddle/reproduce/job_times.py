"""Runs of which the times of single jobs matter, not only means over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from heddle.experiments.compare import Jobs
from heddle.model.cluster import Cluster
from heddle.reproduce.lab import Work
from heddle.run import simulate

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JobResults:
    """Seconds of each job in order of submission; NaN where it did not finish or start."""

    completion_s: Floats
    wait_s: Floats
    ended_s: Floats  # since the beginning of the run
    finished: bool

    @property
    def makespan_s(self) -> float:
        """The first job is submitted at 0."""
        return float(np.nanmax(self.ended_s))


def job_results(source: Jobs, cluster: Cluster, policy: str, seed: int) -> JobResults:
    run = simulate(source.jobs(seed), cluster, policy, seed=seed)

    def seconds(column: str, since: str | None = None) -> Floats:
        values = run.jobs[column] if since is None else run.jobs[column] - run.jobs[since]
        found: Floats = values.cast(float).fill_null(float("nan")).to_numpy() / 1000
        return found

    return JobResults(
        completion_s=seconds("ended_at_ms", "submit_at_ms"),
        wait_s=seconds("started_at_ms", "submit_at_ms"),
        finished=run.manifest["outcome"] == "finished",
        ended_s=seconds("ended_at_ms"),
    )


def job_runs(name: Hashable, source: Jobs, cluster: Cluster, policy: str, seeds: Iterable[int]) -> dict[Hashable, Work]:
    """One run for each seed, called (name, policy, seed)."""
    return {(name, policy, seed): partial(job_results, source, cluster, policy, seed) for seed in seeds}
