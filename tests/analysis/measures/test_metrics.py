from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from heddle.analysis.measures.edges import Edges
from heddle.analysis.measures.metrics import run_metrics
from heddle.record.run import Run
from record.hand_made import TWO_JOBS, Job, run_of, with_manifest

ASKED_FOR = {
    "policy", "seed", "outcome", "reason", "jobs", "tasks", "makespan_s", "jct_s", "wait_s", "slowdown",
    "crashed_tasks", "killed_tasks", "retried_tasks", "failed_jobs", "utilisation", "allocation_efficiency", "fairness",
    "wall_s", "tasks_per_s", "peak_rss_mb",
}  # fmt: skip


def test_two_jobs_by_hand() -> None:
    # Job 0: 1 s to 3 s at once. Job 1: submitted at 2 s, runs 3 s to 6 s. Each holds a quarter of memory and vcores
    # and uses 500 of its 1000 MB and 250 of its 1000 millicores.
    found = run_metrics(run_of(TWO_JOBS))
    assert found.keys() >= ASKED_FOR
    assert found["makespan_s"] == 5.0
    assert found["jct_s"] == {"mean": 3.0, "p50": 3.0, "p95": pytest.approx(3.9), "p99": pytest.approx(3.98)}
    assert found["wait_s"] == {"mean": 0.5, "p50": 0.5, "p95": pytest.approx(0.95), "p99": pytest.approx(0.99)}
    assert found["am_wait_s"] == {"mean": None, "p50": None, "p95": None, "p99": None}
    assert found["slowdown"]["mean"] == 2.0  # 2 s over 1 s, 4 s over 2 s
    assert found["fairness"] == {"jain": 1.0, "max_slowdown": 2.0}
    assert found["utilisation"]["memory"] == {"reserved": 0.25, "used": 0.125}
    assert found["utilisation"]["vcores"] == {"reserved": 0.25, "used": 0.0625}
    assert found["allocation_efficiency"] == {"memory": 0.5, "vcores": 0.25}
    assert found["pending_area_s"] == 1.0
    assert (found["jobs"], found["tasks"], found["tasks_per_s"]) == (2, 2, 4.0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_unequal_slowdowns_by_hand() -> None:
    found = run_metrics(run_of([Job(0, 0, 1000), Job(0, 2000, 3000)]))  # slowdowns 1 and 3
    assert found["fairness"]["jain"] == pytest.approx(16 / (2 * 10))


def test_percentiles_are_numpys_linear() -> None:
    ends = [7, 100, 350, 351, 352, 900, 901, 40_000, 41_000, 42_000, 50_001]
    found = run_metrics(run_of([Job(0, 0, end) for end in ends]))["jct_s"]
    for percent in (50, 95, 99):
        assert found[f"p{percent}"] == pytest.approx(np.percentile(ends, percent) / 1000)


def test_only_finished_jobs_are_averaged_the_others_counted() -> None:
    failed = Job(0, 500, 9000, outcome="failed")
    found = run_metrics(run_of([*TWO_JOBS, failed]))
    assert found["jct_s"]["mean"] == 3.0
    assert (found["failed_jobs"], found["finished_jobs"], found["unfinished_jobs"]) == (1, 2, 0)
    assert found["makespan_s"] == 9.0  # a failed job's end is an end, too


def test_a_stalled_run_has_no_makespan() -> None:
    stuck = Job(0, None, None, outcome="unfinished")
    found = run_metrics(run_of([*TWO_JOBS, stuck], outcome="stalled", reason="am deadlock"))
    assert (found["outcome"], found["reason"], found["unfinished_jobs"]) == ("stalled", "am deadlock", 1)
    assert found["makespan_s"] is None
    assert found["utilisation"]["memory"] == {"reserved": None, "used": None}
    assert found["pending_area_s"] is None
    assert found["jct_s"]["mean"] == 3.0


def test_unknown_use_is_null() -> None:
    found = run_metrics(run_of([TWO_JOBS[0], Job(2000, 3000, 6000, used=None)]))
    assert found["utilisation"]["memory"] == {"reserved": 0.25, "used": None}
    assert found["allocation_efficiency"] == {"memory": None, "vcores": None}


def test_no_jobs_and_no_times_give_null_not_nan() -> None:
    found = run_metrics(run_of([], simulate_s=None, wall_s=None))
    assert found["makespan_s"] is None
    assert found["tasks_per_s"] is None
    assert found["fairness"] == {"jain": None, "max_slowdown": None}
    json.dumps(found, allow_nan=False)


def test_a_job_without_time_alone_has_no_slowdown() -> None:
    found = run_metrics(run_of([Job(0, 0, 0, alone=0), Job(0, 0, 2000)]))
    assert found["slowdown"]["mean"] == 2.0


def test_pending_area_needs_every_attempt() -> None:
    assert run_metrics(with_manifest(run_of(TWO_JOBS), complete_attempts=False))["pending_area_s"] is None


def test_pending_area_counts_attempts_that_never_ran() -> None:
    run = run_of(TWO_JOBS)
    lost = run.attempts[:1].with_columns(
        pl.lit(None, pl.Int64).alias("started_at_ms"), pl.lit(4000, pl.Int64).alias("ended_at_ms")
    )
    more = Run(**{**vars(run), "attempts": pl.concat([run.attempts, lost])})
    assert run_metrics(more)["pending_area_s"] == 1.0 + 3.0


def test_jobs_in_the_edges_are_left_out_of_what_is_about_jobs() -> None:
    run = run_of([Job(0, 0, 1000), Job(5000, 5000, 8000), Job(10_000, 10_000, 11_000)])
    found = run_metrics(run, Edges(warm_up_s=1, cool_down_s=0.5))
    assert found["jct_s"]["mean"] == 3.0
    assert (found["left_out_jobs"], found["warm_up_s"], found["cool_down_s"]) == (2, 1, 0.5)
    assert (found["jobs"], found["finished_jobs"], found["makespan_s"]) == (3, 3, 11.0)
    assert "left_out_jobs" not in run_metrics(run)
