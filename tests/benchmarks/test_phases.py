"""The trial of four phases: what it runs, and how it is summed up phase by phase."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.joined_records import PAUSE_MS, joined
from benchmarks.phases_shown import ALL, changes_pct, completion_s, later, makespan_s, read_runs
from benchmarks.phases_workload import CLUSTER as CLUSTER_FILE
from benchmarks.phases_workload import JOBS, PHASES, STORM_S, four_phases, phase_of

from heddle.record.files import write_record
from heddle.record.manifest import LIVE_SOURCE
from heddle.run import simulate
from heddle.traces.clusters import load_cluster
from heddle.yarn.observe.journal import Journal
from heddle.yarn.testbed.replay.plan import replay_jobs
from heddle.yarn.testbed.trial import TrialRun


def test_it_has_four_phases_and_can_be_replayed() -> None:
    work = four_phases()
    jobs, notes = replay_jobs(work)
    assert {phase_of(job.name) for job in jobs} == set(PHASES.values())
    assert not notes, "every task says what it uses, and every job has an AM"
    storm = [job for job in jobs if phase_of(job.name) == "AM storm"]
    assert sum(job.am[0] for job in storm) == 0.75 * 3 * 4096, "all that AMs may have of three nodes"
    assert min(job.submit_at_ms for job in storm) == 1000 * STORM_S
    assert np.all(np.diff([job.submit_at_ms for job in jobs]) >= 0)


def test_longer_phases_are_waves_of_the_same() -> None:
    once, long = four_phases(), four_phases(4)
    assert (once.n_jobs, long.n_jobs) == (JOBS, 4 * JOBS)
    assert {long.job_name(job) for job in range(long.n_jobs)} >= {once.job_name(job) for job in range(once.n_jobs)}
    begins = {phase_of(long.job_name(job)): int(long.jobs["submit_at_ms"][job]) for job in reversed(range(long.n_jobs))}
    assert (begins["over-reserved"], begins["AM storm"]) == (0, 4000 * STORM_S)


def made(number: int, policy: str, longer: float, storm: float = 1.0) -> TrialRun:
    times = {job.name: 10.0 * longer for job in replay_jobs(four_phases())[0]}
    times |= {job: time * storm for job, time in times.items() if phase_of(job) == "AM storm"}
    return TrialRun(number, policy, 200.0, 10.0, len(times), 0, 0, 0.9, times)


def test_changes_are_against_stock_in_the_same_round(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "trial.jsonl")
    journal.add({"policies": ["stock", "weave"]})
    for run in (made(0, "stock", 1), made(0, "weave", 0.5), made(1, "weave", 1.5, storm=2), made(1, "stock", 2)):
        journal.add(asdict(run))
    journal.flush()
    policies, runs = read_runs(tmp_path)
    assert policies == ["stock", "weave"]
    mean, interval = changes_pct(runs, "weave", "stock", lambda run: completion_s(run, "tight memory"))
    assert mean == pytest.approx((-50 - 25) / 2)
    assert interval is not None
    assert interval[0] < -50 < -25 < interval[1]
    assert set(later(runs, "weave", "stock")) == {f"hourly-{number}" for number in range(12)}
    first = runs[0]
    assert makespan_s(first, "AM storm") == pytest.approx(11 / 3 + 10, abs=0.01)
    assert completion_s(first, ALL) == 10


def test_records_are_joined_one_after_the_other(tmp_path: Path) -> None:
    cluster = load_cluster(CLUSTER_FILE)
    found = simulate(four_phases(), cluster, "capacity", record=True)
    about = found.manifest["workload"] | {"about": {"source": LIVE_SOURCE}}
    write_record(replace(found, manifest=found.manifest | {"workload": about}), tmp_path / "record")
    work, on = joined([tmp_path / "record"] * 2)
    assert work.n_jobs == 2 * found.jobs.height
    first, second = (work.jobs["submit_at_ms"][half].min() for half in (slice(0, 30), slice(30, 60)))
    assert first == 0
    assert second == found.jobs["ended_at_ms"].to_numpy().max() + PAUSE_MS
    assert on.n_nodes == cluster.n_nodes
