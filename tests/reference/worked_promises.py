"""What the cluster may promise now, worked out by hand: nodes that are resized, lost and back. Containers hold 100 MB.

With node_mtbf_s = 20 and node_repair_s = 10, of two nodes of 1000 MB
    n0 is lost at 22.6 s, back at 30.2 s, lost again at 36.1 s, back at 45.4 s;
    n1 is lost at 34.6 s, and not back before 50 s.
"""

from __future__ import annotations

import math
from dataclasses import replace

from heddle.model.cluster import Cluster, Faults, Level, Node, Preemption, Queue, Timing
from heddle.model.draw import STREAM_NODE_FAULT, STREAM_USAGE_REPORT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import SEED, Example, Span

FINISHED, PREEMPTED = Outcome.FINISHED, Outcome.PREEMPTED
Spans = dict[int, list[Span]]
CAPACITY = Policy(ordering=("leaf-order", {}), queues=("capacity", {}))
DRF = Policy(ordering=("leaf-order", {"default": "drf"}), queues=("drf", {}))
HALF_IS_USED = replace(CAPACITY, sizing=("borg-default", {"fraction": 0.5}))
FAULTS = Faults(node_mtbf_s=20, node_repair_s=10)


def fault_times(node: int) -> list[int]:
    """When the node is lost, back, lost, back."""
    times = [0]
    for i, mean_ms in enumerate((20_000, 10_000, 20_000, 10_000)):
        x = int(draw(SEED, STREAM_NODE_FAULT, node * 2**20 + i)) % 2**20
        times.append(times[-1] + 1 + mean_ms * math.floor(-math.log((x + 0.5) / 2**20) * 2**20) // 2**20)
    return times[1:]


LOST, BACK, LOST_AGAIN, BACK_AGAIN = fault_times(0)
OTHER_LOST, OTHER_BACK, _, _ = fault_times(1)


def job(name: str, at_ms: int, tasks: int, seconds: int, queue: str = "root.a", am_mb: int | None = None) -> JobSpec:
    stage = StageSpec("work", (100, 0), [TaskSpec(seconds * 1000)] * tasks)
    return JobSpec(name, at_ms, [stage], queue=queue, am=None if am_mb is None else (am_mb, 0))


def together(first: int, starts: list[int], seconds: int) -> Spans:
    """Tasks from a number on that start then and finish."""
    return {first + i: [(at, at + seconds * 1000, FINISHED)] for i, at in enumerate(starts)}


# Nodes are resized


def resized(*queues: Queue, jobs: list[JobSpec], spans: Spans) -> Example:
    """One node of 1000 MB. Half of what is allocated counts; looked at with every report, at `phase`, 1 s later, ..."""
    cluster = Cluster((Node("n0", (2000, 0), (1000, 0)),), queues=(Queue("root"), *queues))
    return Example(build("resized", jobs), cluster, HALF_IS_USED, spans, 70_000)


def phase() -> int:
    return int(draw(SEED, STREAM_USAGE_REPORT, 0)) % 1000


def a_resized_node_moves_the_maximum() -> Example:
    # a may have half. 0 s: T = 1000: a 500, b 500; then root is at its maximum, though 500 MB are free by now. First
    # report: T = 1000 + 1000 - 500 = 1500: a may have 750: two more. The next: 1200 + 1000 - 600 = 1600: 800, one more.
    # Then 1650: 825. At 60 s a's first five end: 800 MB are left, T = 800 + 1000 - 400 = 1400: the last two start.
    queues = Queue("root.a", 500, 500), Queue("root.b", 500)
    jobs = [job("a", 0, 10, 60), job("b", 0, 5, 100, "root.b")]
    starts = [*[0] * 5, phase(), phase(), 1000 + phase()]
    spans = together(0, starts, 60) | {8: [(60_000, None, None)], 9: [(60_000, None, None)], 14: [(0, None, None)]}
    return resized(*queues, jobs=jobs, spans=spans)


def a_resized_node_moves_the_guarantee() -> Example:
    # A user of a may have one guarantee, and is refused above it. 0 s: 500: six containers. First report: T = 600 +
    # 1000 - 300 = 1300, the guarantee is 650: 600 is not above, the seventh. Next: T = 1350, 675 < 700. At 60 s six
    # end; the eighth starts.
    jobs = [job("a", 0, 8, 60)]
    spans = together(0, [*[0] * 6, phase()], 60) | {7: [(60_000, None, None)]}
    return resized(Queue("root.a", 500), jobs=jobs, spans=spans)


# Nodes are lost and come back


def lossy(jobs: list[JobSpec], policy: Policy, spans: Spans, until_ms: int, **more: object) -> Example:
    nodes = tuple(Node(f"n{i}", (1000, 0), (1000, 0)) for i in range(2))
    queues = Queue("root"), Queue("root.a", 500, 500), Queue("root.b", 500, user_limit_factor_milli=4000)
    settings: dict[str, object] = {"queues": queues, "faults": FAULTS, **more}
    return Example(build("lossy", jobs), Cluster(nodes, **settings), policy, spans, until_ms)  # type: ignore[arg-type]


def root_shrinks_and_grows(policy: Policy) -> Example:
    # a may have half. Both nodes: T = 2000, ten at a time. One: T = 1000, five. Both again: ten. While none is there,
    # the last job waits; with n0 back it is five at a time again.
    while_both_are_lost = LOST_AGAIN + 1000
    assert OTHER_LOST < LOST_AGAIN < while_both_are_lost < BACK_AGAIN < OTHER_BACK
    jobs = [
        job("both", 0, 12, 1),
        job("one", LOST + 1000, 7, 1),
        job("again", BACK + 1000, 12, 1),
        job("none", while_both_are_lost, 7, 1),
    ]
    spans = together(0, [*[0] * 10, 1000, 1000], 1)
    spans |= together(12, [*[LOST + 1000] * 5, LOST + 2000, LOST + 2000], 1)
    spans |= together(19, [*[BACK + 1000] * 10, BACK + 2000, BACK + 2000], 1)
    spans |= together(31, [*[BACK_AGAIN] * 5, BACK_AGAIN + 1000, BACK_AGAIN + 1000], 1)
    return lossy(jobs, policy, spans, 50_000)


def a_lost_node_shrinks_root() -> Example:
    return root_shrinks_and_grows(CAPACITY)


def a_lost_node_shrinks_root_under_drf() -> Example:
    return root_shrinks_and_grows(DRF)


def turns_under_drf_follow() -> Example:
    # n0, with 9000 MB and one core, is lost; n1 has 1000 MB and nine. A container of a, 100 MB, is 1/10 of that, one
    # of b, 50 MB and a core, is 1/9: they take turns, and when a has 7 and b 6 of them the memory is full. (Of both
    # nodes, 10000 MB and ten cores, it would be 1/100 and 1/10: a would have 9, b 2.) n0 is back: room for all of a,
    # one core for b.
    def twelve(name: str, shape: tuple[int, int]) -> JobSpec:
        return JobSpec(name, LOST + 1000, [StageSpec("s", shape, [TaskSpec(100_000)] * 12)], queue=f"root.{name}")

    nodes = tuple(Node(f"n{i}", size, size) for i, size in enumerate(((9000, 1000), (1000, 9000))))
    cluster = Cluster(nodes, queues=(Queue("root"), Queue("root.a"), Queue("root.b")), faults=FAULTS)
    starts = {6: LOST + 1000, 7: BACK, 11: BACK, 17: LOST + 1000, 18: BACK}
    spans: Spans = {task: [(at, None, None)] for task, at in starts.items()} | {19: []}
    workload = build("turns", [twelve("a", (100, 0)), twelve("b", (50, 1000))])
    return Example(workload, cluster, DRF, spans, BACK + 1000)


def shares_of_masters_follow() -> Example:
    # Fair: nobody else is active, so b's fair share is all there is. 50% of 1000 MB are 500: two AMs of 200. With n0
    # back it is 50% of 2000: the other two as well.
    jobs = [job(f"b{i}", LOST + 1000, 1, 100, "root.b", am_mb=200) for i in range(4)]
    fair = Policy(("fair-am-share", {}), ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))
    starts = LOST + 1000, LOST + 1000, BACK, BACK
    spans: Spans = {2 * i: [(at, None, None)] for i, at in enumerate(starts)}
    return lossy(jobs, fair, spans, BACK + 1000)


def pools_follow() -> Example:
    # 20 containers fit all nodes: jobs of up to 4 (theta 0.2) are small, lost nodes or not. One node: the pools have
    # 700 and 300 MB: seven of the large job's tasks, then both small ones. With n0 back 1400: the other three.
    jobs = [job("large", LOST + 1000, 10, 100), job("small", LOST + 1000, 2, 100)]
    starts = [*[LOST + 1000] * 7, *[BACK] * 3, LOST + 1000, LOST + 1000]
    spans: Spans = {task: [(at, None, None)] for task, at in enumerate(starts)}
    return lossy(jobs, Policy(partition=("small-pool", {"share": 0.3, "theta": 0.2})), spans, BACK + 1000)


def pools_of_dress_follow() -> Example:
    # delta = 0.3 of 2^20: 299 MB for small jobs, 701 for the others: seven tasks and both small ones. The tick of 24
    # s, in shares of 1000 MB: small jobs hold h = 0.2 = 209716, the others 0.7 = 734004, rounded up; free = 104856.
    # delta = h + free = 314572 at most. G1 = delta - h = 104856, all of it spare (P1 = 0), G2 = 0, P2 = 0.3: delta
    # falls to h: 200 MB for small jobs, 800 for the others, the eighth. Then all is held. With n0 back it is 1600.
    # (In shares of 2000 MB G2 would be 0.35 and P2 0.15: nothing would move.)
    jobs = [job("large", LOST + 1000, 10, 100), job("small", LOST + 1000, 2, 100)]
    assert 23_000 < LOST + 1000 < 24_000
    starts = [*[LOST + 1000] * 7, 24_000, BACK, BACK, LOST + 1000, LOST + 1000]
    spans: Spans = {task: [(at, None, None)] for task, at in enumerate(starts)}
    policy = Policy(partition=("dress-pools", {"theta": 0.2, "initial_share": 0.3}))
    return lossy(jobs, policy, spans, BACK + 1000)


def preemption_follows() -> Example:
    # By first fit b has n0, ten containers, and a eight on n1. Each is due 1000. n0 is lost; after a second b asks
    # again, and gets the 200 MB that n1 has left. Now T = 1000, each is due 500.
    # Rounds: 24 s: a has 800 and is to give 300; a fifth is 60: its newest, task 17, which has been called for long
    # enough (2 s) at 26 s. b's third. 27 s: a is to give 200, a fifth is 40: task 16, until 29 s. 30 s: 600 is more
    # than 1.1 * 500, so task 15 is called for. n0 is back: each is due 1000 again, task 15 stays, and all others start.
    jobs = [job("b", 0, 10, 100, "root.b"), job("a", 1, 8, 100, "root.a")]
    queues = Queue("root"), *(Queue(f"root.{q}", 500, user_limit_factor_milli=4000) for q in "ab")
    assert 22_000 < LOST < 23_000
    assert 30_000 < BACK < 31_000
    spans: Spans = {
        14: [(1, None, None)],
        15: [(1, None, None)],
        16: [(1, 29_000, PREEMPTED), (BACK, None, None)],
        17: [(1, 26_000, PREEMPTED), (BACK, None, None)],
    }
    lost = (0, LOST, Outcome.NODE_LOST)
    again = [LOST + 1000, LOST + 1000, 26_000, 29_000, *[BACK] * 6]
    spans |= {task: [lost, (at, None, None)] for task, at in enumerate(again)}
    policy = replace(CAPACITY, placement=("first-fit", {}))
    preemption = Preemption(every_ms=1000, starved_ms=2000, round_permille=1000)
    return lossy(jobs, policy, spans, 34_000, queues=queues, preemption=preemption)


def background_shrinks_root() -> Example:
    # 600 MB of others' from 0 on, seen with the first report: before it T = 1000 and a has its half, five containers.
    # The report: half of the 500 allocated counts, and the 600: T = 500 + 1000 - 250 - 600 = 650. a may have 325: when
    # its containers end at 10 s (T = 1000 - 600 = 400), 200.
    node = Node("n0", (2000, 0), (1000, 0), background=(Level(0, (600, 0)),))
    cluster = Cluster((node,), queues=(Queue("root"), Queue("root.a", 500, 500)))
    spans = together(0, [*[0] * 5, 10_000, 10_000], 10) | {7: [(20_000, None, None)]}
    return Example(build("background", [job("a", 0, 9, 10)]), cluster, HALF_IS_USED, spans, 25_000)


def only_what_happens_is_an_instant() -> Example:
    # a may have half. 0 s: T = 1000: five containers. Half of them counts, T = 500 + 1000 - 250 = 1250: a sixth may go
    # as soon as anything happens. A level of background that is none (2 s) and the submission of a job that waits for
    # another one (3 s) are nothing; the arrival of b's job (4 s) is. Reports come much later.
    report_ms = 600_000
    assert int(draw(SEED, STREAM_USAGE_REPORT, 0)) % report_ms > 10_000
    node = Node("n0", (2000, 0), (1000, 0), background=(Level(2000, (0, 0)),))
    cluster = Cluster(
        (node,),
        queues=(Queue("root"), Queue("root.a", 500, 500), Queue("root.b", 500)),
        timing=Timing(usage_report_ms=report_ms),
    )
    jobs = [job("a", 0, 6, 60), replace(job("later", 3000, 1, 1), after=("a",)), job("b", 4000, 1, 1, "root.b")]
    spans = together(0, [0] * 5, 60) | {5: [(4000, None, None)]}
    return Example(build("happens", jobs), cluster, HALF_IS_USED, spans, 61_000)
