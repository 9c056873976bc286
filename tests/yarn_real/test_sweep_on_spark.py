"""A sweep as a Spark application on a real YARN, one of whose executors is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from benchmarks.spark_on_yarn import spark_environment
from polars.testing import assert_frame_equal

from heddle.cli.main import run
from heddle.yarn.testbed.local.cluster import LocalCluster
from yarn_real.conftest import absent


def test_a_sweep_with_an_executor_killed_is_that_of_one_process(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("pyspark") is None:
        absent("pyspark is not installed: pip install 'heddle[spark]'")
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(
        "workloads: ['burst(jobs=12)']\npolicies: [fifo, fair]\nclusters: [1x65536x24]\nloads: [1, 2, 3]\nseeds: 8\n"
    )
    assert run(["sweep", "run", "sweep.yaml", "-o", "local", "--on", "local:1"]) == 0

    conf = tmp_path / "conf"
    conf.mkdir()
    environment = os.environ | spark_environment(cluster, conf)
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "sweep", "run", "sweep.yaml"]
    with subprocess.Popen(
        [*command, "-o", "spark", "--on", "spark:yarn"], env=environment, stderr=subprocess.PIPE, text=True
    ) as driver:
        killed = kill_one_executor_after(Path("spark/runs"), driver)
        _, said = driver.communicate(timeout=400)
    assert driver.returncode == 0, said
    assert killed, "an executor was there to be killed while runs were left"
    tables = [pl.read_parquet(f"{folder}/runs/*.parquet").sort("key") for folder in ("local", "spark")]
    assert tables[0].height == tables[0]["key"].n_unique() == 48
    assert_frame_equal(*(table.drop("simulate_s") for table in tables), check_exact=True)


def kill_one_executor_after(results: Path, driver: subprocess.Popen[str], first: int = 3) -> bool:
    """As soon as some runs are done; whether there was one."""
    while driver.poll() is None and len(list(results.glob("*.parquet"))) < first:
        time.sleep(0.02)
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
            ours = str(Path.cwd()).encode() in (entry / "environ").read_bytes() if words else False
        except OSError:
            continue
        if ours and words[0].endswith(b"java") and any(b"YarnCoarseGrainedExecutorBackend" in word for word in words):
            os.kill(int(entry.name), 9)
            return True
    return False
