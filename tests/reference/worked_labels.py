"""Labels and nodes that are decommissioned, worked out by hand. Containers hold 100 MB and run for 10 s."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, LabelShare, Node, Queue
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import Example, Span

CAPACITY = Policy(ordering=("leaf-order", {}), queues=("capacity", {}))
DRF = Policy(ordering=("leaf-order", {"default": "drf"}), queues=("drf", {}))
Spans = dict[int, list[Span]]


def nodes(plain_mb: int, ssd_mb: int = 1000) -> tuple[Node, ...]:
    """n0 without a label, n1 with one."""
    return Node("n0", (plain_mb, 0), (plain_mb, 0)), Node("n1", (ssd_mb, 0), (ssd_mb, 0), label="ssd")


def job(name: str, tasks: int, label: str = "", queue: str = "root.a", *, at_ms: int = 0, am: bool = False) -> JobSpec:
    stage = StageSpec("work", (100, 0), [TaskSpec(10_000)] * tasks, label=label)
    return JobSpec(name, at_ms, [stage], queue=queue, am=(100, 0) if am else None)


def started(first: int, *seconds: int) -> Spans:
    """Tasks from a number on that start then and finish."""
    return {first + i: [(1000 * at, 1000 * at + 10_000, Outcome.FINISHED)] for i, at in enumerate(seconds)}


# Queues that do not count partitions


def under_drf_labels_are_properties_of_nodes() -> Example:
    # T = 1400, whatever the label. Those that want it get n1, the others the rest of either node.
    queues = Queue("root"), Queue("root.a")
    jobs = [job("labelled", 2, "ssd"), job("any", 8)]
    spans = started(0, *[0] * 10)
    return Example(build("drf", jobs), Cluster(nodes(400), queues=queues), DRF, spans, 30_000)


# Those that do


def the_unlabelled_stay_among_themselves() -> Example:
    # n1 is free all the time, but not for these.
    queues = Queue("root"), Queue("root.a", user_limit_factor_milli=9000)
    spans = started(0, *[0] * 4, *[10] * 4)
    return Example(build("alone", [job("any", 8)]), Cluster(nodes(400), queues=queues), CAPACITY, spans, 30_000)


def each_partition_has_maxima_of_its_own() -> Example:
    # T = 1000 in either: a may have 500 of each, five and five. (Of one T = 2000 the first job would have had eight.)
    queues = Queue("root"), Queue("root.a", 500, 500, user_limit_factor_milli=9000)
    jobs = [job("labelled", 8, "ssd"), job("any", 8)]
    spans = started(0, *[0] * 5, *[10] * 3, *[0] * 5, *[10] * 3)
    return Example(build("maxima", jobs), Cluster(nodes(1000), queues=queues), CAPACITY, spans, 30_000)


def each_partition_has_user_limits_of_its_own() -> Example:
    # A user is refused above one guarantee: 500 of n1, 200 of n0. Six, and three.
    queues = Queue("root"), Queue("root.a", 500)
    jobs = [job("labelled", 8, "ssd"), job("any", 5)]
    spans = started(0, *[0] * 6, *[10] * 2, *[0] * 3, *[10] * 2)
    return Example(build("users", jobs), Cluster(nodes(400), queues=queues), CAPACITY, spans, 30_000)


def shares_of_a_label() -> Example:
    # Of ssd, a is guaranteed 200 and may have 400; b, which says nothing, is guaranteed nothing and may have all. One
    # for a, one for b (of which it has infinitely more than its guarantee), then a up to its maximum, then b.
    ssd = (LabelShare("ssd", 200, 400),)
    queues = Queue("root"), Queue("root.a", 900, user_limit_factor_milli=4000, labels=ssd), Queue("root.b", 100)
    jobs = [job("a", 10, "ssd"), job("b", 10, "ssd", "root.b")]
    spans = started(0, *[0] * 4, *[10] * 4, *[20] * 2) | started(10, *[0] * 6, *[10] * 4)
    return Example(build("shares", jobs), Cluster(nodes(1000), queues=queues), CAPACITY, spans, 40_000)


def masters_have_their_share_of_the_default_partition() -> Example:
    # A fifth of 1000: two AMs at a time, though there are 2000 in all. Their tasks are on n1.
    policy = replace(CAPACITY, admission=("am-share", {"percent": 0.2}))
    queues = Queue("root"), Queue("root.a")
    jobs = [job(f"j{i}", 1, "ssd", am=True) for i in range(4)]
    spans = started(1, 0) | started(3, 0) | started(5, 10) | started(7, 10)
    return Example(build("masters", jobs), Cluster(nodes(1000), queues=queues), policy, spans, 30_000)


# Decommissioning


def a_decommissioned_node_counts_with_what_it_holds() -> Example:
    # a may have half of T = 2000: ten, five on each node. From 5 s on n1 takes nothing, and T = 1000 + 500: root may
    # have 500 more, for which n0 has room: b's first five, at 6 s. At 10 s a's end and n1 is gone: T = 1000, a may have
    # 500, and gets them. b's last three start when its first five end.
    leaving = Node("n1", (1000, 0), (1000, 0), decommission_at_ms=5000)
    queues = (
        Queue("root"),
        Queue("root.a", 500, 500, user_limit_factor_milli=4000),
        Queue("root.b", 500, user_limit_factor_milli=4000),
    )
    jobs = [job("a", 20), job("b", 8, queue="root.b", at_ms=6000)]
    spans = started(0, *[0] * 10, *[10] * 5, *[20] * 5) | started(20, *[6] * 5, *[16] * 3)
    cluster = Cluster((Node("n0", (1000, 0), (1000, 0)), leaving), queues=queues)
    return Example(build("decommissioned", jobs), cluster, CAPACITY, spans, 40_000)
