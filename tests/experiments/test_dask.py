"""Runs on a real Dask scheduler with two worker processes, which are killed under them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from experiments.dask_processes import DaskProcesses, kill
from experiments.small_runs import (
    Counted,
    Meeting,
    Reads,
    Small,
    ends_its_worker,
    process_that_met,
    read_there,
    small_run,
)
from experiments.test_engines import wait_until
from heddle.cli.main import run
from heddle.experiments.attempts import Failed, WorkerDied
from heddle.experiments.engines import AHEAD, engine_named
from heddle.experiments.sweep_store import SweepStore
from heddle.experiments.workers import dask_engine
from heddle.experiments.workers.dask_engine import DaskEngine
from heddle.experiments.workers.versions import Version
from heddle.model.errors import BadInput, RunRefused
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload
from heddle.traces.parquet import write_parquet

LEVER = Path(__file__).parents[2] / "examples" / "shortest_first.py"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine Dask's processes take longer to start than people would wait."""
    monkeypatch.setattr(dask_engine, "FOUND_WITHIN_S", 300.0)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    processes = DaskProcesses(tmp_path_factory.mktemp("dask"))
    try:
        yield processes
    finally:
        processes.close()


@pytest.fixture
def engine(dask: DaskProcesses) -> Iterator[DaskEngine]:
    made = engine_named(dask.on)
    assert isinstance(made, DaskEngine)
    try:
        yield made
    finally:
        made.close()


def test_every_result_comes_once_and_errors_are_told_of_their_runs(engine: DaskEngine) -> None:
    found = list(engine.run(small_run, [Small(number) for number in (3, -1, 2)]))
    assert sorted(number for number, _ in found) == [0, 1, 2]
    failed = dict(found)[1]
    assert (dict(found)[0], dict(found)[2]) == (9, 4)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, BadInput)
    assert failed.says == "number: is negative"


def test_both_workers_take_part_and_no_run_is_computed_here(engine: DaskEngine, tmp_path: Path) -> None:
    engine._client.wait_for_workers(2, timeout=120)  # the second may still be starting
    assert "workers: 2" in engine.about
    found = {process for _, process in engine.run(process_that_met, [Meeting(str(tmp_path), processes=2)] * 20)}
    assert len(found) == 2
    assert os.getpid() not in found


def test_few_runs_are_under_way_however_many_there_are(engine: DaskEngine) -> None:
    many = Counted(200)
    for done, _ in enumerate(engine.run(small_run, many)):
        assert many.taken - done <= 2 * AHEAD + 1
    assert many.taken == 200
    assert not engine._client.futures, "nor is anything kept of those that are done"


def test_who_stops_asking_leaves_nothing_behind(engine: DaskEngine) -> None:
    """As Ctrl-C does: what is queued is cancelled, what runs ends by itself."""
    runs = engine.run(small_run, [Small(number, takes_s=0.2) for number in range(50)])
    next(runs)
    runs.close()  # type: ignore[attr-defined]
    wait_until(lambda: engine._client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0)
    plugins = engine._client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.worker_plugins))
    assert not [name for name in plugins if name.startswith("heddle")]


def test_files_and_clusters_are_brought_once_and_kept_apart_by_what_is_in_them(
    engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster = load_cluster("1000x65536x24")
    places = []
    for content in ("of Monday", "of Tuesday"):
        Path("jobs.txt").write_text(content)
        found = dict(engine.run(read_there, [Reads("jobs.txt", cluster)] * 6))
        assert {(said, name, nodes) for said, _, name, nodes in found.values()} == {(content, "jobs.txt", 1000)}
        places.append({place for _, place, _, _ in found.values()})
        assert str(tmp_path) not in places[-1]
    assert not places[0] & places[1]


def test_other_versions_are_refused_before_any_work(dask: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "version_here", lambda: Version("0123456789abcdef", "3.11"))
    with pytest.raises(RunRefused) as refused:
        engine_named(dask.on)
    assert str(refused.value).count("has another heddle: sources ") == 2
    assert "not 0123456789abcdef" in str(refused.value)


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "FOUND_WITHIN_S", 1.0)
    with pytest.raises(BadInput, match="no Dask scheduler within 1 s"):
        engine_named("dask://127.0.0.1:9")


def test_a_sweep_with_a_worker_killed_is_that_of_one_process(
    dask: DaskProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Own levers and a recorded trace travel: the names are those of the driver's folder, which workers do not see."""
    monkeypatch.chdir(tmp_path)
    write_parquet(load_workload("burst(jobs=12)", 5), Path("trace.parquet"))
    Path("mine.py").write_text(LEVER.read_text())
    Path("sweep.yaml").write_text(
        "workloads: [trace.parquet, 'burst(jobs=6)']\npolicies: [fifo, 'mine.py:shortest_first']\n"
        "clusters: [1x65536x24]\nloads: [1, 2, 3]\nseeds: 3\n"
    )
    assert run(["sweep", "run", "sweep.yaml", "-o", "local", "--on", "local:1"]) == 0

    killed: list[int] = []
    kept = SweepStore.put

    def keep_and_kill(store: SweepStore, *row: Any) -> None:
        kept(store, *row)
        if not killed:
            kill(dask.workers[0])
            killed.append(dask.workers[0].pid)

    monkeypatch.setattr(SweepStore, "put", keep_and_kill)
    assert run(["sweep", "run", "sweep.yaml", "-o", "dask", "--on", dask.on]) == 0
    assert killed
    tables = [pl.read_parquet(f"{folder}/runs/*.parquet").sort("key") for folder in ("local", "dask")]
    assert tables[0].height == tables[0]["key"].n_unique() == 36
    assert_frame_equal(*(table.drop("simulate_s") for table in tables), check_exact=True)


def test_a_scheduler_that_is_started_again_finds_the_rest_of_the_runs(dask: DaskProcesses, engine: DaskEngine) -> None:
    found: list[tuple[int, int | Failed]] = []
    for one in engine.run(small_run, [Small(number, takes_s=0.05) for number in range(30)]):
        found.append(one)
        if len(found) == 5:
            dask.close()
            dask.scheduler = dask.start_scheduler()
            dask.workers = [dask.start_worker(), dask.start_worker()]
    assert sorted(number for number, _ in found) == list(range(30)), "each once"
    assert all(result == number**2 for number, result in found)


def test_a_run_that_ends_its_worker_fails_alone() -> None:
    """On a cluster of its own, `dask:1`, whose nannies start workers again."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        engine = engine_named("dask:1")
    assert isinstance(engine, DaskEngine)
    try:
        found = dict(engine.run(ends_its_worker, [Small(number) for number in (1, -1, 2, 3, 4)]))
    finally:
        engine.close()
    failed = [number for number, result in found.items() if isinstance(result, Failed)]
    assert 1 in failed
    assert len(found) == 5
    assert isinstance(found[1].error, WorkerDied)
    assert len(failed) <= AHEAD, "at most what was on the same worker"
