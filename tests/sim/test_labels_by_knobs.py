"""A cluster with labels: what a policy decides from inside and from outside comes to nearly the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heddle.analysis.measures.metrics import completion_s
from heddle.model.cluster import YARN, Cluster, LabelShare, Node, Queue
from heddle.model.workload import Workload
from heddle.run import Executor, simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

NODES = tuple(Node(f"n{i}", (8192, 8000), (8192, 8000), label="gpu" if i > 1 else "") for i in range(6))
HALF = (LabelShare("gpu", 500),)
LEAF = Queue("", 500, am_share_permille=400, user_limit_factor_milli=4000, labels=HALF)
QUEUES = Queue("root"), replace(LEAF, name="root.a"), replace(LEAF, name="root.b")
CLUSTER = Cluster(NODES, queues=QUEUES, timing=YARN)


def workload() -> Workload:
    """Jobs in two queues, each with an AM and a stage on either kind of node. The labelled nodes are never full."""
    jobs = []
    for number in range(24):
        tasks = [TaskSpec(6000, ((10_000, (400, 500)),))] * 6
        plain = StageSpec("plain", (1024, 1000), tasks)
        labelled = StageSpec("labelled", (1024, 1000), tasks, label="gpu", after=("plain",))
        queue = "root.a" if number % 3 else "root.b"
        jobs.append(JobSpec(f"j{number}", 500 * number, [plain, labelled], queue=queue, am=(1024, 1000)))
    return build("labelled", jobs)


def mean_completion_s(policy: str, executor: Executor) -> float:
    run = simulate(workload(), CLUSTER, policy, seed=1, executor=executor)
    assert set(run.jobs["outcome"]) == {"finished"}
    return completion_s(run).mean


# Admission from outside is an AM share: of the nodes without a label, since YARN takes it of those. Usage feedback
# counts young containers in full, so that no node promises less than by reservation: else the estimate, which falls
# slowly after an end, holds room back that YARN gives away before anybody outside has seen the end. That costs most
# where AMs, which use all they reserve, fill the nodes: at this AM share 9 %, labels or not (20 seeds).
@pytest.mark.parametrize(
    "policy", ["capacity", "capacity+max-running(jobs=6)", "capacity+usage-feedback(young_reports=3)"]
)
def test_native_and_knobs_agree(policy: str) -> None:
    assert mean_completion_s(policy, "yarn-knobs") == pytest.approx(mean_completion_s(policy, "native"), rel=0.05)
