"""Published examples, worked by hand."""

from __future__ import annotations

import pytest

from heddle.model.cluster import Cluster, Node, Queue, Timing
from heddle.policy.parse import parse_policy
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build


def test_paper_5_figure_1_under_fifo() -> None:
    """6 vcores; jobs of one task, 3/4/3/2 vcores, 10/20/10/10 s, 1 s apart.

    J1 0-10; J2 (4) does not fit beside J1 (3): 10-30; J3 (3) not beside J2: 30-40; J4 (2) would fit beside
    J2 but is behind J3: 30-40.
    """
    cluster = Cluster((Node("node", (1000, 6000), (1000, 6000)),))
    sizes = ((3, 10), (4, 20), (3, 10), (2, 10))
    workload = build(
        "figure 1",
        [
            JobSpec(f"J{i + 1}", 1000 * i, [StageSpec("s", (1, 1000 * vcores), [TaskSpec(1000 * seconds)])])
            for i, (vcores, seconds) in enumerate(sizes)
        ],
    )
    ended = run_engine(workload, cluster, parse_policy("fifo"), 0, False)
    waits = ended.sim.job_run["started_at_ms"] - workload.jobs["submit_at_ms"]
    assert waits.tolist() == [0, 9_000, 28_000, 27_000]
    assert ended.sim.job_run["ended_at_ms"].max() == 40_000


def test_drf_published_example() -> None:
    """9 CPUs, 18 GB; A's tasks 1 CPU 4 GB, B's 3 CPUs 1 GB: A runs 3 at once, B 2 (dominant shares 2/3 each)."""
    cluster = Cluster((Node("node", (18, 9000), (18, 9000)),))
    workload = build(
        "drf",
        [
            JobSpec("A", 0, [StageSpec("s", (4, 1000), [TaskSpec(1000)] * 10)]),
            JobSpec("B", 0, [StageSpec("s", (1, 3000), [TaskSpec(1000)] * 10)]),
        ],
    )
    ended = run_engine(workload, cluster, parse_policy("drf"), 0, False)
    started_first = ended.sim.task["started_at_ms"] == 0
    assert (started_first[:10].sum(), started_first[10:].sum()) == (3, 2)


@pytest.mark.parametrize(
    ("policy", "started_s"), [("capacity", [0, 10, 10, 0]), ("capacity(reserve=false)", [0, 10, 0, 0])]
)
def test_nobody_of_a_leaf_overtakes_a_head_at_the_queues_maximum(policy: str, started_s: list[int]) -> None:
    """Queue a may have 4 of 8 GB. A holds 3, B needs 2; C needs 1 and would fit, but is behind B. D is in queue b."""
    cluster = Cluster(
        (Node("n1", (4096, 8000), (4096, 8000)), Node("n2", (4096, 8000), (4096, 8000))),
        queues=(Queue("root"), Queue("root.a", 500, 500), Queue("root.b", 500, 1000)),
        timing=Timing(1000, 0, 1000, 0, 0),
    )
    sizes = (("A", 3072, "root.a"), ("B", 2048, "root.a"), ("C", 1024, "root.a"), ("D", 1024, "root.b"))
    jobs = [JobSpec(name, 0, [StageSpec("s", (mb, 1000), [TaskSpec(9500)])], queue=leaf) for name, mb, leaf in sizes]
    ended = run_engine(build("at its maximum", jobs), cluster, parse_policy(policy), 0, False)
    assert (ended.sim.job_run["started_at_ms"] // 1000).tolist() == started_s


@pytest.mark.parametrize(("shares", "ams"), [("memory", 3), ("dominant", 4)])
def test_ams_under_fair_shares_of_memory_hold_half_of_the_vcores_that_are_free(shares: str, ams: int) -> None:
    """8 GB and 8 vcores, AMs of 1 GB and 1 vcore. By memory 4 AMs are half of the only active queue's share.

    Where vcores are not shared out, the fourth finds 5 vcores free: half of them, rounded up, are held already.
    """
    cluster = Cluster(
        (Node("n", (8192, 8000), (8192, 8000)),),
        queues=(Queue("root"), Queue("root.busy"), Queue("root.idle")),
        timing=Timing(0, 0, 1000, 0, 60_000),
    )
    tasks = [StageSpec("s", (1024, 1000), [TaskSpec(1000)])]
    jobs = [JobSpec(f"{i}", 0, tasks, am=(1024, 1000), queue="root.busy") for i in range(6)]
    policy = parse_policy(f"fair+fair-am-share(shares={shares})")
    found = run_engine(build("ams", jobs), cluster, policy, 0, True).sim.job_run["am_started_at_ms"]
    assert (found == 0).sum() == ams
