"""Published examples, worked by hand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node
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
