"""heddle, told FIFO and first-fit, starts every task when the plain script does: the speeds compare the same work."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import plain_heapq, rival
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import uniform_cluster


def heddle_starts(tasks: rival.Tasks, nodes: rival.Nodes) -> list[int]:
    columns = zip(tasks.submit_ms, tasks.duration_ms, tasks.vcores, tasks.memory_mb, strict=True)
    jobs = [
        JobSpec(f"j{number}", submit_ms, [StageSpec("s", (memory_mb, vcores * 1000), [TaskSpec(duration_ms)])])
        for number, (submit_ms, duration_ms, vcores, memory_mb) in enumerate(columns)
    ]
    cluster = uniform_cluster(nodes.number, nodes.memory_mb, nodes.vcores)
    run = simulate(build("tasks", jobs), cluster, "fifo+first-fit", check=True)
    return run.jobs["started_at_ms"].to_list()


def test_a_head_that_fits_where_another_of_its_size_just_went() -> None:
    tasks = rival.Tasks([3, 4, 6, 6, 7, 8], [10, 4, 3, 7, 1, 5], [3, 2, 2, 1, 1, 1], [2, 3, 3, 1, 3, 1])
    nodes = rival.Nodes(3, 3, 3)
    assert plain_heapq.run(tasks, nodes).started_at_ms == [3, 4, 6, 8, 9, 9]
    assert heddle_starts(tasks, nodes) == [3, 4, 6, 8, 9, 9]


@pytest.mark.parametrize("seed", range(40))
def test_the_same_starts_on_random_tasks(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, nodes = 60, rival.Nodes(int(random.integers(1, 4)), 3, 3)
    tasks = rival.Tasks(
        np.sort(random.integers(0, 60, count)).tolist(),
        random.integers(1, 12, count).tolist(),
        random.integers(1, 4, count).tolist(),
        random.integers(1, 4, count).tolist(),
    )
    assert heddle_starts(tasks, nodes) == plain_heapq.run(tasks, nodes).started_at_ms
