"""The levers of the guide keep the rules, and do what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.experiments.conformance import certify
from heddle.model.cluster import Cluster, Node
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["shortest_first", "recent_peak", "two_pools"])
def test_is_certified(name: str) -> None:
    assert certify(f"{EXAMPLES / name}.py:{name}", seeds=1) == []


def test_two_pools_keep_room_for_a_small_job() -> None:
    """One job fills what it may before a small one comes: half of the node is kept, so that it need not wait."""
    large = JobSpec("large", 0, [StageSpec("s", (500, 100), [TaskSpec(60_000)] * 30)])
    small = JobSpec("small", 1000, [StageSpec("s", (500, 100), [TaskSpec(1000)])])
    cluster = Cluster((Node("n", (2000, 4000), (2000, 4000)),))
    policy = f"fifo+{EXAMPLES / 'two_pools.py'}:two_pools(share=0.5, tasks=10)"
    run = simulate(build("x", [large, small]), cluster, policy, check=True)
    assert dict(run.jobs.select("name", "started_at_ms").rows())["small"] == 1000


def test_recent_peak_promises_what_is_not_used() -> None:
    """Ten tasks of 1000 MB that use 100 MB each, on a node of 2000 MB: more than two run at once."""
    tasks = [TaskSpec(60_000, ((10_000, (100, 100)),))] * 10
    workload = build("x", [JobSpec("j", 0, [StageSpec("s", (1000, 100), tasks)])])
    cluster = Cluster((Node("n", (2000, 4000), (2000, 4000)),))
    by_peak = simulate(workload, cluster, f"fifo+{EXAMPLES / 'recent_peak.py'}:recent_peak(keep=0.5)", check=True)
    by_reservation = simulate(workload, cluster, "fifo")
    assert by_peak.jobs["ended_at_ms"][0] < by_reservation.jobs["ended_at_ms"][0]
