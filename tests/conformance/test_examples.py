"""The levers of the guide keep the rules, and do what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.experiments.conformance import certify
from heddle.model.cluster import Cluster, Node
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["shortest_first", "recent_peak"])
def test_is_certified(name: str) -> None:
    assert certify(f"{EXAMPLES / name}.py:{name}", seeds=1) == []


def test_recent_peak_promises_what_is_not_used() -> None:
    """Ten tasks of 1000 MB that use 100 MB each, on a node of 2000 MB: more than two run at once."""
    tasks = [TaskSpec(60_000, ((10_000, (100, 100)),))] * 10
    workload = build("x", [JobSpec("j", 0, [StageSpec("s", (1000, 100), tasks)])])
    cluster = Cluster((Node("n", (2000, 4000), (2000, 4000)),))
    by_peak = simulate(workload, cluster, f"fifo+{EXAMPLES / 'recent_peak.py'}:recent_peak(keep=0.5)", check=True)
    by_reservation = simulate(workload, cluster, "fifo")
    assert by_peak.jobs["ended_at_ms"][0] < by_reservation.jobs["ended_at_ms"][0]
