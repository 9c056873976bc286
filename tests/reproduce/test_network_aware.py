"""Paper 4: random DAGs, recorded ones drawn anew, and the traffic that recorded coflows stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.reproduce.constants import read_constants
from heddle.reproduce.lab import Scores
from heddle.reproduce.network_aware.ablation import ablation
from heddle.reproduce.network_aware.dags import dags, paper_cluster, task_demand
from heddle.reproduce.network_aware.recorded import RecordedDags, mean_port_mbps
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.parquet import write_parquet

DEMAND = (1024, 1000)
MB = 1_000_000


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A DAG of three stages with 30 MB on its edges, one with too long a task, one with too many, one without bytes."""
    small = [
        StageSpec("a", DEMAND, [TaskSpec(1000), TaskSpec(3000)]),
        StageSpec("b", DEMAND, [TaskSpec(2000)], after=("a",), after_bytes=(10 * MB,)),
        StageSpec("c", DEMAND, [TaskSpec(2000)], after=("a", "b"), after_bytes=(15 * MB, 5 * MB)),
    ]
    pair = [StageSpec("a", DEMAND, [TaskSpec(1000)])]
    long, many, still = (
        [*pair, StageSpec("b", DEMAND, [TaskSpec(ms)] * count, after=("a",), after_bytes=(sent,))]
        for ms, count, sent in ((90_000, 1, 50 * MB), (1000, 9, 50 * MB), (1000, 1, 0))
    )
    jobs = [JobSpec(name, 0, stages) for name, stages in zip("slmn", (small, long, many, still), strict=True)]
    path = tmp_path / "trace.parquet"
    write_parquet(build("trace", jobs), path)
    return str(path)


def drawn(path: str, bytes_per_ms: int = 0, least_bytes: int = 20 * MB) -> RecordedDags:
    return RecordedDags(path, 5, 6, 60_000, least_bytes, bytes_per_ms, DEMAND)


def test_only_dags_within_the_bounds_are_drawn(trace: str) -> None:
    made = drawn(trace).jobs(0)
    assert [made.job_name(number) for number in range(made.n_jobs)] == [f"s-{place}" for place in range(5)]
    assert made.edge_bytes is not None
    assert made.edge_bytes[:3].tolist() == [10 * MB, 15 * MB, 5 * MB]
    assert made.jobs["submit_at_ms"].tolist() == [0] * 5


def test_other_seeds_draw_other_dags(trace: str) -> None:
    source = drawn(trace, least_bytes=0)
    names = {tuple(made.job_name(n) for n in range(5)) for made in map(source.jobs, range(6))}
    assert len(names) > 1
    assert all(name[0] in "sn" for row in names for name in row)


def test_where_no_bytes_are_recorded_a_stage_hands_on_by_its_work(trace: str) -> None:
    # Stage a worked for 4000 ms, b for 2000 ms; 5000 bytes for each: a hands on 20 MB, twice, and b 10 MB.
    made = drawn(trace, bytes_per_ms=5000).jobs(0)
    assert made.edge_bytes is not None
    assert sorted(made.edge_bytes[:3].tolist()) == [10 * MB, 20 * MB, 20 * MB]


def test_traffic_of_recorded_coflows() -> None:
    # Two ports, 20 MB in 10 s: 16 Mbit/s, 8 to each port.
    def coflow(name: str, at_ms: int) -> JobSpec:
        maps = StageSpec("map", DEMAND, [TaskSpec(1, prefers=f"node-{n}") for n in range(2)])
        return JobSpec(
            name, at_ms, [maps, StageSpec("reduce", DEMAND, [TaskSpec(1)], after=("map",), after_bytes=(10 * MB,))]
        )

    assert mean_port_mbps(build("coflows", [coflow("a", 0), coflow("b", 10_000)])) == pytest.approx(8.0)


def test_random_dags_have_narrow_dependencies_and_hosts_one_task() -> None:
    known = read_constants("network-aware")
    made = dags(known, known["ensemble.light"], 3).jobs(0)
    assert made.n_jobs == 3
    later = made.stages["n_after"][made.stages["n_after"] > 0]
    assert later.min() >= 1
    assert later.max() <= 3
    cluster = paper_cluster(known, 100)
    assert len(cluster.nodes) == 200
    assert task_demand(known)[1] == cluster.nodes[0].allowance[1]
    assert cluster.network is not None
    assert cluster.network.rack_uplink_mbps == 500  # a quarter of 20 hosts


def test_hosts_of_several_slots_run_as_many_tasks_in_all() -> None:
    known = read_constants("network-aware")
    for name, (_, slots) in known.of("ensemble").items():
        cluster = paper_cluster(known, 100, slots)
        memory_mb, millicores = task_demand(known)
        fits = [min(node.allowance[0] // memory_mb, node.allowance[1] // millicores) for node in cluster.nodes]
        assert set(fits) == {slots}, name
        assert sum(fits) == 200
        hosts = {node.name for node in cluster.nodes}
        made = dags(known, (20.0, slots), 3).jobs(0)
        assert set(made.hosts) <= hosts


def test_ablation_compares_each_form_with_the_one_without() -> None:
    known = read_constants("network-aware")
    spans = {"paper": 100.0, "late": 90.0, "paper_nearness": 110.0, "late_nearness": 99.0, "stock_early": 150.0}
    spans["fetch"] = 66.0
    runs = {
        (("m", 10), str(known[f"policy.{name}"]), seed): {"outcome": "finished", "makespan_s": span}
        for name, span in spans.items()
        for seed in (0,)
    }
    table = ablation(known, Scores(runs), {"m": "20 MB"}, [10])
    assert [row[1:] for row in table.rows] == [
        ("20 MB", "+10.0"),
        ("20 MB", "+10.0"),
        ("20 MB", "+50.0"),
        ("20 MB", "-10.0"),
        ("20 MB", "+50.0"),
    ]
