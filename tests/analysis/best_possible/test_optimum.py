"""Optima of instances small enough to be sure of."""

from __future__ import annotations

import pytest

from heddle.analysis.best_possible.bounds import bounds
from heddle.analysis.best_possible.optimum import optimum
from heddle.model.cluster import Timing
from heddle.model.errors import RunRefused
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import load_cluster, uniform_cluster

pytest.importorskip("ortools", reason="the extra `optimum` is not installed")


def job(name: str, submit: int, *durations: int, memory: int = 2048) -> JobSpec:
    return JobSpec(name, submit, [StageSpec("only", (memory, 1000), [TaskSpec(one) for one in durations])])


def test_packing_that_a_fluid_bound_cannot_see() -> None:
    # Three tasks of 3/4 of a node: the area says 2.25 s on one node, but no two fit together.
    workload = build("w", [job(f"j{n}", 0, 1000, memory=3072) for n in range(3)])
    cluster = load_cluster("1x4096x4")
    best = optimum(workload, cluster, "makespan", 10)
    assert bounds(workload, cluster)[0].makespan_s == 2.25
    assert (best.value_s, best.proven, best.gap_pct) == (3.0, True, 0.0)
    assert optimum(workload, cluster, "mean completion", 10).value_s == 2.0


def test_order_releases_and_ams() -> None:
    # The AM holds half of the node while its task needs the other half; a job that comes later goes in between.
    timing = Timing(launch_ms=100, am_start_ms=400)
    cluster = uniform_cluster(1, 4096, 4, timing=timing)
    with_am = JobSpec("am", 0, [StageSpec("only", (2048, 1000), [TaskSpec(1000)])], am=(2048, 1000))
    workload = build("w", [with_am, job("late", 200, 100)])
    best = optimum(workload, cluster, "makespan", 10)
    assert best.value_s == pytest.approx(0.1 + 0.4 + 0.1 + 1.0)
    assert optimum(workload, cluster, "mean completion", 10).value_s == pytest.approx((1.6 + 0.2) / 2)


@pytest.mark.parametrize("policy", ["fifo", "srpt", "tetris"])
def test_no_policy_beats_it_and_it_is_not_below_the_bound(policy: str) -> None:
    workload, cluster = make_workload("burst(jobs=3)", 4), load_cluster("1x16384x8")
    best = optimum(workload, cluster, "makespan", 20)
    assert best.value_s is not None
    assert best.value_s >= bounds(workload, cluster)[0].makespan_s - 1e-9
    jobs = simulate(workload, cluster, policy).jobs
    assert jobs["ended_at_ms"].max() / 1000 - jobs["submit_at_ms"].min() / 1000 >= best.bound_s - 1e-9  # type: ignore[operator]


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(RunRefused, match="executors"):
        optimum(make_workload("mix"), suggested_cluster("mix"), "makespan", 1)
    with pytest.raises(RunRefused, match="too large"):
        optimum(make_workload("burst"), suggested_cluster("burst"), "makespan", 1)
