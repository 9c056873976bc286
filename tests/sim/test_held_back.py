"""A request that admission or its queue holds back is not offered to one node after the other in the same pass."""

from __future__ import annotations

import pytest

from heddle.policy.parse import parse_policy
from heddle.sim.run import run_engine
from heddle.traces.catalogue import make_workload, suggested_cluster

OVERLOAD = "bench(tasks=2000, load=3, nodes=50, with_use=true, job_tasks=10, with_am=true)"


@pytest.mark.parametrize("policy", ["capacity+haste", "capacity+tetris+usage-feedback", "capacity+haste+whole-jobs"])
def test_choices_do_not_grow_with_nodes(policy: str) -> None:
    workload, cluster = make_workload(OVERLOAD, 1), suggested_cluster(OVERLOAD)
    sim = run_engine(workload, cluster, parse_policy(policy), 1, False).sim
    choices, passes = int(sim.control["walk"][0]), int(sim.control["passes"][0])
    allocations = int(sim.shown.clock["allocations"][0])
    assert allocations < choices <= passes + 2 * allocations
