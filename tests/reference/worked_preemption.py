"""Preemption between queues, worked out by hand. One node of 1000 MB; containers hold 100 MB unless said otherwise."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Physics, Preemption, Queue
from heddle.model.reasons import Outcome
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import Example, Span

PREEMPTED, FINISHED = Outcome.PREEMPTED, Outcome.FINISHED
STILL_RUNNING: Span = (0, None, None)
CAPACITY = Policy(ordering=("leaf-order", {}), queues=("capacity", {}))
FAIR = Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))


def half(name: str, permille: int = 500) -> Queue:
    """A queue that may grow beyond its guarantee."""
    return Queue(name, guarantee_permille=permille, user_limit_factor_milli=4000)


def cluster(*queues: Queue, round_permille: int = 1000, **more: object) -> Cluster:
    node = Node("n0", (1000, 0), (1000, 0))
    preemption = Preemption(every_ms=3000, starved_ms=15_000, round_permille=round_permille)
    return Cluster((node,), queues=(Queue("root"), *queues), preemption=preemption, **more)  # type: ignore[arg-type]


def job(queue: str, at_ms: int, tasks: int, seconds: int, memory_mb: int = 100, am_mb: int | None = None) -> JobSpec:
    stage = StageSpec("work", (memory_mb, 0), [TaskSpec(seconds * 1000)] * tasks)
    return JobSpec(f"{queue}-{at_ms}-{am_mb}", at_ms, [stage], queue=queue, am=None if am_mb is None else (am_mb, 0))


def guarantees_are_restored_slowly() -> Example:
    # 3 s: a has 1000 and is due 500, b wants 1000, is due 500: ideal 500 each. a is to give 500, scaled to the round's
    # 10% of 1000 = 100; a fifth of that, 20, is called for: the newest container, task 9. It is called for at every
    # round, and ends at 3 + 15 = 18 s. Then b is served first (0 < 900 / 500): 18-28 s, and again 28-38 s. At 21 s a
    # has 900: task 8 is called for and ends at 36 s; b's third task starts.
    workload = build("slow", [job("root.a", 0, 10, 100), job("root.b", 1000, 10, 10)])
    spans: dict[int, list[Span]] = {
        7: [STILL_RUNNING],
        8: [(0, 36_000, PREEMPTED)],
        9: [(0, 18_000, PREEMPTED)],
        10: [(18_000, 28_000, FINISHED)],
        11: [(28_000, 38_000, FINISHED)],
        12: [(36_000, None, None)],
    }
    return Example(workload, cluster(half("root.a"), half("root.b"), round_permille=100), CAPACITY, spans, 38_000)


def executors_go_and_not_what_runs_in_them() -> Example:
    # As above, but a's containers are executors, with an inner task each: the newest executor goes at 18 s, and with it
    # its inner task. What inner tasks themselves are said to need gives nobody room: that of the first executor, which
    # has the first container of all, runs on.
    executors = StageSpec("executors", (100, 0), [TaskSpec(0)] * 10, kind=EXECUTORS)
    inner = StageSpec("inner", (100, 0), [TaskSpec(100_000)] * 10, kind=INNER)
    workload = build("spark", [JobSpec("spark", 0, [executors, inner], queue="root.a"), job("root.b", 1000, 10, 10)])
    spans: dict[int, list[Span]] = {
        0: [STILL_RUNNING],
        8: [STILL_RUNNING],
        9: [(0, 18_000, PREEMPTED)],
        10: [STILL_RUNNING],
        19: [(0, 18_000, PREEMPTED)],
        20: [(18_000, None, None)],
    }
    return Example(workload, cluster(half("root.a"), half("root.b"), round_permille=100), CAPACITY, spans, 20_000)


def little_above_is_ignored() -> Example:
    # a has 600, its guarantee is 550: 600 <= 1.1 * 550. b has the other 400 and would be due 450: nothing happens.
    queues = half("root.a", 550), half("root.b", 450)
    workload = build("ignored", [job("root.a", 0, 6, 100), job("root.b", 1000, 10, 100)])
    return Example(workload, cluster(*queues), CAPACITY, {5: [STILL_RUNNING], 10: []}, 60_000)


def nobody_is_brought_below_their_guarantee() -> Example:
    # a has 4 * 150 = 600 > 1.1 * 500 and b lacks 100 of its 500, but with one less a would have 450 < 500.
    workload = build("whole", [job("root.a", 0, 4, 100, memory_mb=150), job("root.b", 1000, 10, 100)])
    return Example(workload, cluster(half("root.a"), half("root.b")), CAPACITY, {3: [STILL_RUNNING], 8: []}, 60_000)


def fair_claims_half_of_a_fair_share() -> Example:
    # Fair shares are 500 each, so b may claim 250. 3 s: a is to give 250, a fifth is 50: task 9 ends at 18 s. 21 s: b
    # has 100, a is to give 150: task 8 ends at 36 s. 39 s: a is to give 50: task 7 ends at 54 s. Now b has 300.
    workload = build("fair", [job("root.a", 0, 10, 200), job("root.b", 1000, 10, 200)])
    spans: dict[int, list[Span]] = {
        6: [STILL_RUNNING],
        7: [(0, 54_000, PREEMPTED)],
        8: [(0, 36_000, PREEMPTED)],
        9: [(0, 18_000, PREEMPTED)],
        10: [(18_000, None, None)],
        11: [(36_000, None, None)],
        12: [(54_000, None, None)],
    }
    return Example(workload, cluster(Queue("root.a"), Queue("root.b")), FAIR, spans, 120_000)


def a_sibling_pays() -> Example:
    # p and q are due 500 each, x and y 250 each. x has 500 since y has nothing, q has 500. At 1 s y asks for 300.
    # q wants no more than it has and is due; p's ideal is 500, of which y may have 250: x is to give 250, a fifth of
    # that is 50: x's newest, task 4, ends at 18 s. q keeps everything.
    queues = half("root.p"), half("root.p.x"), half("root.p.y"), half("root.q")
    jobs = [job("root.p.x", 0, 5, 100), job("root.q", 0, 9, 100), job("root.p.y", 1000, 3, 100)]
    spans: dict[int, list[Span]] = {4: [(0, 18_000, PREEMPTED)], 9: [STILL_RUNNING], 14: [(18_000, None, None)]}
    return Example(build("sibling", jobs), cluster(*queues), CAPACITY, spans, 20_000)


def masters_go_last_and_it_does_not_count() -> Example:
    # Five AMs of 200 fill the cluster; their tasks of 1000 fit nowhere. a is to give 200, all b wants. A fifth is 40:
    # there is nothing but AMs, the last job's goes at 18 s. b has its room 18-28 s; then a's AM, asked for again at
    # 19 s, starts anew, although am_max_attempts is 1: preemption is no failed attempt.
    jobs = [job("root.a", at_ms, 1, 1, memory_mb=1000, am_mb=200) for at_ms in range(5)]
    jobs.append(job("root.b", 1000, 1, 10, memory_mb=200))
    spans: dict[int, list[Span]] = {
        6: [(3, None, None)],
        8: [(4, 18_000, PREEMPTED), (28_000, None, None)],
        10: [(18_000, 28_000, FINISHED)],
    }
    return Example(
        build("masters", jobs),
        cluster(half("root.a"), half("root.b"), physics=Physics(am_max_attempts=1)),
        CAPACITY,
        spans,
        30_000,
    )
