"""Efficiency is a ratio of sums over time, and says what it does not know."""

import pytest

from heddle.analysis.waste import run_waste
from heddle.analysis.waste.efficiency import containers_of_run, containers_of_workload, efficiency
from heddle.model.workload import EXECUTORS, INNER
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import uniform_cluster


def two_jobs(second_use: int | None = 1024):  # type: ignore[no-untyped-def]
    """1 GB for 90 s all of which is used, and 4 GB for 10 s."""
    first = TaskSpec(90_000, constant(1024, 1000))
    second = TaskSpec(10_000, None if second_use is None else constant(second_use, 0))
    return build(
        "two",
        [
            JobSpec("a", 0, [StageSpec("s", (1024, 1000), [first])], user="ann"),
            JobSpec("b", 0, [StageSpec("s", (4096, 1000), [second])], user="bob"),
        ],
    )


def test_it_is_weighted_by_time_and_not_a_mean_of_ratios() -> None:
    memory = efficiency(containers_of_workload(two_jobs()), "job")[0]
    assert memory.ratio == pytest.approx((1024 * 90 + 1024 * 10) / (1024 * 90 + 4096 * 10))
    assert memory.groups.rows() == [
        ("b", 4096 * 10_000, 1024 * 10_000, 1, 0.25, 3072 * 10_000),
        ("a", 1024 * 90_000, 1024 * 90_000, 1, 1.0, 0),
    ]


def test_containers_without_recorded_use_are_counted_apart() -> None:
    memory = efficiency(containers_of_workload(two_jobs(None)), "user")[0]
    assert memory.ratio == 1.0
    assert (memory.unrecorded_containers, memory.unrecorded_reserved) == (1, 4096 * 10_000)
    assert memory.groups["group"].to_list() == ["ann"]


def test_a_record_says_the_same_as_the_trace_where_nothing_waits() -> None:
    workload = two_jobs()
    run = simulate(workload, uniform_cluster(1, 8192, 8), parse_policy("fifo"), record=True)
    for of_trace, of_run in zip(
        efficiency(containers_of_workload(workload), "job"), efficiency(containers_of_run(run), "job"), strict=True
    ):
        assert of_trace.groups.rows() == of_run.groups.rows()


def test_levels_over_time_count_by_their_length() -> None:
    task = TaskSpec(10_000, ((2500, (400, 0)), (10_000, (800, 0))))
    memory = efficiency(
        containers_of_workload(build("w", [JobSpec("a", 0, [StageSpec("s", (1000, 1), [task])])])), "job"
    )[0]
    assert memory.ratio == pytest.approx(0.25 * 0.4 + 0.75 * 0.8)


def test_use_inside_executors_counts_for_them() -> None:
    stages = [
        StageSpec("executors", (4096, 2000), [TaskSpec(0, constant(1024, 0))], kind=EXECUTORS, slots=2),
        StageSpec("step", (0, 0), [TaskSpec(10_000, constant(512, 1000))] * 2, kind=INNER),
    ]
    run = simulate(
        build("spark", [JobSpec("a", 0, stages)]), uniform_cluster(1, 8192, 8), parse_policy("fifo"), record=True
    )
    memory, vcores = efficiency(containers_of_run(run), "node")
    assert memory.ratio == pytest.approx((1024 + 2 * 512) / 4096)
    assert vcores.ratio == pytest.approx(1.0)


def test_the_largest_wasters_of_any_resource_are_kept_with_all_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """`a` wastes vcores most, `b` memory; `c` nothing."""
    monkeypatch.setattr(run_waste, "WASTERS", 1)
    used = {"a": (1000, 0), "b": (0, 1000), "c": (1000, 1000)}
    jobs = [
        JobSpec(name, 0, [StageSpec("s", (1000, 1000), [TaskSpec(1000, constant(*use))])]) for name, use in used.items()
    ]
    found = run_waste.efficiencies(containers_of_workload(build("three", jobs)))
    assert list(found) == ["job", "user", "queue", "container"]
    for one in found["job"]:
        assert set(one.groups["group"]) == {"a", "b"}
        assert one.count == 3
