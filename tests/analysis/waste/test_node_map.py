"""The map of nodes over time, by hand."""

import numpy as np
import pytest

from heddle.analysis.waste.node_map import MAP_BINS, node_map
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import uniform_cluster


def test_what_is_reserved_and_used_stands_where_it_was() -> None:
    """Two tasks one after the other, each with 4 GB of 10 for 10 s, of which it uses half."""
    half = TaskSpec(10_000, constant(2048, 500))
    jobs = [JobSpec(f"j{n}", 10_000 * n, [StageSpec("s", (4096, 1000), [half])]) for n in range(2)]
    run = simulate(build("two", jobs), uniform_cluster(1, 10240, 4), parse_policy("fifo"), record=True)
    drawn = node_map(run)
    assert drawn.edges_s == pytest.approx(np.linspace(0, 20, MAP_BINS + 1))
    assert len(drawn.labels) == 1
    assert drawn.used is not None
    assert drawn.reserved["memory_mb"] == pytest.approx(np.full((1, MAP_BINS), 0.4))
    assert drawn.used["memory_mb"] == pytest.approx(np.full((1, MAP_BINS), 0.2))
    assert drawn.used["vcores_milli"] == pytest.approx(np.full((1, MAP_BINS), 0.125))
