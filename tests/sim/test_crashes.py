"""Containers that crash together, in the order of docs/semantics.md."""

from __future__ import annotations

import numpy as np

from heddle.model.cluster import Cluster, Level, Node, Physics
from heddle.model.reasons import Outcome
from heddle.policy.parse import parse_policy
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant


def test_those_that_crash_at_once_end_in_order_of_number() -> None:
    """Three tasks of 100 MB on a node of 250 MB: at 1 s the third one starts, and all crash, the oldest first."""
    cluster = Cluster((Node("node", (250, 9000), (1000, 9000)),), physics=Physics(oom="all"))
    job = [StageSpec("s", (1, 1), [TaskSpec(5000, constant(100, 0))])]
    workload = build("w", [JobSpec(f"job-{at}", at, job) for at in (0, 500, 1000)])
    attempts = run_engine(workload, cluster, parse_policy("fifo"), 0, True, 1000).attempts
    crashed = attempts[attempts["outcome"] == Outcome.CRASHED]
    assert crashed["ended_at_ms"].tolist() == [1000] * 3
    assert crashed["task"][np.argsort(crashed["ended_place"])].tolist() == [0, 1, 2]


def test_a_task_whose_use_nobody_knows_cannot_start_on_a_node_that_others_fill() -> None:
    """It crashes as it starts, not when its shuffle is over (run 3834 of the engine storm)."""
    filled = Node("node", (500, 9000), (1000, 9000), background=(Level(0, (600, 0)),))
    job = JobSpec("job", 1000, [StageSpec("s", (100, 1), [TaskSpec(5000)], shuffle_ms=1500)])
    attempts = run_engine(build("w", [job]), Cluster((filled,)), parse_policy("fifo"), 0, True, 1000).attempts
    assert attempts["outcome"].tolist() == [Outcome.CRASHED]
    assert attempts["ended_at_ms"].tolist() == [1000]
