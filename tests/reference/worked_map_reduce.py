"""When reduces are asked for, worked out by hand. Maps reserve 1000 MB for 10 s, reduces work 5 s, unless said so.

Without AMs and heartbeats a look is in the instant of an end, and 1 ms after an allocation.
"""

from __future__ import annotations

from heddle.model.cluster import Cluster, Level, MapReduce, Node, Physics, Queue, Timing
from heddle.model.draw import STREAM_AM_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build, constant

from .trace import Policy, Running
from .worked_example import SEED, Example, Span

FINISHED, PREEMPTED, CRASHED = Outcome.FINISHED, Outcome.PREEMPTED, Outcome.CRASHED
FIRST_FIT = Policy(ordering=("fifo", {"blocking": 0}), placement=("first-fit", {}))
MAP = TaskSpec(10_000)


def job(
    maps: list[TaskSpec],
    reduces: int,
    reduce: Vector,
    slow_start_permille: int = 0,
    one_map: Vector = (1000, 0),
    am: Vector | None = None,
    queue: str = "root.default",
) -> JobSpec:
    stages = [
        StageSpec("map", one_map, maps),
        StageSpec(
            "reduce", reduce, [TaskSpec(5000)] * reduces, after=("map",), slow_start_permille=slow_start_permille
        ),
    ]
    return JobSpec("mr", 0, stages, am=am, queue=queue)


def nodes(*memory_mb: int) -> tuple[Node, ...]:
    return tuple(Node(f"n{i}", (memory, 0), (memory, 0)) for i, memory in enumerate(memory_mb))


def at(start_s: float, end_s: float) -> list[Span]:
    return [(round(start_s * 1000), round(end_s * 1000), FINISHED)]


def reduces_ramp_up_with_the_maps() -> Example:
    # 10 s: two of four maps are done, nothing is held, headroom 2500. Half of that is for reduces, and what is left is
    # less than the two waiting maps need: 1250 // 500 = 2. They go before the maps, of which one finds room.
    workload = build("ramp-up", [job([MAP] * 4, 2, (500, 0), 500)])
    spans = {2: at(10, 20), 3: at(20, 30), 4: at(10, 35), 5: at(10, 35)}
    return Example(workload, Cluster(nodes(2500)), Policy(), spans, 60_000)


def what_maps_leave_goes_to_reduces() -> Example:
    # Maps fit the second node only. 10 s: one of two is done, headroom 1600. A quarter of it, 400, would be one reduce,
    # but the one map that waits needs 1000 of the other 1200: reduces get 600, two of them.
    cluster = Cluster(nodes(600, 1000), map_reduce=MapReduce(ramp_up_limit_permille=250))
    spans = {0: at(0, 10), 1: at(10, 20), 2: at(10, 25), 3: at(10, 25)}
    return Example(build("unused", [job([MAP] * 2, 2, (300, 0))]), cluster, FIRST_FIT, spans, 60_000)


def asked_reduces_are_withdrawn() -> Example:
    # 10 s: three of eight maps are done, one runs; headroom 3000, limit 4000, 3/8 of that 1500: three reduces. But the
    # rival takes all 3000. 1 ms later the limit is 1000, 375 for reduces, 1125 less than asked: two are withdrawn.
    # 15 s: 1000 come free, limit 2000, 750: no more; the asked one goes. 500 are left, too little for a map. 20 s: 1000
    # more, headroom 1500, limit 3000, 1125: one more; and a map.
    maps = [MAP] * 3 + [TaskSpec(40_000)] + [MAP] * 4
    others = StageSpec("s", (1000, 0), [TaskSpec(ms) for ms in (5000, 10_000, 90_000)])
    rival = JobSpec("rival", 10_000, [others], priority=1)
    spans: dict[int, list[Span]] = {
        4: [(20_000, None, None)],
        5: [],
        8: [(15_000, None, None)],
        9: [(20_000, None, None)],
        10: [],
    }
    workload = build("ramp-down", [job(maps, 6, (500, 0)), rival])
    return Example(workload, Cluster(nodes(4000)), Policy(), spans, 21_000)


def reduces_give_way_to_a_lost_map() -> Example:
    # 10 s: two of three maps are done; limit 2000, half of it for reduces: 1000 are left for the last map, which needs
    # as much: two reduces, and the map. Then no map waits: the others are asked for, 10.001 s. 12 s: the map crashes,
    # they take its place. 13 s: it is asked for again, with no headroom. Room for one map is two reduces, half of the
    # limit too: the two that were allocated first end. They come back at 14 s, and have room when the map is done.
    stages = [
        StageSpec("map", (1000, 0), [TaskSpec(10_000, constant(1000, 0))] * 3),
        StageSpec("reduce", (500, 0), [TaskSpec(5000, constant(0, 0))] * 4, after=("map",), slow_start_permille=0),
    ]
    node = Node("n0", (2000, 0), (2000, 0), background=(Level(12_000, (1500, 0)), Level(12_001, (0, 0))))
    spans: dict[int, list[Span]] = {
        2: [(10_000, 12_000, CRASHED), (13_000, 23_000, FINISHED)],
        3: [(10_000, 13_000, PREEMPTED), (23_000, 28_000, FINISHED)],
        4: [(10_000, 13_000, PREEMPTED), (23_000, 28_000, FINISHED)],
        5: at(12, 28),
        6: at(12, 28),
    }
    cluster = Cluster((node,), physics=Physics(oom="largest"))
    return Example(build("lost", [JobSpec("mr", 0, stages)]), cluster, Policy(), spans, 60_000)


def half_of_the_limit_gives_way_at_once() -> Example:
    # Four reduces as large as maps fill the node, three maps wait. One reduce would do for one map, half of the limit
    # are two, all maps would need three: two end, those that have been there longest. 1 s: they could be asked for
    # again, but with two maps there, two reduces hold more than the 1000 that the maps leave. 10 s: 2000 come free, one
    # map is left: limit 4000, 3000 for reduces, one more. 10.001 s: no map waits.
    running = {task: Running(0, (task - 7) * 1000) for task in range(3, 7)}
    spans: dict[int, list[Span]] = {
        0: at(0, 10),
        1: at(0, 10),
        2: at(10, 20),
        3: [(-4000, 0, PREEMPTED), (10_000, 25_000, FINISHED)],
        4: [(-3000, 0, PREEMPTED), (20_000, 25_000, FINISHED)],
        5: at(-2, 25),
        6: at(-1, 25),
    }
    workload = build("half", [job([MAP] * 3, 4, (1000, 0))])
    return Example(workload, Cluster(nodes(4000)), Policy(), spans, 60_000, running)


def room_that_no_map_fits_counts_for_a_while() -> Example:
    # As in what_maps_leave_goes_to_reduces, but the reduces go to the map's node. Headroom is 1000 and a map needs no
    # more, so they stay until the maps have waited for more than 300 s. A map needs the room of four: both end.
    spans: dict[int, list[Span]] = {
        1: at(300.001, 310.001),
        2: [(10_000, 300_001, PREEMPTED), (301_001, 315_001, FINISHED)],
        3: [(10_000, 300_001, PREEMPTED), (301_001, 315_001, FINISHED)],
    }
    workload = build("pieces", [job([MAP] * 2, 2, (300, 0))])
    return Example(workload, Cluster(nodes(1000, 600)), FIRST_FIT, spans, 400_000)


EQUAL: dict[int, list[Span]] = {2: at(10, 20), 3: at(20, 30), 4: at(10, 35), 5: at(30, 35), 6: at(35, 40)}


def equal_reduces_come_to_an_end() -> Example:
    # 10 s: two of four maps are done, limit 2000: one reduce, one map. 20 s: the last map; then all are asked for.
    workload = build("equal", [job([MAP] * 4, 3, (1000, 0), 50)])
    return Example(workload, Cluster(nodes(2000)), Policy(), EQUAL, 60_000)


def a_queue_says_how_much_there_is() -> Example:
    # The same, in half of a cluster twice as large.
    queues = Queue("root"), Queue("root.a", guarantee_permille=500, maximum_permille=500)
    workload = build("queue", [job([MAP] * 4, 3, (1000, 0), 50, queue="root.a")])
    policy = Policy(ordering=("leaf-order", {}), queues=("capacity", {}))
    return Example(workload, Cluster(nodes(4000), queues=queues), policy, EQUAL, 60_000)


def fair_tells_of_fair_shares() -> Example:
    # b's task makes it active: a is due 2000, though it has had 3000. 10 s: three of six maps are done, headroom is
    # 2000, not the 3000 that are free: half of it are two reduces, and two maps follow. 10.001 s: a has more than its
    # share, no headroom; limit 3000, 1500 for reduces: one more is asked for, and nothing is free.
    b = JobSpec("b", 0, [StageSpec("s", (1000, 0), [TaskSpec(100_000)])], queue="root.b")
    spans: dict[int, list[Span]] = {
        3: [(10_000, None, None)],
        4: [(10_000, None, None)],
        5: [],
        6: [(10_000, None, None)],
        7: [(10_000, None, None)],
        8: [],
    }
    workload = build("share", [job([MAP] * 6, 4, (500, 0), queue="root.a"), b])
    policy = Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))
    cluster = Cluster(nodes(4000), queues=(Queue("root"), Queue("root.a"), Queue("root.b")))
    return Example(workload, cluster, policy, spans, 15_000)


def _by_cpu(calculator: str, spans: dict[int, list[Span]]) -> Example:
    node = Node("n0", (4000, 4000), (4000, 4000))
    workload = build("cpu", [job([MAP] * 6, 5, (500, 1000), one_map=(500, 1000))])
    return Example(workload, Cluster((node,), calculator=calculator), Policy(), spans, 60_000)  # type: ignore[arg-type]


def cpu_counts_where_the_scheduler_says_so() -> Example:
    # Four maps at a time. 10 s: four of six are done; maps leave 3000 MB, but only 2 vcores: two reduces. The others
    # are asked for when no map waits, and find CPU at 20 s and 25 s.
    spans = {4: at(10, 20), 5: at(10, 20), 6: at(10, 25), 7: at(10, 25), 8: at(20, 25), 9: at(20, 25), 10: at(25, 30)}
    return _by_cpu("dominant", spans)


def memory_alone_has_room_for_all() -> Example:
    # All six maps at once, and 1000 MB are left for two reduces. The others find room when the maps are done.
    spans = {5: at(0, 10), 6: at(0, 15), 7: at(0, 15), 8: at(10, 15), 9: at(10, 15), 10: at(10, 15)}
    return _by_cpu("memory", spans)


def asks_go_with_the_next_heartbeat() -> Example:
    # p: the AM's first heartbeat. The map is asked for at p, starts at p + 1, ends at p + 11 s: a heartbeat, at which
    # the AM looks, after what it had to ask for has gone. The reduce is asked for at p + 12 s, and starts a heartbeat
    # later.
    p = draw(SEED, STREAM_AM_HEARTBEAT, 0) % 1000 / 1000
    workload = build("beat", [job([MAP], 1, (500, 0), 1000, am=(100, 0))])
    spans = {1: at(p + 1, p + 11), 2: at(p + 13, p + 18)}
    return Example(workload, Cluster(nodes(4000), timing=Timing(am_heartbeat_ms=1000)), Policy(), spans, 60_000)


def a_chain_opens_link_by_link() -> Example:
    # At 0 the map leaves 2000 of 3000: the first early stage is asked for at once, and holds. The second comes after
    # it, and is not looked at before the map is done; then none of its predecessor's tasks waits.
    stages = [
        StageSpec("map", (1000, 0), [MAP]),
        StageSpec("reduce", (1000, 0), [TaskSpec(5000)], after=("map",), slow_start_permille=0),
        StageSpec("sort", (1000, 0), [TaskSpec(5000)], after=("reduce",), slow_start_permille=0),
    ]
    spans = {0: at(0, 10), 1: at(0, 15), 2: at(10, 20)}
    return Example(build("chain", [JobSpec("mr", 0, stages)]), Cluster(nodes(3000)), Policy(), spans, 60_000)


def what_one_stage_asked_for_is_not_the_others() -> Example:
    # At 0 the map leaves 1000 of 2000. The first early stage asks for both of its 500; the second finds nothing left.
    # When the map is there, none waits: all are asked for. 10 s: 2000 for four.
    stages = [
        StageSpec("map", (1000, 0), [MAP]),
        StageSpec("one", (500, 0), [TaskSpec(5000)] * 2, after=("map",), slow_start_permille=0),
        StageSpec("two", (500, 0), [TaskSpec(5000)] * 2, after=("map",), slow_start_permille=0),
    ]
    spans = {0: at(0, 10), 1: at(0, 15), 2: at(0, 15), 3: at(10, 15), 4: at(10, 15)}
    return Example(build("two", [JobSpec("mr", 0, stages)]), Cluster(nodes(2000)), Policy(), spans, 60_000)
