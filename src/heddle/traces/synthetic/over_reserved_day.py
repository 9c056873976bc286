"""A stand-in for the day of tasks of paper 1: users who reserve far more memory than they use."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster, Node
from heddle.model.resources import BASE_RESOURCES, MILLI
from heddle.model.workload import PERMYRIAD, Workload, segment_dtype
from heddle.traces.synthetic.arrivals import poisson_at_ms, span_for_load_ms
from heddle.traces.synthetic.one_stage import constant_use, one_stage_jobs
from heddle.traces.synthetic.parameters import Says, origin

NODES: Final = 8
CAPACITY: Final = (32768, 24 * MILLI)
ALLOWANCE: Final = (28672, 18 * MILLI)

_TASKS_PER_JOB: Final = 14  # the paper's week: 110,000 containers of 8,000 jobs
_USERS: Final = 20
_CAREFUL_USERS: Final = 2  # run the few jobs that use what they reserve
_CAREFUL_JOBS: Final = 0.07
# The first quarter of a task's work uses half of its peak, the rest the peak: this is the mean over the peak.
_RAMP_PERMYRIAD: Final = 2500
_MEAN_OVER_PEAK: Final = 0.875
_SHAPES: Final = ((1024, 1000), (2048, 1000), (4096, 1000), (6144, 1000), (8192, 1000))

Column = npt.NDArray[np.float64]


def make(
    seed: int,
    *,
    tasks: Annotated[int, Says("number of tasks, about (jobs have 1-27)", low=1, high=50_000_000)] = 18_000,
    load: Annotated[float, Says("reserved memory that arrives, over what the paper's 8 nodes allow", low=0.01)] = 1.2,
    with_am: Annotated[bool, Says("give each job an AM of 1 vcore and 1024 MB; the paper replays bare tasks")] = False,
) -> Workload:
    """Tasks that use a small part of the memory they reserve: 18,000 of them, always some waiting (paper 1).

    Made to match what the paper reports: 90% of containers use less than 50% of their memory, 90% of jobs less than
    24%, 90% of users less than 35%, yet about half of all reserved MB x time is used, because the few careful jobs
    are large and long; 60% of containers use less CPU than they reserve, some up to twice; durations of
    10-1000 s, most below 100 s. The paper's day is squeezed to the time in which `load` results.
    """
    random = np.random.default_rng(seed)
    n_jobs = max(1, round(tasks / _TASKS_PER_JOB))
    careful = random.permutation(n_jobs) < _CAREFUL_JOBS * n_jobs
    n_tasks = random.integers(1, 2 * _TASKS_PER_JOB, n_jobs)
    user = np.where(
        careful, random.integers(0, _CAREFUL_USERS, n_jobs), random.integers(_CAREFUL_USERS, _USERS, n_jobs)
    )
    shape = np.where(careful, random.integers(3, 5, n_jobs), random.choice(3, n_jobs, p=(0.65, 0.3, 0.05)))

    total = int(n_tasks.sum())
    careful_task = np.repeat(careful, n_tasks)
    shapes = np.array(_SHAPES, dtype=np.int64)
    reserved_mb = np.repeat(shapes[shape, 0], n_tasks)
    median_s = np.where(careful_task, 130.0, 35.0)
    duration_s = np.clip(median_s * np.exp(random.normal(0.0, 0.9, total)), 10.0, 1000.0)
    duration_ms = np.rint(duration_s * 1000).astype(np.int64)

    # A job's tasks are alike: its own level, and a spread around it.
    level = np.where(careful, random.uniform(0.66, 0.82, n_jobs), random.beta(2.0, 12.0, n_jobs) * 0.5 + 0.04)
    share = np.clip(np.repeat(level, n_tasks) * random.uniform(0.8, 1.2, total), 0.01, _MEAN_OVER_PEAK)
    # A few tasks of careless jobs need much of what was reserved for all of them.
    hungry = ~careful_task & (random.random(total) < 0.01)
    share[hungry] = random.uniform(0.5, 0.8, int(hungry.sum()))
    greedy = random.random(total) >= 0.6
    cpu = np.where(greedy, 1.0 + random.beta(1.0, 3.0, total), random.uniform(0.1, 1.0, total))

    work_ms = (float((reserved_mb * duration_ms).sum()), float(duration_ms.sum() * MILLI))
    span_ms = span_for_load_ms(work_ms, tuple(float(NODES * amount) for amount in ALLOWANCE), load)
    return one_stage_jobs(
        "over-reserved-day",
        origin("over-reserved-day", seed, tasks=tasks, load=load, with_am=with_am),
        submit_at_ms=poisson_at_ms(random, n_jobs, span_ms),
        n_tasks=n_tasks,
        shape=shape,
        shapes=shapes,
        duration_ms=duration_ms,
        user=user,
        users=[f"user-{number}" for number in range(_USERS)],
        am_shape=0 if with_am else None,
        use=_ramps(reserved_mb * share / _MEAN_OVER_PEAK, cpu * MILLI),
        am_use=constant_use(random.integers(100, 359, n_jobs), np.full(n_jobs, 50)) if with_am else None,
    )


def _ramps(peak_mb: Column, vcores_milli: Column) -> npt.NDArray[np.void]:
    """Two levels for each task: half of the peak, then the peak."""
    segments = np.zeros(2 * len(peak_mb), segment_dtype(len(BASE_RESOURCES)))
    for start, until, factor in ((0, _RAMP_PERMYRIAD, 0.5), (1, PERMYRIAD, 1.0)):
        segments["use"][start::2, 0] = peak_mb * factor
        segments["use"][start::2, 1] = vcores_milli
        segments["until_permyriad"][start::2] = until
    segments["last"][1::2] = 1
    return segments


def cluster() -> Cluster:
    """The paper's simulated cluster: 8 nodes of 32 GB and 24 cores, of which 28 GB and 18 cores are allowed."""
    nodes = tuple(Node(f"node-{number}", CAPACITY, ALLOWANCE) for number in range(NODES))
    return Cluster(nodes=nodes, name="over-reserved-day")
