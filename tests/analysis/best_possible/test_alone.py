from __future__ import annotations

import numpy as np

from heddle.analysis.best_possible.alone import alone_ms
from heddle.model.cluster import IDEAL, Cluster, Node, Timing
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

DELAYS = Timing(launch_ms=10, am_start_ms=100)


def cluster(timing: Timing = IDEAL, nodes: int = 1, memory: int = 100_000, speed_permille: int = 1000) -> Cluster:
    size = (memory, 100_000)
    made = tuple(Node(f"n{i}", size, size, speed_permille=speed_permille) for i in range(nodes))
    return Cluster(nodes=made, timing=timing)


def stage(name: str, *durations: int, **more: object) -> StageSpec:
    return StageSpec(name, (1000, 1000), [TaskSpec(duration) for duration in durations], **more)  # type: ignore[arg-type]


def one(*stages: StageSpec, am: tuple[int, int] | None = None) -> JobSpec:
    return JobSpec("j", 0, stages, am=am)


def alone(job: JobSpec, where: Cluster) -> int:
    (found,) = alone_ms(build("w", [job]), where).tolist()
    return int(found)


def test_single_stage_is_its_longest_task() -> None:
    assert alone(one(stage("a", 300, 700, 500)), cluster()) == 700
    assert alone(one(stage("a", 300, 700, 500)), cluster(DELAYS)) == 710
    assert alone(one(stage("a", 300, 700), am=(500, 500)), cluster(DELAYS)) == 110 + 710


def test_path_through_a_diamond_with_shuffle() -> None:
    job = one(
        stage("a", 100),
        stage("b", 200, after=("a",)),
        stage("c", 900, after=("a",)),
        stage("d", 50, after=("b", "c"), shuffle_ms=5),
    )
    assert alone(job, cluster()) == 100 + 900 + 55
    assert alone(job, cluster(DELAYS)) == 110 + 910 + 65


def test_order_of_the_stages_does_not_matter() -> None:
    job = one(stage("d", 50, after=("c",)), stage("c", 900, after=("a",)), stage("a", 100))
    assert alone(job, cluster(DELAYS)) == 110 + 910 + 60


def test_early_reduces_are_launched_while_they_wait() -> None:
    def reduces(slow_start_permille: int) -> JobSpec:
        early = stage("reduce", 200, after=("map",), slow_start_permille=slow_start_permille)
        return one(stage("map", 400), early)

    assert alone(reduces(50), cluster(DELAYS)) == 410 + 200
    assert alone(reduces(1000), cluster(DELAYS)) == 410 + 210
    assert alone(reduces(-1), cluster(DELAYS)) == 410 + 210


def test_area_counts_where_it_is_larger() -> None:
    # 10 tasks of 1000 MB for 100 ms on 2500 MB: 1,000,000 MB ms over 2500 MB = 400 ms.
    job = one(stage("a", *[100] * 10))
    assert alone(job, cluster(memory=2500)) == 400
    assert alone(job, cluster(memory=1250, nodes=2)) == 400
    assert alone(job, cluster(Timing(launch_ms=10), memory=2500)) == 440
    assert alone(job, cluster(memory=3001)) == 334  # 333.2..., and an end lies on a whole millisecond


def test_inner_tasks_need_slots() -> None:
    executors = StageSpec("executors", (1000, 1000), [TaskSpec(0)] * 2, kind=EXECUTORS, slots=2)
    wide = StageSpec("inner", (0, 0), [TaskSpec(100)] * 10, kind=INNER)
    job = one(executors, wide, am=(500, 500))
    assert alone(job, cluster()) == 250  # 1000 ms of work in 4 slots
    assert alone(job, cluster(DELAYS)) == 110 + 10 + 250
    # Both executors cannot run at once on 1000 MB: 1000 ms of work in 2 slots of the one that fits.
    assert alone(job, cluster(memory=1000)) == 500


def test_chain_of_inner_stages_is_launched_once() -> None:
    executors = StageSpec("executors", (1000, 1000), [TaskSpec(0)] * 2, kind=EXECUTORS, slots=2)
    first = StageSpec("first", (0, 0), [TaskSpec(100)], kind=INNER)
    second = StageSpec("second", (0, 0), [TaskSpec(300)], kind=INNER, after=("first",))
    assert alone(one(executors, first, second), cluster(DELAYS)) == 10 + 100 + 300


def test_faster_nodes_make_it_shorter() -> None:
    assert alone(one(stage("a", 700)), cluster(speed_permille=2000)) == 350


def test_each_job_has_its_own() -> None:
    jobs = [
        JobSpec("late", 500, [stage("a", 30)]),
        JobSpec("early", 0, [stage("a", 10), stage("b", 20, after=("a",))]),
        JobSpec("empty", 700, [stage("a")]),
    ]
    assert alone_ms(build("w", jobs), cluster(DELAYS)).tolist() == [20 + 30, 40, 0]
    assert alone_ms(build("none", []), cluster()).dtype == np.int64
