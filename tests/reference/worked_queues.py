"""Queues and orderings together, worked out by hand. Guarantees are halves; a user may exceed them."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Node, Physics, Queue, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Lever, Policy
from .worked_example import SEED, Example, Span

FINISHED, RELEASED = Outcome.FINISHED, Outcome.RELEASED
Spans = dict[int, list[Span]]
HALVES = tuple(Queue(name, guarantee_permille=500, user_limit_factor_milli=4000) for name in ("root.a", "root.b"))


def nodes(*memory_mb: int) -> tuple[Node, ...]:
    return tuple(Node(f"n{i}", (size, 0), (size, 0)) for i, size in enumerate(memory_mb))


def job(queue: str, at_ms: int, memory_mb: int, tasks: int = 1, seconds: int = 10, am_mb: int | None = None) -> JobSpec:
    stage = StageSpec("work", (memory_mb, 0), [TaskSpec(seconds * 1000)] * tasks)
    am = None if am_mb is None else (am_mb, 0)
    return JobSpec(f"{queue}-{at_ms}-{memory_mb}", at_ms, [stage], queue=queue, am=am)


def named(*jobs: JobSpec) -> list[JobSpec]:
    """Jobs need names of their own."""
    return [JobSpec(f"j{i}", one.submit_at_ms, one.stages, queue=one.queue, am=one.am) for i, one in enumerate(jobs)]


# What goes first in a leaf, and in which leaf


def each_queue_has_its_half_and_haste_inside() -> Example:
    # 1000 MB; both queues have a job of 2 x 100 MB and, submitted after it, one of 2 x 200 MB. HaSTE's plan for the
    # empty node: value is memory, all 1000 MB can be filled, with the fewest of the first class: 2 x 100, 4 x 200. The
    # leaves take turns, a first: 100 each (planned, first by number; then the plan has no more of these), 200 each, 200
    # each: 500 for both. The second tasks of 100 MB wait for 10 s.
    # HaSTE over all would give the larger ones, then both of a's small ones: 600 and 400. First in, first out would let
    # both small tasks of either queue run first.
    jobs = named(job("root.a", 0, 100, 2), job("root.a", 0, 200, 2), job("root.b", 0, 100, 2), job("root.b", 0, 200, 2))
    spans: Spans = {task: [(0, 10_000, FINISHED)] for task in (0, 2, 3, 4, 6, 7)}
    spans |= {task: [(10_000, 20_000, FINISHED)] for task in (1, 5)}
    policy = Policy(ordering=("haste", {}), queues=("capacity", {}))
    return Example(build("halves", jobs), Cluster(nodes(1000), queues=(Queue("root"), *HALVES)), policy, spans, 20_000)


def blocked(timing: Timing, queues: Lever, spans: Spans) -> Example:
    # a: 600 MB run, 600 more fit nowhere (the other nodes have 300), 100 behind may not overtake. b has 100 MB, and
    # 100 more after 1 s. They go, though a's turn is first: 600 of 1440 guaranteed against 100 of 160. (The maximum is
    # 1600: it does not keep 600 + 600 + 200 back.)
    in_a = job("root.a", 0, 600), job("root.a", 0, 600), job("root.a", 0, 100)
    jobs = named(*in_a, job("root.b", 0, 100), job("root.b", 1000, 100))
    tree = tuple(Queue(f"root.{q}", part, user_limit_factor_milli=4000) for q, part in (("a", 900), ("b", 100)))
    cluster = Cluster(nodes(1000, 300, 300), queues=(Queue("root"), *tree), timing=timing)
    return Example(build("blocked", jobs), cluster, Policy(queues=queues), spans, 30_000)


def a_blocked_leaf_does_not_stop_the_other() -> Example:
    spans: Spans = {
        0: [(0, 10_000, FINISHED)],
        1: [(10_000, 20_000, FINISHED)],
        2: [(10_000, 20_000, FINISHED)],
        3: [(0, 10_000, FINISHED)],
        4: [(1000, 11_000, FINISHED)],
    }
    return blocked(Timing(), ("capacity", {}), spans)


def phase(node: int) -> int:
    return int(draw(SEED, STREAM_NODE_HEARTBEAT, node)) % 1000


def a_blocked_leaf_does_not_stop_the_other_by_heartbeats() -> Example:
    # The same at heartbeats, without reservations. The first node: 600 MB at its first heartbeat, both others ten
    # seconds later (the end comes first in that instant). The small nodes block a at every heartbeat, and serve b.
    first, second = phase(0), min(phase(1), phase(2))
    spans: Spans = {
        0: [(first, 10_000 + first, FINISHED)],
        1: [(10_000 + first, 20_000 + first, FINISHED)],
        2: [(10_000 + first, 20_000 + first, FINISHED)],
        3: [(second, 10_000 + second, FINISHED)],
        4: [(1000 + second, 11_000 + second, FINISHED)],
    }
    return blocked(Timing(node_heartbeat_ms=1000), ("capacity", {"reserve": 0}), spans)


def packed(small_at_ms: int, reserve: int, starts: tuple[int, int, int]) -> Example:
    """600 MB run, 800 come after 1 s, 300 later. Two small nodes raise the maximum: 600 + 800 <= 1500."""
    jobs = named(job("root.a", 0, 600), job("root.a", 1000, 800), job("root.a", small_at_ms, 300))
    cluster = Cluster(nodes(1000, 250, 250), queues=(Queue("root"), *HALVES), timing=Timing(node_heartbeat_ms=1000))
    spans: Spans = {i: [(at + phase(0), at + phase(0) + 10_000, FINISHED)] for i, at in enumerate(starts)}
    policy = Policy(ordering=("ffd-dp", {}), queues=("capacity", {"reserve": reserve}))
    return Example(build("packed", jobs), cluster, policy, spans, 40_000)


def a_node_is_reserved_when_nothing_of_the_leaf_can_go() -> Example:
    # At the heartbeat of 1 s 800 MB are all there is, and do not fit: they reserve. 300 come at 2 s and would fit: they
    # wait for 800 (10-20 s), and start at 20 s.
    return packed(2000, 1, (0, 10_000, 20_000))


def without_reservations_the_small_one_goes() -> Example:
    # 300 at 2 s, to 12 s; then 800.
    return packed(2000, 0, (0, 12_000, 2000))


def what_fits_goes_before_anything_is_reserved() -> Example:
    # At the heartbeat of 1 s both are there: 300 can go, so they do. Then nothing can, and 800 reserve. At 10 s 700 MB
    # are free, at 11 s all of it.
    return packed(1000, 1, (0, 11_000, 1000))


# A leaf that is guaranteed nothing


def a_leaf_that_is_guaranteed_nothing_borrows() -> Example:
    # All 1000 MB are b's, a may have 600 of them. Its user's cap is that maximum: the AM and five tasks of 100 MB, the
    # other two when those end. (Four times nothing would be nothing: the AM would wait for its tasks for good.)
    queues = Queue("root.a", 0, 600, user_limit_factor_milli=4000), Queue("root.b")
    spans: Spans = {0: [(0, 20_000, RELEASED)]}
    spans |= {task: [(0, 10_000, FINISHED)] for task in range(1, 6)}
    spans |= {task: [(10_000, 20_000, FINISHED)] for task in (6, 7)}
    workload = build("borrowed", [job("root.a", 0, 100, 7, am_mb=100)])
    cluster = Cluster(nodes(1000), queues=(Queue("root"), *queues))
    return Example(workload, cluster, Policy(queues=("capacity", {})), spans, 30_000)


def two_users_of_a_leaf_that_is_guaranteed_nothing() -> Example:
    # The same leaf without AMs. A user's limit is (allocated + 100) // 2; ann goes first, unless she is above it. She
    # has 0 of 50, 100 of 100, and is above it with 200 of 150: bob. 200 of 200: ann; 300 of 250: bob; 300 of 300: ann.
    # That is 600, the maximum: ann has four, bob two. When they end, all others fit.
    queues = Queue("root.a", 0, 600, user_limit_percent=50), Queue("root.b")
    jobs = [replace(job("root.a", 0, 100, 5), name=user, user=user) for user in ("ann", "bob")]
    spans: Spans = {task: [(0, 10_000, FINISHED)] for task in (0, 1, 2, 3, 5, 6)}
    spans |= {task: [(10_000, 20_000, FINISHED)] for task in (4, 7, 8, 9)}
    cluster = Cluster(nodes(1000), queues=(Queue("root"), *queues))
    return Example(build("two-users", jobs), cluster, Policy(queues=("capacity", {})), spans, 30_000)


# AM shares of a leaf


def masters(other: list[JobSpec], permille: int, am_mb: int, starts: tuple[int, ...], increment: int = 1) -> Example:
    """Three jobs of a: an AM, and a task as large, for 10 s. Their spans are those of their AMs."""
    at_ms = min(1, len(other))
    jobs = named(*other, *[job("root.a", at_ms, am_mb, am_mb=am_mb)] * 3)
    first = sum(len(stage.tasks) for one in other for stage in one.stages)
    spans: Spans = {first + 2 * i: [(at, at + 10_000, RELEASED)] for i, at in enumerate(starts)}
    cluster = Cluster(nodes(1024), queues=(Queue("root"), *HALVES), increment=(increment, 1))
    policy = Policy(("am-share", {"percent": permille / 1000}), ordering=("leaf-order", {}), queues=("capacity", {}))
    return Example(build("masters", jobs), cluster, policy, spans, 40_000)


def masters_beside_an_idle_queue() -> Example:
    # a's current limit is all of 1024 MB: 20% are 205, two AMs of 100. The third when they are gone.
    return masters([], 200, 100, (0, 0, 10_000))


def masters_beside_a_busy_queue() -> Example:
    # b holds 400 until 5 s: a's limit is 1024 - 400 = 624, 20% are 125: one AM. (Its own AM and task do not count: what
    # a holds it may have.) From 5 s on 205: the second. The third when the first is gone, at 10.001 s.
    return masters([job("root.b", 0, 100, 4, seconds=5)], 200, 100, (1, 5000, 10_001))


def masters_of_a_queue_that_is_below_its_guarantee() -> Example:
    # b holds 800 until 5 s: 224 MB are left, less than a's guarantee of 512, which counts then: 20% are 103: two AMs of
    # 50 MB (of 224 it would be 45). Three make 150: from 5 s on (205).
    return masters([job("root.b", 0, 100, 8, seconds=5)], 200, 50, (1, 1, 5000))


def limits_of_masters_are_rounded_up() -> Example:
    # 10% of 1024 are 103, which makes 256, the next multiple of the increment: two AMs of 100 MB.
    return masters([], 100, 100, (0, 0, 10_000), increment=256)


def room_that_a_job_leaves_while_offers_are_made_is_found_later() -> Example:
    # Two nodes. 0 s: two of the first job's 600 MB start, the third fits nowhere; its 100 start, use 200, and are
    # killed for it in the same offer; the other job's AM starts. 1 ms: the 600 still fit nowhere, the 100 are killed
    # again: the job fails, all that it held is free, and nobody waits for 600 MB any more. 0.5 s: the other job does.
    too_much = TaskSpec(10_000, use=((10_000, (200, 0)),))
    stages = [StageSpec("s600", (600, 0), [TaskSpec(10_000)] * 3), StageSpec("s100", (100, 0), [too_much])]
    jobs = [JobSpec("fails", 0, stages, queue="root.a"), job("root.a", 0, 600, tasks=2, am_mb=100)]
    killed = Outcome.LIMIT_KILLED
    spans: Spans = {0: [(0, 1, Outcome.JOB_FAILED)], 3: [(0, 0, killed), (1, 1, killed)]}
    spans |= {4: [(0, 10_500, RELEASED)], 5: [(500, 10_500, FINISHED)], 6: [(500, 10_500, FINISHED)]}
    physics, timing = Physics(pmem_check=True, max_attempts=2), Timing(retry_ms=1, am_start_ms=500)
    cluster = Cluster(nodes(1000, 1000), queues=(Queue("root"), *HALVES), physics=physics, timing=timing)
    policy = Policy(ordering=("leaf-order", {}), queues=("capacity", {}))
    return Example(build("leaves", jobs), cluster, policy, spans, 20_000)
