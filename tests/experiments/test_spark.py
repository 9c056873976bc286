"""Runs on Spark with a local master: the same engine as on YARN (tests/yarn_real), in seconds."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from experiments.small_runs import Counted, Reads, Small, ends_its_worker, process_of, read_there, small_run
from heddle.experiments.attempts import Failed, WorkerDied
from heddle.experiments.engines import LocalProcesses, engine_named
from heddle.experiments.sweep_file import read_sweep
from heddle.experiments.sweep_run import run_row
from heddle.model.errors import BadInput, HeddleError, RunRefused
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload
from heddle.traces.parquet import write_parquet
from heddle.yarn.testbed.local.java import find_java

if find_spec("pyspark") is None:
    if os.environ.get("CI") == "true":
        pytest.fail("needed with CI=true: pip install 'heddle[spark]'")
    pytest.skip("pyspark is not installed: pip install 'heddle[spark]'", allow_module_level=True)

from pyspark import SparkContext

from heddle.experiments.workers import spark_engine
from heddle.experiments.workers.spark_engine import WAVES, SparkEngine
from heddle.experiments.workers.versions import Version

# Py4J leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
LEVER = Path(__file__).parents[2] / "examples" / "shortest_first.py"


@pytest.fixture(scope="module")
def engine() -> Iterator[SparkEngine]:
    try:
        find_java()
    except HeddleError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"needed with CI=true: {error}")
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.ui.enabled=false pyspark-shell")
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        made = engine_named("spark:local[2]")
        assert isinstance(made, SparkEngine)
        try:
            yield made
        finally:
            made.close()
            SparkContext._gateway.shutdown()  # or its sockets end in other tests, whose warnings are errors
            SparkContext._gateway = SparkContext._jvm = None
            gc.collect()


def test_every_result_comes_once_and_errors_are_told_of_their_runs(engine: SparkEngine) -> None:
    assert engine.about.startswith("spark on local[2], application local-")
    found = list(engine.run(small_run, [Small(number) for number in (3, -1, 2, 4, 5)]))
    assert sorted(number for number, _ in found) == [0, 1, 2, 3, 4]
    failed = dict(found)[1]
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, BadInput)
    assert {number: result for number, result in found if number != 1} == {0: 9, 2: 4, 3: 16, 4: 25}


def test_processes_are_kept_from_run_to_run(engine: SparkEngine) -> None:
    found = {process for _, process in engine.run(process_of, [None] * 20)}
    assert 1 <= len(found) <= 2 * WAVES
    assert os.getpid() not in found


def test_few_runs_are_under_way_however_many_there_are(engine: SparkEngine) -> None:
    many = Counted(20)
    for done, _ in enumerate(engine.run(small_run, many)):
        assert many.taken - done <= 2 * WAVES + 2
    assert many.taken == 20


def test_files_and_clusters_are_brought(engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cluster = load_cluster("1000x65536x24")
    for content in ("of Monday", "of Tuesday"):
        Path("jobs.txt").write_text(content)
        found = dict(engine.run(read_there, [Reads("jobs.txt", cluster)] * 4))
        assert {(said, name, nodes) for said, _, name, nodes in found.values()} == {(content, "jobs.txt", 1000)}
        assert str(tmp_path) not in {place for _, place, _, _ in found.values()}


def test_a_run_that_ends_its_worker_fails_alone(engine: SparkEngine) -> None:
    found = list(engine.run(ends_its_worker, [Small(number) for number in (1, 2, -1, 3, 4)]))
    assert sorted(number for number, _ in found) == [0, 1, 2, 3, 4], "each once"
    failed = dict(found)[2]
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, WorkerDied)
    assert {number: result for number, result in found if number != 2} == {0: 1, 1: 2, 3: 3, 4: 4}


def test_other_versions_are_refused_before_any_work(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_engine, "version_here", lambda: Version("0123456789abcdef", "3.11"))
    with pytest.raises(RunRefused, match=r"has another heddle: sources .*, not 0123456789abcdef"):
        engine._check()


def test_rows_are_those_of_one_process(engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_parquet(load_workload("burst(jobs=12)", 5), Path("trace.parquet"))
    Path("mine.py").write_text(LEVER.read_text())
    Path("sweep.yaml").write_text(
        "workloads: [trace.parquet]\npolicies: [fifo, 'mine.py:shortest_first']\nclusters: [1x65536x24]\nseeds: 2\n"
    )
    runs = read_sweep(Path("sweep.yaml")).runs
    tables = [pl.DataFrame([row for _, row in sorted(one.run(run_row, runs))]) for one in (LocalProcesses(1), engine)]
    assert tables[0].height == 4
    assert_frame_equal(*(table.drop("simulate_s") for table in tables), check_exact=True)


def test_zip_files_are_forgotten_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "packed.zip"
    with ZipFile(packed, "w") as archive:
        archive.writestr("first_in_zip.py", "")
        archive.writestr("second_in_zip.py", "")
    monkeypatch.syspath_prepend(str(packed))
    import_module("first_in_zip")
    assert str(packed) in sys.path_importer_cache
    spark_engine._forget_zips()
    assert str(packed) not in sys.path_importer_cache
    import_module("second_in_zip")
