"""A request that comes while nothing waits goes without standing in line; with the line, all would be the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from heddle.policy.parse import parse_policy
from heddle.sim.codes import FINISHED, FOREVER
from heddle.sim.run import Ended, Run
from heddle.traces.catalogue import make_workload, suggested_cluster

Rows = npt.NDArray[Any]


def run(workload: str, policy: str, *, in_line: bool) -> Ended:
    made, cluster = make_workload(workload, 2), suggested_cluster(workload)
    under_way = Run(made, cluster, parse_policy(policy), 1, True)
    setting = under_way.sim.setting["lone_goes_at_once"]
    assert setting[0] == 1
    setting[0] = not in_line
    under_way.engine.start(under_way.handle)
    assert under_way.go_on(int(FOREVER)) == FINISHED
    return under_way.ended(FINISHED, 0, 0)


def assert_same(ours: Rows, theirs: Rows) -> None:
    """Field by field: what lies between them in memory is anything."""
    assert ours.dtype == theirs.dtype
    for name in ours.dtype.names or ():
        assert np.array_equal(ours[name], theirs[name]), name


@pytest.mark.parametrize(
    ("workload", "policy"),
    [
        ("bench(tasks=2000, load=0.8, nodes=20)", "fifo"),
        ("bench(tasks=2000, load=1.5, nodes=20)", "fifo"),
        ("bench(tasks=2000, load=1.1, nodes=20)", "fifo(blocking=false)"),
        ("bench(tasks=2000, load=1.1, nodes=20)", "sjf+best-fit"),
        ("bench(tasks=1000, load=1.1, nodes=20, with_use=true)", "srpt+usage-feedback"),
        ("bench(tasks=1000, load=0.9, nodes=20, job_tasks=3, with_am=true)", "fifo"),
    ],
)
def test_the_record_is_that_of_a_run_in_which_all_stand_in_line(workload: str, policy: str) -> None:
    at_once, in_line = (run(workload, policy, in_line=in_line) for in_line in (False, True))
    assert len(at_once.attempts) > 0
    assert_same(at_once.attempts, in_line.attempts)
    assert_same(np.concatenate(at_once.logs), np.concatenate(in_line.logs))
    assert (at_once.sim.control["waiting"] == 0).all()
    assert at_once.sim.control["lone_stage"][0] == -1
    assert np.array_equal(at_once.sim.job_run["ended_at_ms"], in_line.sim.job_run["ended_at_ms"])
