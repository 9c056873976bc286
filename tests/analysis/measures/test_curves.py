from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from heddle.analysis.measures.curves import run_curves
from heddle.model.workload import INNER
from heddle.record import run as record_run
from heddle.record.run import Run
from record.hand_made import TWO_JOBS, Job, run_of, with_manifest


def test_levels_of_two_jobs_by_hand() -> None:
    # 1 s to 3 s job 0 runs; 2 s to 3 s job 1 waits; 3 s to 6 s it runs. 300 bins over 5 s: 60 per second.
    found = run_curves(run_of(TWO_JOBS))
    assert found.edges_s[0] == 0.0
    assert found.edges_s[-1] == 5.0
    assert found.running == pytest.approx(np.ones(300))
    assert found.pending == pytest.approx(np.repeat([0.0, 1.0, 0.0], [60, 60, 180]))
    assert found.levels["memory"].reserved == pytest.approx(np.full(300, 1000.0))
    assert found.levels["memory"].capacity == 4000.0
    assert found.levels["vcores"].used == pytest.approx(np.full(300, 250.0))


def test_bins_keep_the_area_of_what_is_shorter_than_a_bin() -> None:
    run = run_of([Job(0, 0, 1), Job(0, 7, 8), Job(0, 0, 100_000)])
    found = run_curves(run)
    width_s = 100.0 / 300
    assert found.running[0] == pytest.approx(1 + 0.002 / width_s)
    assert found.running.sum() * width_s == pytest.approx(100.002)
    assert found.pending.sum() * width_s == pytest.approx(0.007)


def test_slices_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    starts = rng.integers(0, 5000, 200)
    run = run_of([Job(0, int(start), int(start + length)) for start, length in zip(starts, range(200), strict=True)])
    whole = run_curves(run)
    monkeypatch.setattr(record_run, "PIECE_ROWS", 7)
    pieces = run_curves(run)
    assert pieces.running == pytest.approx(whole.running)
    assert pieces.levels["memory"].used == pytest.approx(whole.levels["memory"].used)


def test_level_at_random_instants_is_a_count() -> None:
    rng = np.random.default_rng(6)
    starts, lengths = rng.integers(0, 300, 50), rng.integers(1, 200, 50)
    jobs = [Job(0, int(s), int(s + n)) for s, n in zip(starts, lengths, strict=True)]
    jobs.append(Job(0, 0, 600))  # 300 bins of 2 ms
    found = run_curves(run_of(jobs))
    for bin_number in range(300):
        inside = [sum(job.start <= at < job.end for job in jobs) for at in (2 * bin_number, 2 * bin_number + 1)]  # type: ignore[operator]
        assert found.running[bin_number] == pytest.approx(sum(inside) / 2)


def test_distributions_are_quantiles_of_finished_jobs() -> None:
    found = run_curves(run_of([*TWO_JOBS, Job(0, 0, 77_000, outcome="failed")]))
    assert len(found.quantiles) <= 200
    assert (found.completion_s[0], found.completion_s[-1]) == (2.0, 4.0)
    assert (found.wait_s[0], found.wait_s[-1]) == (0.0, 1.0)
    assert np.all(np.diff(found.completion_s) >= 0)


def test_inner_tasks_reserve_nothing_but_use() -> None:
    run = run_of(TWO_JOBS)
    inner = Run(**{**vars(run), "attempts": run.attempts.with_columns(pl.lit(INNER, pl.Int8).alias("kind"))})
    found = run_curves(inner)
    assert found.running.max() == 0.0
    assert found.levels["memory"].reserved.max() == 0.0
    assert found.levels["memory"].used == pytest.approx(np.full(300, 500.0))


def test_stalled_run_holds_what_it_has_to_the_end() -> None:
    stuck = [Job(0, 0, 10_000), Job(0, 5000, None, outcome="unfinished", used=None)]
    found = run_curves(run_of(stuck, outcome="stalled"))
    assert found.running[-1] == pytest.approx(2.0)
    assert found.levels["memory"].used is None


def test_nothing_ran() -> None:
    found = run_curves(run_of([], complete_attempts=False))
    assert found.running.max() == 0.0
    assert len(found.completion_s) == 0
    assert not found.complete
    assert run_curves(with_manifest(run_of(TWO_JOBS), complete_attempts=True)).complete
