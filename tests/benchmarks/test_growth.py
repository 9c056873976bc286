"""The rows of growth: what they measure is what they say."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.heddle_run import SEED, shared_out

from benchmarks import growth
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster


def test_exponent_of_a_power() -> None:
    assert growth.exponent((10, 100, 1000), [3 * size**0.4 for size in (10, 100, 1000)]) == pytest.approx(0.4)


@pytest.mark.parametrize("spans", [growth.FULL, growth.QUICK])
def test_one_thing_grows_and_the_rest_stays(spans: growth.Spans) -> None:
    for growing in growth.all_growing(spans):
        small, large = (growing.wanted(size) for size in (growing.sizes[0], growing.sizes[-1]))
        differing = {name for name, value in vars(small).items() if value != vars(large)[name]} - {"repeat"}
        own = {"applications": "job_tasks", "waiting requests": "tasks", "jobs waiting under DRESS": "tasks"}
        assert differing == {own.get(growing.what, growing.what)}
        assert small.everything == (small.policy != "dress")
        assert not small.record


def test_jobs_are_shared_out_among_queues_and_users() -> None:
    name = "bench(tasks=600, job_tasks=10, with_am=true, nodes=5)"
    workload, cluster = shared_out(make_workload(name, SEED), suggested_cluster(name), 4, 3)
    pairs = np.unique(np.stack([workload.jobs["queue"], workload.jobs["user"]]), axis=1)
    assert pairs.shape[1] == 12
    jobs = simulate(workload, cluster, growth.POLICY, check=True).jobs
    assert set(jobs["queue"]) == {f"root.leaf-{number}" for number in range(4)}
    assert set(jobs["user"]) == {f"user-{number}" for number in range(3)}
