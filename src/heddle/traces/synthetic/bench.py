"""The benchmark: independent tasks with lognormal durations, arriving at a given load."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.traces.clusters import uniform_cluster
from heddle.traces.synthetic.arrivals import poisson_at_ms, span_for_load_ms
from heddle.traces.synthetic.one_stage import constant_use, one_stage_jobs
from heddle.traces.synthetic.parameters import Says, origin

NODE_MEMORY_MB: Final = 65536
NODE_VCORES: Final = 24
MEMORY_MB: Final = (1024, 2048, 4096, 8192)
VCORES: Final = (1, 2, 4)
_CHUNK: Final = 1 << 20
# Draws are made in chunks so that ten million tasks leave no large temporary arrays behind.


def make(
    seed: int,
    *,
    tasks: Annotated[int, Says("number of tasks", low=1, high=200_000_000)] = 10_000,
    load: Annotated[float, Says("reserved work that arrives, over what the scarcest resource offers", low=0.001)] = 0.8,
    nodes: Annotated[int, Says("nodes of 24 vcores and 65536 MB that the load refers to", low=1)] = 150,
    job_tasks: Annotated[int, Says("tasks of each job, all of one size", low=1)] = 1,
    with_am: Annotated[bool, Says("give each job an AM of 1 vcore and 1024 MB (not counted in the load)")] = False,
    with_use: Annotated[bool, Says("record true use: 30-90% of the memory, 50-120% of the vcores")] = False,
) -> Workload:
    """Single-task jobs of 1/2/4 vcores and 1/2/4/8 GB, durations around 100 s, Poisson arrivals at 80% load.

    Durations are lognormal (median 100 s, sigma 1), clipped to 10-1000 s. The last job has fewer tasks if
    `job_tasks` does not divide `tasks`.
    """
    random = np.random.default_rng(seed)
    n_jobs = -(-tasks // job_tasks)
    shape = random.integers(0, len(VCORES) * len(MEMORY_MB), n_jobs, dtype=np.int8)
    shapes = np.array([(memory, vcores * MILLI) for vcores in VCORES for memory in MEMORY_MB], dtype=np.int64)
    n_tasks: npt.NDArray[np.int32] | int = 1
    if job_tasks > 1:
        n_tasks = np.full(n_jobs, job_tasks, np.int32)
        n_tasks[-1] = tasks - (n_jobs - 1) * job_tasks
    task_shape = shape if job_tasks == 1 else np.repeat(shape, n_tasks)
    duration_ms = np.empty(tasks, np.int64)
    use = constant_use(np.zeros(tasks if with_use else 0), np.zeros(tasks if with_use else 0))
    work_of_shape = np.zeros(len(shapes))
    for start in range(0, tasks, _CHUNK):
        part = slice(start, min(start + _CHUNK, tasks))
        seconds = np.clip(random.lognormal(np.log(100.0), 1.0, part.stop - part.start), 10.0, 1000.0)
        duration_ms[part] = np.rint(seconds * 1000)
        work_of_shape += np.bincount(task_shape[part], weights=duration_ms[part], minlength=len(shapes))
        if with_use:
            reserved = shapes[task_shape[part]]
            use["use"][part, 0] = reserved[:, 0] * random.uniform(0.3, 0.9, len(reserved))
            use["use"][part, 1] = reserved[:, 1] * random.uniform(0.5, 1.2, len(reserved))
    memory_work, vcores_work = (float(work) for work in work_of_shape @ shapes)
    totals = (float(nodes * NODE_MEMORY_MB), float(nodes * NODE_VCORES * MILLI))
    span_ms = span_for_load_ms((memory_work, vcores_work), totals, load)
    return one_stage_jobs(
        "bench",
        origin(
            "bench", seed, tasks=tasks, load=load, nodes=nodes, job_tasks=job_tasks, with_am=with_am, with_use=with_use
        ),
        submit_at_ms=poisson_at_ms(random, n_jobs, span_ms),
        n_tasks=n_tasks,
        shape=shape,
        shapes=shapes,
        duration_ms=duration_ms,
        am_shape=0 if with_am else None,
        use=use if with_use else None,
    )


def cluster(nodes: int) -> Cluster:
    """The nodes that the load refers to, with an ideal scheduler."""
    return uniform_cluster(nodes, NODE_MEMORY_MB, NODE_VCORES, name="bench")
