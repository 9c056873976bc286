"""What a soak runs: the same for a seed, of all kinds, and as much as it says."""

import pytest

from heddle.yarn.testbed.mixture import MapReduceJob, SparkJob
from heddle.yarn.testbed.replay.plan import ReplayJob
from soak.workload import LEAST_LOAD, MOST_LOAD, mixture

CAPACITY_MB = 3 * 4096


def reserved_mb_s(job: ReplayJob) -> float:
    """Of its tasks, as its plan has it."""
    (stage,) = [line.split() for line in job.lines if line.startswith("stage")]
    return sum(int(stage[1]) * int(line.split()[2]) / 1000 for line in job.lines if line.startswith("task"))


def test_a_seed_means_the_same_jobs() -> None:
    assert mixture(3, 1800, CAPACITY_MB) == mixture(3, 1800, CAPACITY_MB)
    assert mixture(3, 1800, CAPACITY_MB) != mixture(4, 1800, CAPACITY_MB)


def test_all_kinds_come_within_the_time_and_in_order() -> None:
    jobs, _ = mixture(0, 3600, CAPACITY_MB)
    assert {type(job) for job in jobs} == {ReplayJob, MapReduceJob, SparkJob}
    times = [job.submit_at_ms for job in jobs]
    assert times == sorted(times)
    assert times[-1] < 3_600_000
    assert len({job.name for job in jobs}) == len(jobs)


def test_loads_lie_between_50_and_130_percent_and_are_what_is_reserved() -> None:
    """Replayed jobs say exactly what they reserve; they are most of it, and the rest is an estimate."""
    for_s = 40 * 3600.0
    jobs, loads = mixture(1, for_s, CAPACITY_MB)
    assert LEAST_LOAD <= min(loads) < 0.55
    assert 1.25 < max(loads) <= MOST_LOAD
    replayed = [job for job in jobs if isinstance(job, ReplayJob)]
    assert len(replayed) / len(jobs) == pytest.approx(0.8, abs=0.02)
    share = sum(map(reserved_mb_s, replayed)) / CAPACITY_MB / for_s
    assert 0.6 < share < sum(loads) / len(loads)


def test_no_task_uses_more_than_it_reserves() -> None:
    jobs, _ = mixture(2, 3600, CAPACITY_MB)
    for job in jobs:
        if isinstance(job, ReplayJob):
            reserved_mb = int(job.lines[0].split()[1])
            levels = [level for line in job.lines[1:] for level in line.split()[3].split(",")]
            assert all(int(level.split(":")[0]) <= 0.9 * reserved_mb for level in levels)
