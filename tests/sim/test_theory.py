"""Queues with a known answer: M/M/1 and M/M/c waiting times lie within the interval of the simulated ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heddle.analysis.certainty.student import t_interval
from heddle.model.cluster import Cluster, Node
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

MEAN_MS = 10_000


def poisson_jobs(seed: int, servers: int, load: float, jobs: int) -> Workload:
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.exponential(MEAN_MS / (servers * load), jobs)).astype(int)
    duration = np.maximum(1, rng.exponential(MEAN_MS, jobs).astype(int))
    one_server = (1, 1000)
    return build(
        "queue",
        [
            JobSpec(f"{i}", int(at), [StageSpec("s", one_server, [TaskSpec(int(ms))])])
            for i, (at, ms) in enumerate(zip(submit, duration, strict=True))
        ],
    )


def erlang_c(servers: int, load: float) -> float:
    """The chance that a customer has to wait."""
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    return last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (1, 0.7), (4, 0.7)])
def test_mean_wait_is_the_known_one(servers: int, load: float) -> None:
    cluster = Cluster((Node("node", (servers, 1000 * servers), (servers, 1000 * servers)),))
    means = []
    for seed in range(20):
        workload = poisson_jobs(seed, servers, load, 6000)
        ended = run_engine(workload, cluster, parse_policy("fifo"), seed, False)
        wait = ended.sim.job_run["started_at_ms"] - workload.jobs["submit_at_ms"]
        means.append(float(wait[600:].mean()))  # without the warm-up
    known = erlang_c(servers, load) * MEAN_MS / (servers * (1 - load))
    interval = t_interval(means)
    assert interval is not None
    low, high = interval
    assert low <= known <= high
    assert (high - low) / known < 0.2, "the interval is too wide to say anything"
