"""simulate(): from workload, cluster and policy to a record that follows the schema."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from heddle.model.cluster import Cluster, Node, Preemption, Queue
from heddle.model.errors import BadInput, RunRefused
from heddle.model.reasons import Outcome
from heddle.model.workload import Workload
from heddle.policy.lever import Placement
from heddle.policy.parse import parse_policy
from heddle.record.files import read_record, write_record
from heddle.record.run import Run
from heddle.record.schema import run_problems
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import uniform_cluster

EXAMPLE = Path(__file__).parents[1] / "examples" / "shortest_first.py"


def jobs_of(*sizes: int, demand: tuple[int, int] = (1024, 1000), use: tuple[int, int] | None = (512, 1000)) -> Workload:
    """Jobs of so many tasks of 1 s each, submitted 1 ms apart."""
    tasks = [TaskSpec(1000, None if use is None else constant(*use))]
    return build("small", [JobSpec(f"j{n}", n, [StageSpec("s", demand, tasks * k)]) for n, k in enumerate(sizes)])


def mix_run(*, record: bool, policy: str = "fifo") -> Run:
    return simulate(make_workload("mix(jobs=8)", 1), suggested_cluster("mix"), policy, seed=1, record=record)


@pytest.mark.parametrize("record", [True, False])
def test_a_run_follows_the_schema_of_the_record(record: bool) -> None:
    run = mix_run(record=record)
    assert run_problems(run) == []
    assert run.manifest["outcome"] == "finished"
    assert run.manifest["complete_attempts"] is record
    assert (run.events is not None) is record


def test_one_task_is_written_down_as_it_happened() -> None:
    run = simulate(jobs_of(2), uniform_cluster(1, 1024, 1), "fifo", record=True)
    rows = run.attempts.rows(named=True)
    assert [(row["allocated_at_ms"], row["started_at_ms"], row["ended_at_ms"]) for row in rows] == [
        (0, 0, 1000),
        (1000, 1000, 2000),
    ]
    assert [row["asked_at_ms"] for row in rows] == [0, 0]
    assert [row["used_memory_mb_ms"] for row in rows] == [512_000, 512_000]
    assert run.jobs["ended_at_ms"].to_list() == [2000]
    assert run.manifest["totals"]["reserved_ms"] == [2 * 1024 * 1000, 2 * 1000 * 1000]
    assert run.manifest["totals"]["used_ms"] == [2 * 512 * 1000, 2 * 1000 * 1000]
    assert run.manifest["totals"]["allocations"] == 2


def test_reserved_totals_are_the_sum_over_attempts() -> None:
    run = mix_run(record=True)
    containers = run.attempts.filter(pl.col("kind") != 3).join(run.shapes, on="shape")
    held = containers.select(((pl.col("ended_at_ms") - pl.col("allocated_at_ms")) * pl.col("memory_mb")).sum()).item()
    assert run.manifest["totals"]["reserved_ms"][0] == held


def test_without_a_log_the_last_attempts_are_those_of_the_log() -> None:
    kept, unlogged = mix_run(record=True), mix_run(record=False)
    last = kept.attempts.sort("attempt").group_by("task", maintain_order=True).last().sort("task")
    columns = ["task", "job", "stage", "attempt", "kind", "node", "started_at_ms", "ended_at_ms", "outcome", "shape"]
    assert unlogged.attempts.sort("task").select(columns).equals(last.select(columns))
    assert kept.jobs.equals(unlogged.jobs)


def test_the_same_seed_gives_the_same_tables() -> None:
    first, second = mix_run(record=True, policy="drf"), mix_run(record=True, policy="drf")
    for name, frame in first.tables().items():
        assert frame.equals(second.tables()[name]), name


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    run = mix_run(record=True)
    write_record(run, tmp_path / "record")
    back = read_record(tmp_path / "record")
    assert back.manifest == run.manifest
    assert back.attempts.equals(run.attempts)


def test_crashed_attempts_are_all_there() -> None:
    # Two tasks of 600 MB use on 1000 MB: oversold by borg-default they crash one another.
    crowded = jobs_of(1, 1, demand=(800, 100), use=(600, 100))
    cluster = uniform_cluster(1, 1000, 1)
    run = simulate(crowded, cluster, "fifo(blocking=false)+borg-default(fraction=0.1)", record=True, check=True)
    outcomes = run.attempts["outcome"].to_list()
    assert outcomes.count(int(Outcome.CRASHED)) == run.manifest["totals"]["crashed_tasks"] > 0
    assert outcomes.count(int(Outcome.FINISHED)) == 2


def test_a_cluster_may_have_resources_that_the_workload_does_not_name() -> None:
    node = Node("n", (2048, 2000, 4), (2048, 2000, 4))
    cluster = Cluster((node,), resources=("memory_mb", "vcores_milli", "gpu"), exclusive=("gpu",), increment=(1, 1, 1))
    run = simulate(jobs_of(1, 1), cluster, "drf", record=True, check=True)
    assert run.resources == ("memory_mb", "vcores_milli", "gpu")
    assert run.manifest["totals"]["reserved_ms"][2] == 0
    assert run.manifest["outcome"] == "finished"


def test_use_that_was_not_recorded_is_unknown() -> None:
    run = simulate(jobs_of(1, use=None), uniform_cluster(1, 1024, 1), "fifo", record=True)
    assert run.manifest["use_known"] is False
    assert run.manifest["totals"]["used_ms"] == [None, None]
    assert run.attempts["used_memory_mb_ms"].to_list() == [None]


def test_what_cannot_run_is_refused() -> None:
    small = uniform_cluster(1, 1024, 1)
    with pytest.raises(BadInput, match="no node is large enough"):
        simulate(jobs_of(1, demand=(4096, 1000)), small, "fifo")
    with pytest.raises(BadInput, match="seed"):
        simulate(jobs_of(1), small, "fifo", seed=-1)
    for policy, why in {
        "srpt": "needs to know the future",
        "percentile": "use of each container",
        "small-pool": "pool-0",
    }.items():
        with pytest.raises(RunRefused, match=why):
            simulate(jobs_of(1), small, policy, executor="yarn-knobs")


def test_what_no_bridge_can_do_is_refused_by_name() -> None:
    small = uniform_cluster(1, 1024, 1)
    refuses = Placement(name="never", summary="nowhere", allows=lambda view, state, params, node, stage: 12)
    own = parse_policy("capacity+ffd-dp")
    vetoing = replace(own, levers=tuple(refuses if isinstance(one, Placement) else one for one in own.levers))
    for policy, why in (
        ("capacity+tetris", "tetris needs to know the future"),
        ("capacity+haste+random-node", "random-node ranks nodes"),
        ("capacity+haste+network-aware", "network-aware ranks nodes where all are offered at once"),
        ("capacity+network-aware(early=true)", "binds the tasks of a job to nodes as it arrives"),
        ("capacity+network-aware(by=last)", "network-aware ranks nodes, of which the bridge is shown one at a time"),
        ("fair+haste", "haste sets queues or priorities, which cannot be changed live under the Fair scheduler"),
        (vetoing, "never vetoes nodes"),
    ):
        with pytest.raises(RunRefused, match=why):
            simulate(jobs_of(1), small, policy, executor="bridge")


def test_the_bridge_is_for_orderings() -> None:
    by_knobs, bridged = (
        simulate(jobs_of(9), uniform_cluster(1, 4096, 4), "capacity+borg-default(fraction=0.5)", executor=executor)
        for executor in ("yarn-knobs", "bridge")
    )
    assert by_knobs.attempts.equals(bridged.attempts)


def test_every_knob_that_moves_is_in_the_record() -> None:
    pools = (Queue("root"), Queue("root.pool-0", 500), Queue("root.pool-1", 500))
    cluster = replace(uniform_cluster(2, 4096, 4), queues=pools)
    policy = "smallest-first+max-running(jobs=1)+small-pool(theta=0.2)+borg-default(fraction=0.5)"
    run = simulate(jobs_of(30, 30, 1), cluster, policy, record=True, executor="yarn-knobs")
    assert run.events is not None
    moved = run.events.filter(pl.col("kind").cast(pl.String) == "moved")
    assert moved.select("job", "queue").rows() == [(0, "root.pool-0"), (1, "root.pool-0"), (2, "root.pool-1")]
    knobs = {"priority", "queue_guarantee", "queue_maximum", "queue_am_share", "size_memory_mb"}
    assert knobs <= set(run.events["kind"].cast(pl.String))


def test_a_policy_that_yarn_has_itself_runs_as_ever() -> None:
    native, driven = (
        simulate(jobs_of(9), uniform_cluster(1, 4096, 4), "capacity", executor=executor)
        for executor in ("native", "yarn-knobs")
    )
    assert native.attempts.equals(driven.attempts)


@pytest.mark.parametrize(
    ("policy", "preempted"),
    [
        ("capacity", 2),  # b wants two containers and is due them
        ("drf", 1),  # and half of them here
        ("fifo", 0),  # without queues nobody gives way
    ],
)
def test_queues_that_have_more_than_their_due_give_way(policy: str, preempted: int) -> None:
    halves = [Queue(name, guarantee_permille=500, user_limit_factor_milli=4000) for name in ("root.a", "root.b")]
    cluster = replace(
        uniform_cluster(1, 4096, 4),
        queues=(Queue("root"), *halves),
        preemption=Preemption(every_ms=1000, starved_ms=2000, round_permille=1000),
    )
    stage = StageSpec("s", (1024, 1000), [TaskSpec(60_000)] * 4)
    jobs = [JobSpec("greedy", 0, [stage], queue="root.a"), JobSpec("late", 1, [stage], queue="root.b")]
    run = simulate(build("two", jobs), cluster, policy, record=True, check=True)
    assert run.manifest["outcome"] == "finished"
    assert run.manifest["totals"]["preempted_tasks"] == preempted
    gave_way = run.attempts.filter(pl.col("outcome") == Outcome.PREEMPTED)
    assert gave_way["job"].to_list() == [0] * preempted


def test_the_example_of_the_guide_orders_jobs_by_their_tasks() -> None:
    workload, cluster = jobs_of(4, 1), uniform_cluster(1, 1024, 1)
    fifo = simulate(workload, cluster, "fifo")
    own = simulate(workload, cluster, f"{EXAMPLE}:shortest_first", check=True)
    assert fifo.jobs["ended_at_ms"].to_list() == [4000, 5000]
    assert own.jobs["ended_at_ms"].to_list() == [5000, 2000]
