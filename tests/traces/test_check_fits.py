"""Whether a workload can run on a cluster at all."""

from __future__ import annotations

import dataclasses

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.check import check_fits
from heddle.traces.clusters import uniform_cluster

ONE = [TaskSpec(1000)]
CLUSTER = uniform_cluster(2, 4096, 4)


def problems(cluster: Cluster, *stages: StageSpec, **job: object) -> list[str]:
    return [str(problem) for problem in check_fits(build("w", [JobSpec("j", 0, stages, **job)]), cluster)]  # type: ignore[arg-type]


def test_what_fits_exactly_is_no_problem() -> None:
    assert problems(CLUSTER, StageSpec("s", (4096, 4000), ONE)) == []


def test_names_job_stage_and_sizes() -> None:
    assert problems(CLUSTER, StageSpec("s", (4097, 1500), ONE)) == [
        "w: job j, stage s: a container needs 4097 MB, 1.5 vcores; "
        "no node is large enough (the nearest, node-0: 4096 MB, 4 vcores)"
    ]


def test_no_single_node_has_both() -> None:
    cluster = Cluster(nodes=(Node("a", (100, 8000), (100, 8000)), Node("b", (9000, 1000), (9000, 1000))))
    assert len(problems(cluster, StageSpec("s", (9000, 8000), ONE))) == 1


def test_vcores_do_not_count_with_the_memory_calculator() -> None:
    cluster = dataclasses.replace(CLUSTER, calculator="memory")
    assert problems(cluster, StageSpec("s", (4096, 99_000), ONE)) == []
    assert len(problems(CLUSTER, StageSpec("s", (4096, 99_000), ONE))) == 1


def test_allowance_counts_not_capacity_and_is_rounded_down() -> None:
    cluster = Cluster(nodes=(Node("a", (9000, 9000), (5000, 9000)),), increment=(1024, 1))
    assert problems(cluster, StageSpec("s", (4096, 1), ONE)) == []
    assert len(problems(cluster, StageSpec("s", (4097, 1), ONE))) == 1


def test_label_restricts_the_nodes() -> None:
    cluster = dataclasses.replace(CLUSTER, nodes=(*CLUSTER.nodes, Node("gpu-0", (100, 1000), (100, 1000), label="gpu")))
    assert problems(cluster, StageSpec("s", (100, 1000), ONE, label="gpu")) == []
    (said,) = problems(cluster, StageSpec("s", (101, 1000), ONE, label="gpu"))
    assert 'no node with label "gpu" is large enough' in said
    assert 'there is no node with label "ssd"' in problems(cluster, StageSpec("s", (1, 1), ONE, label="ssd"))[0]


def test_am_and_executors_count_inner_tasks_do_not() -> None:
    large = (9999, 1)
    assert "stage am" in problems(CLUSTER, StageSpec("s", (1, 1), ONE), am=large)[0]
    assert len(problems(CLUSTER, StageSpec("s", large, ONE, kind=EXECUTORS))) == 1
    assert problems(CLUSTER, StageSpec("s", large, ONE, kind=INNER)) == []


def test_unknown_resource_matters_only_if_wanted() -> None:
    resources = ("memory_mb", "vcores_milli", "gpu")
    for amount, found in ((0, 0), (1, 1)):
        workload = build("w", [JobSpec("j", 0, [StageSpec("s", (1, 1, amount), ONE)])], resources)
        assert len(check_fits(workload, CLUSTER)) == found


def test_resources_are_matched_by_name() -> None:
    cluster = Cluster(
        nodes=(Node("a", (10, 10, 0, 2), (10, 10, 0, 2)),),
        resources=("memory_mb", "vcores_milli", "fpga", "gpu"),
        increment=(1, 1, 1, 1),
    )
    workload = build("w", [JobSpec("j", 0, [StageSpec("s", (1, 1, 2), ONE)])], ("memory_mb", "vcores_milli", "gpu"))
    assert check_fits(workload, cluster) == []


def test_parent_queues_cannot_be_submitted_to() -> None:
    cluster = dataclasses.replace(CLUSTER, queues=(Queue("root"), Queue("root.a"), Queue("root.a.b")))
    small = StageSpec("s", (1, 1), ONE)
    assert "root.a is a parent queue" in problems(cluster, small, queue="root.a")[0]
    assert "root is a parent queue" in problems(CLUSTER, small, queue="root")[0]
    assert problems(cluster, small, queue="root.a.b") == []
    assert problems(cluster, small, queue="root.unknown") == []


def test_many_are_counted() -> None:
    jobs = [JobSpec(f"j{n}", 0, [StageSpec("s", (5000 + n, 1), ONE)]) for n in range(50)]
    found = check_fits(build("w", jobs), CLUSTER)
    assert len(found) == 21
    assert found[-1].what == "and 30 more stages that fit no node"
