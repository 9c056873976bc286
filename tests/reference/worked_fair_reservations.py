"""Nodes that the Fair scheduler reserves, worked out by hand. Nodes have 4096 MB (or 2048) and 4 vcores."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Queue, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Lever, Policy
from .worked_example import SEED, Example, Span

PHASES = [int(draw(SEED, STREAM_NODE_HEARTBEAT, node)) % 1000 for node in range(2)]
PHASE = PHASES[0]
QUEUES = tuple(Queue(name) for name in ("root", "root.a", "root.b", "root.c"))


def job(queue: str, at_ms: int, demand: tuple[int, int], *seconds: int) -> JobSpec:
    stage = StageSpec("work", demand, [TaskSpec(1000 * s) for s in seconds])
    return JobSpec(f"{queue}-{at_ms}", at_ms, [stage], queue=f"root.{queue}")


def example(
    jobs: list[JobSpec], queues: Lever, starts: list[int], nodes: int = 1, memory_mb: int = 4096, ordering: str = "fair"
) -> Example:
    seconds = [task.duration_ms for one in jobs for task in one.stages[0].tasks]
    spans: dict[int, list[Span]] = {
        k: [(at, at + lasts, Outcome.FINISHED)] for k, (at, lasts) in enumerate(zip(starts, seconds, strict=True))
    }
    size = (memory_mb, 4000)
    cluster = Cluster(
        tuple(Node(f"n{i}", size, size) for i in range(nodes)),
        queues=QUEUES,
        calculator="memory",
        timing=Timing(node_heartbeat_ms=1000),
    )
    policy = Policy(ordering=("leaf-order", {"default": ordering}), queues=queues)
    return Example(build("kept", jobs), cluster, policy, spans, 120_000)


def after(*seconds: int) -> list[int]:
    return [PHASE + 1000 * s for s in seconds]


def _contest(demand: tuple[int, int], queues: Lever, starts: list[int], ordering: str = "fair") -> Example:
    """a has the node, and leaves it bit by bit from 10 s on; b comes at 1 s with one large task, c at 2 s with four."""
    jobs = [job("a", 0, (1024, 0), 10, 12, 14, 16), job("b", 1000, demand, 10), job("c", 2000, (1024, 0), *[10] * 4)]
    return example(jobs, queues, starts, ordering=ordering)


def a_starved_job_keeps_the_node() -> Example:
    # b has nothing of 4096 // 2, and asks for no less than 2048 MB: the node is kept for it from its first heartbeat
    # after 1 s on. Two tasks of a end until 12 s: 2048 MB. c has what is free at 14, 16, and (two) when b ends at 22 s.
    return _contest((2048, 0), ("fair", {}), after(0, 0, 0, 0, 12, 14, 16, 22, 22))


STARVED = after(0, 0, 0, 0, 22, 10, 12, 14, 16)  # c takes each 1024 MB as it comes; two of its tasks end until 22 s


def without_reservations_it_waits_for_two_at_once() -> Example:
    return _contest((2048, 0), ("fair", {"reserve": "none"}), STARVED)


def a_small_request_keeps_no_node() -> Example:
    return _contest((2047, 0), ("fair", {}), STARVED)


def with_drf_both_resources_make_it_large() -> Example:
    # Shares of the cluster: 0.5 of memory, 0.5 of the vcores; just as the threshold of 2048 MB and 2 vcores.
    return _contest((2048, 2000), ("drf", {}), after(0, 0, 0, 0, 12, 14, 16, 22, 22), "drf")


def with_drf_the_smaller_share_decides_between_equals() -> Example:
    # 0.5 of memory as the threshold, but 0.25 of the vcores where that has 0.5.
    return _contest((2048, 1000), ("drf", {}), STARVED, "drf")


def _second_task(queues: Lever, starts: list[int]) -> Example:
    """a and b share the node, b has half of it with its first task, and wants as much again; c's tasks are small."""
    jobs = [job("a", 0, (1024, 0), 10, 14), job("b", 0, (2048, 0), 30, 10), job("c", 2000, (1024, 0), 10, 10)]
    return example(jobs, queues, starts)


def a_job_that_has_its_share_keeps_no_node() -> Example:
    # b holds 2048 MB: its share while a and b are there, more than its share when c is.
    return _second_task(("fair", {}), after(0, 0, 0, 24, 10, 14))


def in_hadoop_2_it_does() -> Example:
    # So b has its second task when a is gone, at 14 s. Then the node is kept for c, small as it is: when b's task ends
    # at 24 s one of c goes, which ends the offer; the other goes a heartbeat later.
    return _second_task(("fair", {"reserve": "always"}), after(0, 0, 0, 14, 24, 25))


def every_resource_counts() -> Example:
    # Four vcores, and two tasks of three: one after the other, though the calculator looks at memory alone.
    return example([job("a", 0, (1024, 3000), 10, 10)], ("fair", {"reserve": "none"}), after(0, 10))


def the_offer_ends_with_the_container_for_which_it_was_kept() -> Example:
    # 3072 MB are free at 10 s, and b's 2048 go; c's 1024 would fit, but must wait for the next heartbeat.
    jobs = [job("a", 0, (3072, 0), 10), job("a", 1, (1024, 0), 40), job("b", 1000, (2048, 0), 10)]
    return example([*jobs, job("c", 2000, (1024, 0), 10)], ("fair", {}), after(0, 0, 10, 11))


def _two_nodes(queues: Lever, small_at: int) -> Example:
    # Nodes of 2048 MB, filled by a in the order of their heartbeats: tasks of 10 and 20 s on each. b wants both.
    jobs = [job("a", 0, (1024, 0), 10, 20, 10, 20), job("b", 1000, (2048, 0), 10, 10), job("c", 2000, (1024, 0), 10)]
    first, second = sorted(PHASES)
    starts = [first, first, second, second, first + 20_000, second + 20_000, small_at]
    return example(jobs, queues, starts, nodes=2, memory_mb=2048)


def a_job_keeps_one_node_of_two() -> Example:
    # ceil(0.05 * 2) = 1. So c finds room on the other node at 10 s.
    return _two_nodes(("fair", {}), max(PHASES) + 10_000)


def or_as_many_as_it_may() -> Example:
    return _two_nodes(("fair", {"nodes": 1}), min(PHASES) + 30_000)
