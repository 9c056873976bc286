"""Bounds are true on every run, and as sharp as hand-worked examples say."""

from __future__ import annotations

import pytest

from heddle.analysis.best_possible.bounds import bounds
from heddle.model.cluster import Cluster, Timing
from heddle.run import simulate
from heddle.traces.align import in_resources_of
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import load_cluster, uniform_cluster

NODE = load_cluster("1x4096x4")


def one_task(name: str, submit: int, duration: int, memory: int = 1024, used: int = 256) -> JobSpec:
    task = TaskSpec(duration, constant(used, 500))
    return JobSpec(name, submit, [StageSpec("only", (memory, 1000), [task])])


def test_area_of_reservations_and_of_use() -> None:
    # Eight tasks of 10 s reserve half of the memory each: 40 s. They use a sixteenth: 8 * 10 / 16 = 5 s, a path of 10.
    workload = build("w", [one_task(f"j{n}", 0, 10_000, memory=2048) for n in range(8)])
    reserved, anyone = bounds(workload, NODE)
    assert reserved.makespan_s == 40.0
    assert reserved.area_makespan_s == {"memory": 40.0, "vcores": 20.0}
    assert anyone.area_makespan_s == {"memory": 5.0, "vcores": 10.0}
    assert anyone.makespan_s == anyone.path_makespan_s == 10.0
    # One after another on a fluid machine of 5 s each: 5, 10, ..., 40; mean 22.5.
    assert reserved.area_mean_jct_s is not None
    assert reserved.area_mean_jct_s["memory"] == pytest.approx(22.5)
    # Two at a time end after 10, 10, 20, ..., 40: the middles of the fluid machine's 5 s, and half of a task more.
    assert reserved.combined_mean_jct_s == reserved.mean_jct_s == pytest.approx(25.0)


def test_mean_completion_counts_what_must_follow() -> None:
    """Two jobs, each a task of 8 s that fills the node and then one of 4 s on a quarter: 12 and 24 s at best."""
    stages = [
        StageSpec("full", (4096, 1000), [TaskSpec(8000, constant(4096, 1000))]),
        StageSpec("after", (1024, 1000), [TaskSpec(4000, constant(1024, 1000))], after=("full",)),
    ]
    reserved, anyone = bounds(build("w", [JobSpec(f"j{n}", 0, stages) for n in range(2)]), NODE)
    # Areas of 8 and 1 s per job; middles of the fluid machine's work at 4.5 and 13.5 s. The first task's middle lies
    # 4 + 4 s before the job's end, the second's 2 s.
    assert reserved.combined_mean_jct_s == pytest.approx((4.5 + 13.5) / 2 + (8 * 8 + 1 * 2) / 9)
    assert reserved.combined_mean_jct_s == anyone.combined_mean_jct_s
    assert reserved.mean_jct_s == pytest.approx(16.333, abs=0.001)  # really (12 + 24) / 2


def test_work_between_a_release_and_a_tail() -> None:
    # A map of 1 s, then four reduces that fill the node for 10 s each, then a last task of 5 s.
    stages = [
        StageSpec("map", (1024, 1000), [TaskSpec(1000)]),
        StageSpec("reduce", (4096, 1000), [TaskSpec(10_000)] * 4, after=("map",)),
        StageSpec("last", (1024, 1000), [TaskSpec(5000)], after=("reduce",)),
    ]
    reserved, anyone = bounds(build("w", [JobSpec("j", 0, stages)]), NODE)
    assert reserved.area_makespan_s is not None
    assert reserved.area_makespan_s["memory"] < 46.0
    assert reserved.path_makespan_s == 16.0
    assert reserved.makespan_s == reserved.combined_makespan_s == 46.0
    assert anyone.area_makespan_s is None, "use was not recorded"
    assert anyone.makespan_s == 16.0


def test_memory_calculator_promises_vcores_without_end() -> None:
    cluster = Cluster(nodes=NODE.nodes, calculator="memory")
    workload = build("w", [one_task(f"j{n}", 0, 10_000, memory=1) for n in range(40)])
    assert bounds(workload, cluster)[0].area_makespan_s == {"memory": pytest.approx(40 * 10 / 4096)}
    assert bounds(workload, NODE)[0].makespan_s == 100.0


def test_ams_hold_while_their_job_runs() -> None:
    job = JobSpec("j", 0, [StageSpec("only", (1024, 1000), [TaskSpec(10_000)])], am=(3072, 1000))
    cluster = uniform_cluster(1, 4096, 4, timing=Timing(launch_ms=1000, am_start_ms=2000))
    reserved, _ = bounds(build("w", [job] * 1), cluster)
    assert reserved.path_makespan_s == 14.0  # launch, AM start, launch, task
    assert reserved.area_makespan_s is not None
    assert reserved.area_makespan_s["memory"] == pytest.approx((3072 * 14 + 1024 * 11) / 4096)


@pytest.mark.parametrize("policy", ["fifo", "srpt", "tetris", "fifo+usage-feedback", "drf+oracle"])
@pytest.mark.parametrize("name", ["mix(jobs=25)", "burst(jobs=40)", "network-dags", "over-reserved-day(tasks=2000)"])
def test_no_run_beats_them(name: str, policy: str) -> None:
    cluster = suggested_cluster(name)
    for seed in range(3):
        workload = make_workload(name, seed)
        run = simulate(workload, cluster, policy, seed=seed)
        jobs = run.jobs
        makespan = (jobs["ended_at_ms"].max() - jobs["submit_at_ms"].min()) / 1000  # type: ignore[operator]
        mean = float((jobs["ended_at_ms"] - jobs["submit_at_ms"]).mean()) / 1000  # type: ignore[arg-type]
        reserved, anyone = bounds(in_resources_of(workload, cluster), cluster)
        oversells = "feedback" in policy or "oracle" in policy
        for bound in (anyone,) if oversells else (anyone, reserved):
            assert makespan >= bound.makespan_s - 1e-6, (seed, bound)
            assert mean >= bound.mean_jct_s - 1e-6, (seed, bound)
