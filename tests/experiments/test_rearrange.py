from __future__ import annotations

import numpy as np
import pytest

from heddle.experiments.rearrange import TooShort, at_load, block_length_ms, n_blocks_of, resampled
from heddle.model.workload import Workload
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import load_cluster
from heddle.traces.identity import workload_hash

CLUSTER = load_cluster("2x8192x8")


def trace(n_jobs: int = 40, tied: bool = False) -> Workload:
    """One job a second; each has a map stage and a reduce after it; with `tied` odd jobs come after the one before."""
    jobs = []
    for n in range(n_jobs):
        maps = StageSpec("map", (1024, 1000), [TaskSpec(500 + n, constant(100 + n, 500)) for _ in range(1 + n % 3)])
        reduces = StageSpec("reduce", (2048, 1000), [TaskSpec(100)], after=("map",))
        after = (f"j{n - 1}",) if tied and n % 2 else ()
        jobs.append(JobSpec(f"j{n}", 1000 * n, [maps, reduces], am=(512, 1000), user=f"u{n % 4}", after=after))
    return build("trace", jobs)


def tasks_of(workload: Workload, job: int) -> list[tuple[int, int]]:
    """Duration and memory used of each task of a job."""
    first = int(workload.jobs["first_stage"][job])
    found = []
    for stage in range(first, first + int(workload.jobs["n_stages"][job])):
        begin = int(workload.stages["first_task"][stage])
        for task in range(begin, begin + int(workload.stages["n_tasks"][stage])):
            segment = int(workload.tasks["first_segment"][task])
            used = int(workload.segments["use"][segment, 0]) if segment >= 0 else -1
            found.append((int(workload.tasks["duration_ms"][task]), used))
    return found


def test_jobs_come_along_whole_and_keep_their_place_in_their_block() -> None:
    original = trace()
    made = resampled(original, 5000, seed=1)
    number = {original.job_name(job): job for job in range(original.n_jobs)}
    assert np.all(np.diff(made.jobs["submit_at_ms"]) >= 0)
    assert made.job_names is not None
    assert made.job_names.n_unique() == made.n_jobs
    length = 39_001 / 8
    for job in range(made.n_jobs):
        source = number[made.job_name(job).partition("~")[0]]
        assert tasks_of(made, job) == tasks_of(original, source)
        moved = int(made.jobs["submit_at_ms"][job]) - int(original.jobs["submit_at_ms"][source])
        assert min(moved % length, length - moved % length) < 1.0, "moved by a whole number of blocks"
    assert simulate(made, CLUSTER, "fifo", check=True).manifest["outcome"] == "finished"


def test_seeds_differ_and_repeat() -> None:
    one, again, other = (workload_hash(resampled(trace(), 5000, seed)) for seed in (1, 1, 2))
    assert one == again != other


def test_jobs_that_depend_on_each_other_stay_together() -> None:
    made = resampled(trace(tied=True), 5000, seed=3)
    for job in np.flatnonzero(made.jobs["n_after"] > 0).tolist():
        before = int(made.job_after[int(made.jobs["first_after"][job])])
        own, other = (int(made.job_name(one).partition("~")[0][1:]) for one in (job, before))
        assert own == other + 1
        assert int(made.jobs["submit_at_ms"][job]) - int(made.jobs["submit_at_ms"][before]) == 1000
    assert (made.jobs["n_after"] > 0).sum() * 2 == made.n_jobs
    assert simulate(made, CLUSTER, "fifo", check=True).manifest["outcome"] == "finished"


def test_load_brings_submissions_together() -> None:
    made = at_load(trace(), 2.0)
    assert made.jobs["submit_at_ms"].tolist() == [500 * n for n in range(40)]
    assert tasks_of(made, 7) == tasks_of(trace(), 7)
    assert at_load(made, 1.0) is made


def test_a_trace_too_short_to_resample_is_refused() -> None:
    assert n_blocks_of(trace(), block_length_ms(trace(), CLUSTER)) >= 5
    with pytest.raises(TooShort, match="too little to be resampled"):
        block_length_ms(trace(4), CLUSTER)
