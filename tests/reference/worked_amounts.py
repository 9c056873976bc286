"""Queues with amounts instead of shares, worked out by hand.

A user may have one guarantee of its leaf, and is refused above it: with containers of 100 MB, a guarantee of 300 MB
shows as four of them at a time. All jobs are one user's.
"""

from __future__ import annotations

from heddle.model.cluster import Calculator, Cluster, Node, Queue
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .worked_example import Example
from .worked_promises import BACK, CAPACITY, LOST, OTHER_LOST, Spans, job, lossy, resized, together

A_SECOND = 1


def in_batches(first: int, at_ms: int, tasks: int, batch: int) -> Spans:
    """Tasks of a second each, so many at a time."""
    return together(first, [at_ms + i // batch * 1000 for i in range(tasks)], A_SECOND)


def amounts_that_fit_stay_while_root_grows() -> Example:
    # a has 300 MB, b 500: together 800 of 1000. 0 s: four containers of a, b's five. First report: T = 900 + 1000 - 450
    # = 1450, and a still has 300: the others wait until its four end, at 60 s. (30% would be 435 by then: a fifth.)
    queues = Queue("root.a", guarantee=(300, 0)), Queue("root.b", guarantee=(500, 0))
    jobs = [job("a", 0, 8, 60), job("b", 0, 5, 100, "root.b")]
    spans = together(0, [0] * 4, 60) | {task: [(60_000, None, None)] for task in range(4, 8)}
    spans |= {task: [(0, None, None)] for task in range(8, 13)}
    return resized(*queues, jobs=jobs, spans=spans)


def one_node(*queues: Queue, jobs: list[JobSpec], spans: Spans, calculator: Calculator = "dominant") -> Example:
    """1000 MB and ten cores."""
    node = Node("n0", (1000, 10_000), (1000, 10_000))
    cluster = Cluster((node,), queues=(Queue("root"), *queues), calculator=calculator)
    return Example(build("amounts", jobs), cluster, CAPACITY, spans, 50_000)


def of_cores(name: str, at_ms: int, tasks: int, queue: str) -> JobSpec:
    stage = StageSpec("work", (10, 1000), [TaskSpec(A_SECOND * 1000)] * tasks)
    return JobSpec(name, at_ms, [stage], queue=queue)


def amounts_that_do_not_fit_fill_their_parent() -> Example:
    # 600 + 900 = 1500 MB are too much for 1000, 2 + 3 = 5 cores would fit ten. Both are made to fill root:
    # a: 600 * 1000 // 1500 = 400 MB: five containers of 100 MB (600 would be seven);
    #    2000 * 10000 // 5000 = 4000: five of one core (2000 would be three).
    # b: 900 * 1000 // 1500 = 600 MB: seven (900: ten); 3000 * 10000 // 5000 = 6000: seven (3000: four).
    queues = Queue("root.a", guarantee=(600, 2000)), Queue("root.b", guarantee=(900, 3000))
    jobs = [
        job("a-memory", 0, 9, A_SECOND, "root.a"),
        of_cores("a-cores", 10_000, 9, "root.a"),
        job("b-memory", 20_000, 9, A_SECOND, "root.b"),
        of_cores("b-cores", 30_000, 9, "root.b"),
    ]
    spans = in_batches(0, 0, 9, 5) | in_batches(9, 10_000, 9, 5)
    spans |= in_batches(18, 20_000, 9, 7) | in_batches(27, 30_000, 9, 7)
    return one_node(*queues, jobs=jobs, spans=spans)


def amounts_that_just_fit_in_one_resource_stay() -> Example:
    # 400 + 600 MB are all of root's, so 2 + 3 of its 10 cores are not scaled up: three containers of one core for a,
    # four for b (scaled to 4 and 6: five and seven).
    queues = Queue("root.a", guarantee=(400, 2000)), Queue("root.b", guarantee=(600, 3000))
    jobs = [of_cores("a", 0, 9, "root.a"), of_cores("b", 10_000, 9, "root.b")]
    return one_node(*queues, jobs=jobs, spans=in_batches(0, 0, 9, 3) | in_batches(9, 10_000, 9, 4))


def amounts_fill_the_parent_that_is_too_small() -> Example:
    # p has 600 MB and z 400, which root can give: five containers of z. p's children want 300 + 500 = 800:
    # x has 300 * 600 // 800 = 225: three (300 would be four); y has 500 * 600 // 800 = 375: four (500: six).
    sizes = {"p": 600, "p.x": 300, "p.y": 500, "z": 400}
    tree = [Queue(f"root.{name}", guarantee=(mb, 0)) for name, mb in sizes.items()]
    leaves = "root.p.x", "root.p.y", "root.z"
    jobs = [job(leaf, i * 10_000, 7, A_SECOND, leaf) for i, leaf in enumerate(leaves)]
    spans = in_batches(0, 0, 7, 3) | in_batches(7, 10_000, 7, 4) | in_batches(14, 20_000, 7, 5)
    return one_node(*tree, jobs=jobs, spans=spans)


def only_resources_that_count_make_amounts_not_fit() -> Example:
    # By memory alone 400 of 1000 MB fit, whatever the cores: five containers. (If twenty of ten cores made them fill
    # root, it would be 1000 MB: all nine.)
    queue = Queue("root.a", guarantee=(400, 20_000))
    return one_node(queue, jobs=[job("a", 0, 9, A_SECOND)], spans=in_batches(0, 0, 9, 5), calculator="memory")


def one_node_less(queues: tuple[Queue, ...], batches: tuple[int, int, int]) -> Example:
    """Two nodes of 1000 MB, then one, then two; a job of nine containers each time, so many of them at once."""
    at_ms = 0, LOST + 1000, BACK + 1000
    assert BACK + 4000 < OTHER_LOST
    jobs = [job(f"j{i}", at, 9, A_SECOND) for i, at in enumerate(at_ms)]
    spans: Spans = {}
    for i, (at, batch) in enumerate(zip(at_ms, batches, strict=True)):
        spans |= in_batches(9 * i, at, 9, batch)
    return lossy(jobs, CAPACITY, spans, OTHER_LOST, queues=(Queue("root"), *queues))


def a_lost_node_makes_amounts_not_fit() -> Example:
    # 600 + 900 of 2000 MB: a has 600, seven containers. Of 1000: 600 * 1000 // 1500 = 400, five. Then 600 again.
    # (30% would be 600, 300, 600: four in between.)
    queues = Queue("root.a", guarantee=(600, 0)), Queue("root.b", guarantee=(900, 0))
    return one_node_less(queues, (7, 5, 7))


def a_maximum_that_is_an_amount_stays() -> Example:
    # 700 MB, of 2000 and of 1000 alike; the guarantee, half, is a share, of which a user may have four times as much.
    # (35% would be 700, 350, 700: three in between.)
    queue = Queue("root.a", guarantee_permille=500, maximum=(700, 0), user_limit_factor_milli=4000)
    return one_node_less((queue,), (7, 7, 7))
