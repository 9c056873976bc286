"""The mixture of real jobs that forecasts are scored on: one that `heddle yarn run` understands."""

from __future__ import annotations

from pathlib import Path

import yaml
from benchmarks.real_forecasts import mixture

from heddle.yarn.testbed.mixture import MapReduceJob, SparkJob, load_real_jobs


def test_the_mixture_can_be_run_and_its_drivers_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text(yaml.safe_dump(mixture(60, 20, 18.0, seed=0), sort_keys=False))
    jobs, _ = load_real_jobs(str(path))
    spark = [job for job in jobs if isinstance(job, SparkJob)]
    assert (sum(isinstance(job, MapReduceJob) for job in jobs), len(spark)) == (60, 20)
    assert all(("spark.ui.enabled", "true") in job.options for job in spark)
    assert len({job.name.rpartition("-")[0] for job in jobs}) == 5
    assert max(job.submit_at_ms for job in jobs) <= 18 * 60_000
