"""A burst: many small jobs within seconds, far more than the cluster holds."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.one_stage import constant_use, one_stage_jobs
from heddle.traces.synthetic.parameters import Says, origin


def make(
    seed: int,
    *,
    jobs: Annotated[int, Says("number of jobs", low=1, high=10_000_000)] = 400,
    tasks: Annotated[int, Says("tasks of the largest job; the smallest has one", low=1)] = 4,
    window_s: Annotated[float, Says("all jobs arrive within this time", low=0)] = 10.0,
) -> Workload:
    """Hundreds of small jobs that arrive within ten seconds.

    Each has an AM of 1 vcore and 1024 MB and up to `tasks` tasks of 1 vcore and 1-4 GB that run 5-30 s and
    use half to nine tenths of their memory.
    """
    random = np.random.default_rng(seed)
    submit_at_ms = np.sort(random.integers(0, round(window_s * 1000) + 1, jobs))
    n_tasks = random.integers(1, tasks + 1, jobs)
    shapes = np.array([(1024, 1000), (2048, 1000), (4096, 1000)], dtype=np.int64)
    shape = random.choice(len(shapes), jobs, p=(0.5, 0.3, 0.2))
    total = int(n_tasks.sum())
    reserved_mb = np.repeat(shapes[shape, 0], n_tasks)
    return one_stage_jobs(
        "burst",
        origin("burst", seed, jobs=jobs, tasks=tasks, window_s=window_s),
        submit_at_ms=submit_at_ms,
        n_tasks=n_tasks,
        shape=shape,
        shapes=shapes,
        duration_ms=random.integers(5_000, 30_001, total),
        user=random.integers(0, 8, jobs),
        users=[f"user-{number}" for number in range(8)],
        am_shape=0,
        use=constant_use(reserved_mb * random.uniform(0.5, 0.9, total), random.integers(400, 1001, total)),
        am_use=constant_use(np.full(jobs, 350), np.full(jobs, 50)),
    )


def cluster() -> Cluster:
    """Ten nodes with YARN's heartbeats: the burst waits in line."""
    return uniform_cluster(10, 32768, 16, timing=YARN, name="burst")
