"""The machines and jobs of a storm, drawn from its seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from heddle.model.cluster import Cluster, Faults, Node, Preemption, Queue, Timing
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

NEVER_S: Final = 100_000_000  # so that nodes are lost when the storm says so, and not by the engine's own chance


def draw_cluster(random: Random, leaves: Sequence[str], preempts: bool) -> Cluster:
    sizes = [random.choice(((8192, 8000), (8192, 8000), (16384, 16000))) for _ in range(random.randint(2, 5))]
    nodes = tuple(Node(f"n{n}", size, size) for n, size in enumerate(sizes))
    queues = (Queue("root"), *(Queue(leaf, guarantee_permille=500) for leaf in leaves))
    timing = Timing(node_heartbeat_ms=1000, am_heartbeat_ms=1000, usage_report_ms=1000, launch_ms=500, am_start_ms=1000)
    return Cluster(
        nodes,
        queues=queues,
        timing=timing,
        preemption=Preemption(every_ms=3000 if preempts else 0),
        faults=Faults(node_mtbf_s=NEVER_S, node_repair_s=NEVER_S),
    )


def draw_workload(random: Random, leaves: Sequence[str], lasts_s: int) -> Workload:
    """Jobs that reserve more than they use, for as long as the storm lasts; the last comes long after it."""
    jobs: list[JobSpec] = []
    at_s = 0.0
    while at_s < lasts_s:
        reserved = random.choice((1024, 2048, 3072))
        use = constant(reserved * random.randint(1, 6) // 10, random.randint(100, 600))
        tasks = [TaskSpec(1000 * random.randint(4, 40), use) for _ in range(random.randint(2, 14))]
        stage = StageSpec("s", (reserved, 1000), tasks)
        jobs.append(_job(len(jobs), at_s, stage, random.choice(leaves), random.choice(("ann", "bob"))))
        at_s += random.expovariate(1 / 9)
    late = StageSpec("s", (1024, 1000), [TaskSpec(1000)])
    jobs.append(_job(len(jobs), lasts_s + 1_000_000, late, leaves[0], "ann"))
    return build("storm", jobs)


def _job(number: int, at_s: float, stage: StageSpec, queue: str, user: str) -> JobSpec:
    return JobSpec(
        f"job-{number}", round(1000 * at_s), [stage], am=(512, 1000), am_use=(200, 100), queue=queue, user=user
    )
