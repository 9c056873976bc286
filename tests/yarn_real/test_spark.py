"""Spark on a real YARN: one job that ends well and one that does not."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.record.files import read_record
from heddle.yarn.testbed.local.cluster import LocalCluster
from yarn_real.accounts import agrees_with_yarn
from yarn_real.conftest import absent


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
