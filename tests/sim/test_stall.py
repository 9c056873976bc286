"""A stalled run says why, with numbers."""

from __future__ import annotations

from heddle.model.cluster import YARN, Cluster, Node, Queue
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import uniform_cluster


def reason_of(jobs: list[JobSpec], cluster: Cluster, policy: str) -> str:
    run = simulate(build("stalls", jobs), cluster, policy, check=True)
    assert run.manifest["outcome"] == "stalled"
    assert isinstance(run.manifest["reason"], str)
    return run.manifest["reason"]


def one_task(memory_mb: int = 1000, use_mb: int | None = None) -> StageSpec:
    use = None if use_mb is None else constant(use_mb, 100)
    return StageSpec("s", (memory_mb, 100), [TaskSpec(1000, use)])


def test_application_masters_that_fill_the_cluster() -> None:
    for policy in ("fifo", "fair+admit-all", "drf+admit-all"):
        run = simulate(make_workload("am-storm", 0), suggested_cluster("am-storm"), policy, check=True)
        assert run.manifest["reason"] == "am-deadlock: 32 application masters hold 65536 of 65536 MB and no task fits"
    assert run.jobs["outcome"].unique().to_list() == ["unfinished"]


def test_what_masters_leave_may_be_kept_for_a_task_that_is_larger() -> None:
    """Each node has 1000 MB left: enough for the small task, but kept for one of 2500 MB."""
    sizes = [700, *5 * [2500]]
    jobs = [JobSpec(f"j{n}", 0, [one_task(size)], am=(1000, 100)) for n, size in enumerate(sizes)]
    reason = reason_of(jobs, uniform_cluster(2, 4000, 16, timing=YARN), "fair+am-share(percent=1.0)")
    assert reason == "am-deadlock: 6 application masters hold 6000 of 8000 MB and no task fits"


def test_a_task_that_crashes_for_ever() -> None:
    reason = reason_of([JobSpec("j", 0, [one_task(1000, use_mb=3000)])], uniform_cluster(1, 2000, 1), "fifo")
    assert reason.startswith("livelock: task 0 of job 0 crashed 100 times")
    assert "2000 MB" in reason


def test_a_queue_too_small_for_its_job() -> None:
    queues = (Queue("root"), Queue("root.tiny", guarantee_permille=100, maximum_permille=100))
    cluster = uniform_cluster(1, 4000, 4, queues=queues)
    reason = reason_of([JobSpec("j", 0, [one_task()], queue="root.tiny")], cluster, "fair")
    assert reason.startswith("queue-limit: 1 containers of 1 stages wait; the queue is at its maximum")
    assert "at most 400 MB" in reason


def test_a_pool_too_small_for_its_job() -> None:
    reason = reason_of([JobSpec("j", 0, [one_task()])], uniform_cluster(1, 4000, 4), "fifo+small-pool(theta=1)")
    assert reason.startswith("pool-limit: ")
    assert "at most 400 MB" in reason


def test_background_load_that_leaves_too_little() -> None:
    # Sizing by use promises only what background load leaves; what does not fit any more waits for ever.
    from heddle.model.cluster import Level

    busy = Node("n", (2000, 2000), (2000, 2000), background=(Level(0, (1500, 0)),))
    late = JobSpec("late", 5000, [one_task(1000, use_mb=100)])
    reason = reason_of([late], Cluster((busy,)), "fifo+usage-feedback")
    assert reason.startswith("request-too-large: stage 0 of job 0 wants 1000 MB")


def test_requests_without_a_label_where_all_nodes_have_one() -> None:
    cluster = Cluster((Node("n0", (4000, 4000), (4000, 4000), label="gpu"),))
    reason = reason_of([JobSpec("j", 0, [one_task()])], cluster, "capacity")
    assert reason.startswith("label: stage 0 of job 0 wants 1000 MB")
    assert "count labels apart" in reason
