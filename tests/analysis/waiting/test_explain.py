"""Waits with reasons, from real runs small enough to work out by hand."""

from __future__ import annotations

import json

import pytest

from heddle.analysis.waiting.detail import detail
from heddle.analysis.waiting.explain import Explained, explain, find_job, most_delayed
from heddle.model.cluster import Cluster, Queue, Timing
from heddle.model.errors import BadInput, RunRefused
from heddle.model.reasons import Reason
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import load_cluster, uniform_cluster
from record.hand_made import TWO_JOBS, run_of


def job(name: str, submit: int, *durations: int, memory: int = 4096, **more: object) -> JobSpec:
    stage = StageSpec("only", (memory, 1000), [TaskSpec(duration, constant(512, 500)) for duration in durations])
    return JobSpec(name, submit, [stage], **more)  # type: ignore[arg-type]


def run(jobs: list[JobSpec], cluster: Cluster, policy: str = "fifo") -> Run:
    return simulate(build("w", jobs), cluster, policy, record=True)


def states(life: Explained) -> list[tuple[str, int, int]]:
    return [(span.state, span.from_ms, span.to_ms) for span in life.spans]


def test_waits_until_a_node_has_room_and_says_what_was_missing() -> None:
    done = run([job("first", 0, 10_000, memory=5120), job("second", 2000, 3000)], load_cluster("1x8192x4"))
    life = explain(done, find_job(done, "second"))
    assert states(life) == [("waits", 2000, 10_000), ("runs", 10_000, 13_000)]
    assert life.spans[0].reason is Reason.NO_ROOM
    assert detail(done, life, life.spans[0]) == (
        "no node had 4 GB, 1 vcore free; the nearest, node-0, had 3 GB, 3 vcores"
    )
    assert life.causes_ms == {"waits: no node has enough free": 8000, "runs": 3000}
    assert life.main_wait == "waits: no node has enough free"
    assert (life.taken_ms, life.alone_ms) == (11_000, 3000)


def test_behind_a_blocking_head() -> None:
    jobs = [job("first", 0, 10_000, memory=5120), job("big", 1000, 1000), job("small", 2000, 1000, memory=512)]
    done = run(jobs, load_cluster("1x8192x4"))
    life = explain(done, find_job(done, "small"))
    assert states(life) == [("waits", 2000, 10_000), ("runs", 10_000, 11_000)]
    assert life.spans[0].reason is Reason.BEHIND
    assert life.spans[0].cause == "waits: others come first"
    assert detail(done, life, life.spans[0]) == (
        "1 request of 1 other job waited too; in the meantime, no other job got a container"
    )
    assert (life.stage_names[life.spans[0].stage], life.spans[0].asked_at_ms) == ("only", 2000)


def test_the_ask_of_a_span_is_the_first_that_is_still_open() -> None:
    maps = StageSpec("map", (4096, 1000), [TaskSpec(5000, constant(512, 500))] * 3)
    late = StageSpec("reduce", (4096, 1000), [TaskSpec(1000, constant(512, 500))], after=("map",))
    blocker = job("blocker", 9000, 4000, 4000)
    done = run([JobSpec("mr", 0, [maps, late]), blocker], load_cluster("1x8192x4"))
    life = explain(done, find_job(done, "mr"))
    waits = [(span.asked_at_ms, life.stage_names[span.stage]) for span in life.spans if span.waiting]
    assert waits[0] == (0, "map")
    asked = {span["asked_s"] for span in life.as_json()["spans"] if span["stage"] == "map"}
    assert asked == {0.0}


def test_the_limit_of_application_masters_is_told_where_the_queue_has_one() -> None:
    queues = (Queue("root"), Queue("root.a", 1000, 1000, am_share_permille=250))
    cluster = uniform_cluster(1, 8192, 8, queues=queues, timing=Timing(am_start_ms=1000))
    jobs = [
        JobSpec(
            name, 0, [StageSpec("only", (1024, 1000), [TaskSpec(5000, constant(512, 500))])],
            queue="root.a", am=(2048, 1000),
        )
        for name in ("first", "second")
    ]  # fmt: skip
    done = run(jobs, cluster, "capacity")
    life = explain(done, find_job(done, "second"))
    assert life.spans[0].reason is Reason.AM_SHARE
    assert detail(done, life, life.spans[0]) == ("the application masters of queue root.a held 2 GB, 1 vcore in 1 jobs")


def test_part_of_it_runs_while_the_rest_waits() -> None:
    done = run([job("wide", 0, 5000, 5000, 5000)], load_cluster("1x8192x4"))
    life = explain(done, 0)
    assert states(life) == [("partly waits", 0, 5000), ("runs", 5000, 10_000)]
    assert (life.spans[0].running, life.spans[0].waiting) == (2, 1)


def test_application_master_launch_and_jobs_that_come_before() -> None:
    cluster = uniform_cluster(1, 8192, 4, timing=Timing(launch_ms=1000, am_start_ms=2000))
    jobs = [job("first", 0, 5000), job("then", 0, 3000, am=(512, 1000), after=("first",))]
    done = run(jobs, cluster)
    life = explain(done, find_job(done, "then"))
    assert states(life) == [("comes after", 0, 6000), ("starts", 6000, 10_000), ("runs", 10_000, 13_000)]


def test_a_queue_at_its_limit_and_a_full_cluster() -> None:
    queues = (Queue("root"), Queue("root.a", 500, 500), Queue("root.b", 500, 1000))
    cluster = uniform_cluster(1, 8192, 4, queues=queues)
    jobs = [job("holds", 0, 9000, queue="root.a"), job("waits", 0, 1000, queue="root.a")]
    done = run(jobs, cluster, "capacity")
    life = explain(done, find_job(done, "waits"))
    assert life.spans[0].reason is Reason.QUEUE_LIMIT
    assert detail(done, life, life.spans[0]) == (
        "queue root.a held 4 GB of the 4 GB that it may hold, and 4 GB more would be too much"
    )

    jobs = [job("holds", 0, 9000, 9000, queue="root.b"), job("waits", 1, 1000, queue="root.a")]
    done = run(jobs, cluster, "capacity")
    life = explain(done, find_job(done, "waits"))
    assert detail(done, life, life.spans[0]) == "the whole cluster was promised: 8 GB of 8 GB"


def test_attempts_lost_to_a_crash_are_told() -> None:
    tasks = [TaskSpec(5000, constant(5000, 500)), TaskSpec(4000, constant(5000, 500))]
    crashing = JobSpec("j", 0, [StageSpec("only", (2048, 1000), tasks)])
    done = simulate(build("w", [crashing]), load_cluster("1x8192x4"), "fifo", record=True)
    life = explain(done, 0)
    assert life.lost["crashed"][0] == done.manifest["totals"]["crashed_tasks"] > 0


@pytest.mark.parametrize("policy", ["capacity", "fifo", "fair+usage-feedback"])
def test_every_job_of_a_real_run_is_explained_without_gaps(policy: str) -> None:
    workload = make_workload("mix(jobs=25)", 1)
    done = simulate(workload, suggested_cluster("mix"), policy, record=True)
    for number in range(done.jobs.height):
        life = explain(done, number)
        assert life.spans[0].from_ms == life.submit_at_ms
        assert life.spans[-1].to_ms == life.end_ms
        assert all(a.to_ms == b.from_ms for a, b in zip(life.spans, life.spans[1:], strict=False))
        assert sum(life.causes_ms.values()) == life.taken_ms
        for span in life.spans:
            detail(done, life, span)
        json.dumps(life.as_json(), allow_nan=False)


def test_stalled_jobs_are_explained_to_the_end_of_the_run() -> None:
    done = simulate(make_workload("am-storm"), suggested_cluster("am-storm"), "fifo", record=True)
    waits = {span.state for number in range(60) for span in explain(done, number).spans}
    assert "waits for its AM" in waits
    assert "waits" in waits


def test_the_most_delayed_come_first() -> None:
    done = run([job("a", 0, 10_000), job("b", 0, 5000), job("c", 0, 1000)], load_cluster("1x4096x4"))
    assert [done.jobs["name"][one] for one in most_delayed(done, 2)] == ["c", "b"]


def test_names_and_numbers_find_a_job() -> None:
    done = run([job("etl", 0, 1000)], load_cluster("1x8192x4"))
    assert find_job(done, "etl") == find_job(done, "0") == 0
    with pytest.raises(BadInput, match='did you mean "etl"'):
        find_job(done, "elt")
    with pytest.raises(RunRefused, match="--record"):
        explain(run_of(TWO_JOBS), 0)
