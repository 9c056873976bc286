"""The engine's lists are long enough for whatever one step of it can bring about, or it asks for more."""

from __future__ import annotations

import pytest

from heddle.model.cluster import Cluster, Node, Timing
from heddle.policy.parse import parse_policy
from heddle.sim import codes
from heddle.sim.memory import sizes
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

SMALL = (Node("node", (4, 4000), (4, 4000)),)


def test_a_job_with_far_more_stages_than_containers() -> None:
    """When its AM is ready, all stages ask at its next heartbeat: as many timers as stages, set in one step."""
    stages = [StageSpec(f"s{i}", (1, 1000), [TaskSpec(10)]) for i in range(5000)]
    workload = build("wide", [JobSpec("job", 0, stages, am=(1, 500))])
    cluster = Cluster(SMALL, timing=Timing(am_heartbeat_ms=1000))
    ended = run_engine(workload, cluster, parse_policy("fifo"), 1, False)
    assert ended.status == codes.FINISHED
    assert (ended.sim.task["state"] == codes.DONE).all()


def test_a_job_with_many_followers() -> None:
    followers = [
        JobSpec(f"f{i}", 0, [StageSpec("s", (1, 1000), [TaskSpec(10)])], after=("first",)) for i in range(5000)
    ]
    first = JobSpec("first", 0, [StageSpec("s", (1, 1000), [TaskSpec(10)])])
    ended = run_engine(build("fan", [first, *followers]), Cluster(SMALL), parse_policy("fifo"), 1, False)
    assert ended.status == codes.FINISHED
    assert (ended.sim.job_run["ended_at_ms"] > 0).all()


def test_more_attempts_than_there_are_rows_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are taken out in pieces, though the log itself, with a few rows for each job, never fills."""
    monkeypatch.setattr(sizes, "LOG_ROWS", 0)
    workload = build("many", [JobSpec("job", 0, [StageSpec("s", (1, 1000), [TaskSpec(10)] * 50_000)])])
    ended = run_engine(workload, Cluster(SMALL), parse_policy("fifo"), 1, True)
    assert ended.status == codes.FINISHED
    assert len(ended.sim.attempt) < 50_000
    assert ended.attempts["task"].tolist() == list(range(50_000))
