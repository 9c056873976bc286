from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.comparison.losers import NOT_FINISHED, JobTimes, losers
from heddle.analysis.measures.edges import Edges
from record.hand_made import Job, run_of

WHO = pl.DataFrame({"name": ["a", "b", "c", "d"], "queue": ["x", "x", "y", "y"], "user": ["u", "v", "u", "v"]})


def times(*completion_ms: int) -> JobTimes:
    return JobTimes(np.array(completion_ms, np.int64))


def test_who_pays_for_the_gain_of_others() -> None:
    base = {0: times(1000, 1000, 1000, 1000), 1: times(1000, 1000, 1000, 1000)}
    own = {0: times(500, 500, 2000, 1005), 1: times(500, 500, 3000, 1005)}
    found = losers("new", "here", base, own, {0: WHO, 1: WHO}, Sampling())
    assert found.later_pct == 25.0
    assert found.sooner_pct == 50.0
    assert found.mean_later_s == pytest.approx(1.5)
    assert [(one.name, round(one.change_pct or 0, 2)) for one in found.queues] == [("y", 75.25), ("x", -50.0)]
    assert found.queues[0].interval is not None
    assert found.queues[0].interval[0] < 75.25 < found.queues[0].interval[1]
    assert [one.name for one in found.users] == ["u", "v"]
    assert [(one.name, one.seed, one.later_s) for one in found.jobs] == [("c", 1, 2.0), ("c", 0, 1.0)]
    json.dumps(found.as_json(), allow_nan=False)


def test_a_job_that_no_longer_finishes_is_the_worst() -> None:
    base = {0: times(1000, 1000, 1000, NOT_FINISHED)}
    own = {0: times(9000, NOT_FINISHED, 1000, 5)}
    found = losers("new", "here", base, own, {0: WHO}, Sampling())
    assert found.no_longer_finish == 1
    assert found.later_pct == pytest.approx(200 / 3)  # of the three that finished before
    assert [one.name for one in found.jobs] == ["b", "a"]
    assert found.jobs[0].policy_s is None


def test_jobs_in_the_edges_do_not_count() -> None:
    run = run_of([Job(0, 0, 1000), Job(5000, 5000, 7000), Job(10_000, 10_000, 11_000)])
    counted = Edges(warm_up_s=1, cool_down_s=1).counted(run)
    assert JobTimes.of(run, counted).completion_ms.tolist() == [NOT_FINISHED, 2000, NOT_FINISHED]
