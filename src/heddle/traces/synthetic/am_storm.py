"""The AM storm: so many jobs at once that their application masters alone fill the cluster."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.one_stage import constant_use, one_stage_jobs
from heddle.traces.synthetic.parameters import Says, origin

AM_MEMORY_MB: Final = 2048


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs; 32 AMs fill the suggested cluster", low=1, high=10_000_000)] = 60,
    tasks: Annotated[int, Says("tasks of each job", low=1)] = 4,
    window_s: Annotated[float, Says("all jobs arrive within this time", low=0)] = 1.0,
) -> Workload:
    """Jobs whose AMs fill the cluster, so that no task can start: the AM deadlock.

    AMs reserve 2048 MB, tasks 2048 MB and 1 vcore for 20-60 s. A policy that limits the AMs' share finishes it.
    """
    random = np.random.default_rng(seed)
    total = jobs * tasks
    return one_stage_jobs(
        "am-storm",
        origin("am-storm", seed, jobs=jobs, tasks=tasks, window_s=window_s),
        submit_at_ms=np.sort(random.integers(0, round(window_s * 1000) + 1, jobs)),
        n_tasks=tasks,
        shape=np.zeros(jobs, np.int32),
        shapes=np.array([(AM_MEMORY_MB, 1000)]),
        duration_ms=random.integers(20_000, 60_001, total),
        user=random.integers(0, 4, jobs),
        users=[f"user-{number}" for number in range(4)],
        am_shape=0,
        use=constant_use(random.integers(600, 1801, total), random.integers(500, 1001, total)),
        am_use=constant_use(np.full(jobs, 500), np.full(jobs, 50)),
    )


def cluster() -> Cluster:
    """Four nodes that hold eight AMs each, by memory, with YARN's heartbeats."""
    return uniform_cluster(4, 8 * AM_MEMORY_MB, 16, timing=YARN, name="am-storm")
