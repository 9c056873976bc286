"""Papers 2 and 5: their batches and jobs, how idle reduces are measured, and predictions replayed on a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heddle.analysis.measures.idle_reduces import idle_reduces_gb_h
from heddle.model.cluster import Cluster, Node
from heddle.reproduce.constants import read_constants
from heddle.reproduce.dress.compared import small_jobs, small_waits
from heddle.reproduce.dress.jobs import paper_cluster, twenty
from heddle.reproduce.dress.release import release_of
from heddle.reproduce.haste.batches import JobKind
from heddle.reproduce.haste.four_gb import Tasks
from heddle.reproduce.haste.measures import Measured, makespan, measure
from heddle.reproduce.haste.recorded import RecordedBatch
from heddle.reproduce.haste.settings import ITERATIVE, SAME, SMALL, Settings, relative
from heddle.reproduce.haste.trajectories import seen_by
from heddle.reproduce.haste.why import changes_of
from heddle.reproduce.job_times import JobResults, job_results
from heddle.reproduce.lab import Lab
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.parquet import write_parquet


@pytest.fixture(scope="module")
def haste() -> Settings:
    return Settings(Lab(lambda *_: iter(()), Path()), read_constants("haste"))


def test_batches_of_the_five_settings(haste: Settings) -> None:
    batches = haste.batches()
    same, cluster = batches[SAME, "cpu, reduces as given"]
    workload = same.jobs(0)
    assert workload.n_jobs == 4
    assert workload.n_tasks == 4 * 46
    assert cluster.total_allowance() == (8 * 8192, 64_000)
    iterative = batches[ITERATIVE, "third, reduces as given"][0].jobs(0)
    assert sorted(iterative.jobs["iterative"].tolist()) == [0, 0, 0, 0, 1, 1]
    assert iterative.stages["iteration"].max() == 5


def test_every_change_of_the_why_table_changes_something(haste: Settings) -> None:
    case = haste.batches()[SAME, "memory, reduces as given"]
    changes = changes_of(haste)
    changed = {name for name, change in changes.items() if change(case) != case}
    assert changed == set(changes) - {"nothing"}


@pytest.mark.parametrize(
    ("name", "reduce"),
    [("reduces as given", (2048, 1)), ("reduces of 1 maps", (3072, 1)), ("reduces of 2 maps", (6144, 1))],
)
def test_every_batch_is_run_with_reduces_of_three_sizes(haste: Settings, name: str, reduce: tuple[int, int]) -> None:
    batches = haste.batches()
    batch, _ = batches[SAME, f"memory, {name}"]
    assert {(kind.reduce_mb, kind.reduce_vcores) for _, kind in batch.kinds} == {reduce}
    assert sum(of.endswith(name) for _, of in batches) * 3 == len(batches) == 33


@pytest.mark.parametrize(("policy", "changes"), [("fair", False), ("ffd-dp", False), ("fifo(yarn=true)", True)])
def test_tasks_share_vcores_only_where_they_are_promised_twice(haste: Settings, policy: str, changes: bool) -> None:
    batch, cluster = haste.batches()[SAME, "cpu, reduces as given"]
    given, used = (measure(one, cluster, policy, 0) for one in (batch, replace(batch, uses_demand=True)))
    assert given is not None
    assert used is not None
    assert (given.makespan_s != used.makespan_s) is changes


def test_demands_are_cut_to_what_small_nodes_hold(haste: Settings) -> None:
    batch, cluster = haste.batches()[SMALL, "mixed, reduces of 2 maps"]
    assert (batch.jobs(0).shapes <= np.array(cluster.nodes[0].allowance)).all()
    kind = JobKind(1, 1, 3072, 3, 1024, 1, 1.0, 1.0, 0).cut_to(2048, 2)
    assert (kind.map_mb, kind.map_vcores, kind.reduce_mb, kind.reduce_vcores) == (2048, 2, 1024, 1)


def test_reduces_that_wait_for_maps_are_idle() -> None:
    """Two maps of 10 s and 100 s, a reduce that may start after half of them and holds 2048 MB for 90 s."""
    stages = [
        StageSpec("map-0", (1024, 1000), [TaskSpec(10_000), TaskSpec(100_000)]),
        StageSpec("reduce-0", (2048, 1000), [TaskSpec(5_000)], after=("map-0",), slow_start_permille=500),
    ]
    cluster = Cluster((Node("n", (8192, 8000), (8192, 8000)),))
    run = simulate(build("idle", [JobSpec("job", 0, stages)]), cluster, "fifo")
    assert idle_reduces_gb_h(run) == pytest.approx(2 * 90 / 3600)


def test_ratios_need_every_batch() -> None:
    def measured(span: float) -> Measured:
        return Measured(span, 1.0, 1.0, 1.0, 0.0)

    results = {
        ("s", "a", "haste", 0): measured(80.0),
        ("s", "b", "haste", 0): measured(90.0),
        ("s", "a", "fifo", 0): measured(100.0),
        ("s", "b", "fifo", 0): measured(100.0),
        ("s", "a", "haste", 1): None,
        ("s", "b", "haste", 1): measured(90.0),
        ("s", "a", "fifo", 1): measured(100.0),
        ("s", "b", "fifo", 1): measured(100.0),
    }
    assert relative(results, "s", "haste", "fifo", makespan) == {0: pytest.approx(0.85)}


def test_twenty_jobs_one_every_five_seconds() -> None:
    known = read_constants("dress")
    for kind in ("spark", "map-reduce", "mixed"):
        jobs = twenty(known, "moderate", kind, 0.3)  # type: ignore[arg-type]
        workload = jobs.jobs(0)
        assert workload.jobs["submit_at_ms"].tolist() == [5000 * number for number in range(20)]
        assert jobs.small(0).sum() == 6
        small = [workload.job_name(number).endswith("-small") for number in range(20)]
        assert small == jobs.small(0).tolist()
        containers = np.bincount(
            workload.stages["job"], workload.stages["n_tasks"] * np.isin(workload.stages["kind"], (0, 2))
        )
        assert (containers[jobs.small(0)] < 10).all()
        assert (containers[~jobs.small(0)] >= 15).all()


def test_jobs_of_the_figures() -> None:
    known = read_constants("dress")
    for member, rounds, large in (("wordcount", 1, (24, 96)), ("pagerank", 2, (84, 168))):
        jobs = twenty(known, member, "map-reduce", 0.3)
        workload = jobs.jobs(0)
        tasks = np.bincount(workload.stages["job"], workload.stages["n_tasks"]) - 1
        assert (tasks[jobs.small(0)] < 10).all()
        assert large[0] <= tasks[~jobs.small(0)].min() <= tasks[~jobs.small(0)].max() <= large[1]
        first = int(np.flatnonzero(~jobs.small(0))[0])
        stages = workload.stages[workload.stages["job"] == first]
        assert len(stages) == 1 + 2 * rounds
        last_reduce = int(stages["first_task"][2] + stages["n_tasks"][2] - 1)
        assert workload.tasks["duration_ms"][last_reduce] == 1260
        others = workload.tasks["duration_ms"][stages["first_task"][1] : last_reduce]
        assert others.mean() == pytest.approx(18_250, rel=0.05)


def test_waits_of_small_jobs_are_summed() -> None:
    jobs = twenty(read_constants("dress"), "moderate", "spark", 0.1)
    before, after = np.full(20, 100.0), np.full(20, 100.0)
    before[np.flatnonzero(jobs.small(0))] = (0.0, 200.0)
    after[np.flatnonzero(jobs.small(0))] = (50.0, 50.0)
    results = [JobResults(one, one, one, True) for one in (before, after)]
    assert small_waits(results[0], results[1], jobs, 0) == pytest.approx(50.0)


def test_small_jobs_are_averaged_job_by_job() -> None:
    jobs = twenty(read_constants("dress"), "moderate", "spark", 0.1)
    small = jobs.small(0)
    before, after = np.full(20, 100.0), np.full(20, 100.0)
    after[np.flatnonzero(small)] = (50.0, 80.0)
    results = [JobResults(one, one, one, True) for one in (before, after)]
    assert small_jobs(results[0], results[1], jobs, 0) == pytest.approx(35.0)


def test_a_staggered_phase_is_predicted_second_by_second() -> None:
    """Twenty equal tasks that start one after another: they will end one after another, and that is seen coming."""
    jobs = [
        JobSpec(f"feeder-{n}", 0, [StageSpec("tasks", (1024, 1000), [TaskSpec(1000 * (n + 1))])]) for n in range(20)
    ]
    jobs.append(JobSpec("phase", 0, [StageSpec("tasks", (1024, 1000), [TaskSpec(60_000)] * 20)]))
    cluster = Cluster((Node("n", (32768, 20_000), (32768, 20_000)),))
    run = simulate(build("ramp", jobs), cluster, "fifo", record=True)
    found = release_of(run, 10_000)
    assert found.true.sum() == 40
    # (3) is 20 * (t - 61) / 19: 20 / 19 of them in each second. As printed, all since the first end, again and again.
    assert found.predicted[67:80].tolist() == pytest.approx([20 / 19] * 13, abs=0.01)
    assert found.printed[67:80].tolist() == pytest.approx([20 * k / 19 for k in range(6, 19)], abs=0.01)
    assert found.true[67:80].tolist() == [1] * 13


def test_the_cluster_of_dress_holds_a_hundred_containers() -> None:
    assert paper_cluster(read_constants("dress")).total_allowance()[1] == 100_000


def test_first_fit_decreasing_pairs_what_fifo_does_not(haste: Settings) -> None:
    tasks = Tasks((1024, 3072), 2, 10)
    node = Cluster((Node("node", (4096, 64_000), (4096, 64_000)),))
    by_seed = {
        seed: [job_results(tasks, node, policy, seed).makespan_s for policy in ("fifo", "ffd-dp")] for seed in range(8)
    }
    assert {packed for _, packed in by_seed.values()} == {20.0}  # 3 + 1 and 3 + 1
    assert {fifo for fifo, _ in by_seed.values()} == {20.0, 30.0}  # 1 + 1, 3, 3 in some orders


def test_terms_of_a_run_are_those_of_the_lever(haste: Settings) -> None:
    batch, cluster = haste.batches()[ITERATIVE, "third, reduces as given"]
    found = {
        name.partition("-")[0]: seen for name, seen in seen_by(batch, cluster, "haste-a(urgency=assigned)", 0).items()
    }
    assert set(found) == {name for name, _ in batch.kinds}
    for seen in found.values():
        assert len(seen.at_s) == len(seen.terms) == len(seen.raw_urgency)
        assert all(0 <= value <= 1 for terms in seen.terms for value in terms)
    assert found["terasort"].mean("alignment") == 0
    assert found["kmeans"].mean("alignment") > 0
    # Nothing is assigned at first; the last map that is looked at has 23 of 24 before it.
    assert found["scan"].raw_urgency[0] == 0
    assert found["scan"].urgency_grows_by > 0


def test_recorded_batches_have_maps_and_reduces_of_a_trace(tmp_path: Path) -> None:
    stages = [StageSpec("map", (1024, 1000), [TaskSpec(7000)] * 3), StageSpec("reduce", (2048, 1000), [TaskSpec(9000)])]
    large = [StageSpec("map", (1024, 1000), [TaskSpec(7000)] * 9), stages[1]]
    write_parquet(
        build("t", [JobSpec("a", 0, stages), JobSpec("b", 0, large), JobSpec("c", 0, stages[:1])]), tmp_path / "t"
    )
    batch = RecordedBatch(str(tmp_path / "t"), 5, 8, 8, 10_000, (1024, 1000), 50, 3000)
    drawn = batch.jobs(0)
    assert drawn.n_jobs == 5
    assert drawn.stages["n_tasks"].reshape(5, 3)[:, 1:].tolist() == [[1, 3]] * 5
    assert sorted(set(drawn.tasks["duration_ms"].tolist())) == [0, 7000, 9000]
