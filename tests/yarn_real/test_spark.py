"""Spark on a real YARN: one job that ends well and one that does not; and what a driver tells of its stages.

HEDDLE_RECORD_SHAPES=1 writes tests/twin/spark_shapes.json anew.
"""

import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.record.files import read_record
from heddle.twin.masters import Masters
from heddle.twin.spark_stages import QUANTILES, SparkTold
from heddle.yarn.live.client import RmClient
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.mixture import SparkJob
from heddle.yarn.testbed.programs.spark import submit_spark
from yarn_live.shapes import check_recorded, shape_of
from yarn_real.accounts import agrees_with_yarn
from yarn_real.conftest import absent

SHAPES = Path(__file__).parents[1] / "twin" / "spark_shapes.json"
PATIENCE_S = 180.0


def test_spark_jobs_run_and_are_accounted_for(
    cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec("pyspark") is None:
        absent("pyspark is not installed: pip install -e '.[spark]'")
    (tmp_path / "mine.py").write_text("import sys\nraise ValueError(f'nothing to count in {sys.argv[1]}')\n")
    mixture = tmp_path / "jobs.yaml"
    mixture.write_text(
        "jobs:\n"
        "  - {kind: spark, name: nap, program: sleep, arguments: [2, 500]}\n"
        "  - {kind: spark, application: mine.py, arguments: [here]}\n"
    )
    record = tmp_path / "record"
    assert run(["yarn", "run", str(mixture), "--name", "session", "--record", str(record), "--json"]) == 1
    nap, mine = json.loads(capsys.readouterr().out)["jobs"]
    assert (nap["kind"], nap["outcome"], nap["diagnostics"]) == ("spark", "SUCCEEDED", "")
    assert nap["submitted_at_ms"] < nap["started_at_ms"] < nap["finished_at_ms"]
    assert (mine["name"], mine["outcome"]) == ("mine-2", "FAILED")
    assert mine["diagnostics"].startswith("ValueError: nothing to count in here; ")
    # Nothing is left of what was staged; logs and caches lie with the cluster's nodes and go with them.
    assert [entry for entry in (cluster.folder / "staging").iterdir() if entry.name.startswith("run-")] == []

    agrees_with_yarn(read_record(record), jobs={nap["name"], mine["name"]})


def test_a_driver_tells_its_stages_through_the_proxy(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    """Four tasks in one executor with one slot: one of them has finished when the driver is asked."""
    if find_spec("pyspark") is None:
        absent("pyspark is not installed: pip install -e '.[spark]'")
    job = SparkJob("told", 0, "root.default", "sleep", ("4", "15000"), (("spark.ui.enabled", "true"),), ())
    client = submit_spark(job, cluster, tmp_path, tmp_path / "log")
    app_id = None
    try:
        deadline = time.monotonic() + PATIENCE_S
        while app_id is None and time.monotonic() < deadline:
            assert client.failed() is None
            app_id = client.app_id()
            time.sleep(0.5)
        assert app_id is not None
        told = _told(rm, app_id, deadline)
        (stage,) = told.stages
        assert (told.slots, stage.tasks, stage.is_over) == (1, 4, False)
        assert len(stage.running_at_ms) == 1
        assert all(took_ms >= 15_000 for took_ms in stage.took_ms)
        root = f"/proxy/{app_id}/api/v1/applications/{app_id}"
        answers: dict[str, Any] = {
            "stages": rm.get_list(f"{root}/stages", withSummaries="true", quantiles=QUANTILES),
            "tasks": rm.get_list(f"{root}/stages/{stage.id}/0/taskList", status="running"),
            "executors": rm.get_list(f"{root}/executors"),
        }
    finally:
        client.stop()
        if app_id is not None:
            rm.kill(app_id)
    shapes = {name: shape_of(answer) for name, answer in answers.items()}
    check_recorded(shapes, SHAPES)


def _told(rm: RmClient, app_id: str, deadline: float) -> SparkTold:
    """As soon as a task has finished."""
    masters = Masters(rm)
    while time.monotonic() < deadline:
        masters.ask([], [app_id])
        told = masters.spark.get(app_id)
        if told is not None and any(stage.finished and not stage.is_over for stage in told.stages):
            return told
        time.sleep(1)
    raise AssertionError(f"{app_id} has not told: {masters.spark}")
