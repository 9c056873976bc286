"""The network worked out by hand. 8 Mbit/s are 1000 bytes in a ms, so 1 MB over such a link alone takes a second."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Faults, Network, Node, Physics
from heddle.model.reasons import Outcome
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

from .trace import Policy
from .worked_example import Example, Span

FINISHED, NODE_LOST, RELEASED, KILLED = Outcome.FINISHED, Outcome.NODE_LOST, Outcome.RELEASED, Outcome.LIMIT_KILLED
MB = 1_000_000
FIRST_FIT = Policy(placement=("first-fit", {}))
Spans = dict[int, list[Span]]


def _nodes(count: int, mbps: int = 8, racks: tuple[str, ...] = ("a",), slots: int = 1) -> tuple[Node, ...]:
    size = (100 * slots, 1000 * slots)
    racks_in_turn = [racks[number % len(racks)] for number in range(count)]
    return tuple(Node(f"n{number}", size, size, rack, bandwidth_mbps=mbps) for number, rack in enumerate(racks_in_turn))


def _reads(host: str, size: int, duration_ms: int = 1000) -> TaskSpec:
    return TaskSpec(duration_ms, None, host, size)


def _single(name: str, task: TaskSpec, submit_at_ms: int = 0) -> JobSpec:
    return JobSpec(name, submit_at_ms, [StageSpec("s", (100, 1000), [task])])


def a_task_fetches_from_where_its_predecessors_ran() -> Example:
    # The two writers run on n0 and n1. The reader runs on n0: half of its 2 MB is there, the other half takes 1 s.
    writers = StageSpec("w", (100, 1000), [TaskSpec(500)] * 2)
    reader = StageSpec("r", (100, 1000), [TaskSpec(1000)], after=("w",), after_bytes=(2 * MB,))
    spans: Spans = {2: [(500, 2500, FINISHED)]}
    return Example(build("edge", [JobSpec("j", 0, [writers, reader])]), Cluster(_nodes(2)), FIRST_FIT, spans, 9000)


def uneven_parts_are_floors() -> Example:
    # 1001 bytes for two readers: 500 and 501. Both writers ran on n0, readers on n0 (nothing to fetch) and n1: 501
    # bytes at 1000 a ms take 1 ms.
    writers = StageSpec("w", (50, 500), [TaskSpec(500)] * 2)
    readers = StageSpec("r", (100, 1000), [TaskSpec(1000)] * 2, after=("w",), after_bytes=(1001,))
    spans: Spans = {2: [(500, 1500, FINISHED)], 3: [(500, 1501, FINISHED)]}
    return Example(build("parts", [JobSpec("j", 0, [writers, readers])]), Cluster(_nodes(2)), FIRST_FIT, spans, 9000)


def two_flows_share_a_link_and_one_goes_on_alone() -> Example:
    # Both read from n2, which is full. Each gets half of its link out: the first has its 1 MB after 2 s, the second has
    # 1 MB of its 2 left then, which takes another second.
    jobs = [_single("hog", TaskSpec(9000)), _single("a", _reads("n0", MB)), _single("b", _reads("n0", 2 * MB))]
    spans: Spans = {1: [(0, 3000, FINISHED)], 2: [(0, 4000, FINISHED)]}
    return Example(build("share", jobs), Cluster(_nodes(3)), FIRST_FIT, spans, 9000)


def max_min_gives_the_rest_to_who_can_use_it() -> Example:
    # Tasks 0 to 3 run on n0 to n3. 1, 2 and 3 read from n0: 333.33 bytes a ms each. Task 0 reads from n1 alone, whose
    # link out nobody else uses: 1000 bytes a ms. Shares are floors in 1/1024 byte: 1,024,000 // 3 = 341,333. 1 MB is
    # 1,024,000,000 of these: 3000.003 ms, so 3001.
    jobs = [_single("0", _reads("n1", MB)), *(_single(str(i), _reads("n0", MB)) for i in (1, 2, 3))]
    # Task 0 prefers n1 and would be there if they were one stage; as jobs of their own they go first-fit.
    spans: Spans = {0: [(0, 2000, FINISHED)], **{i: [(0, 4001, FINISHED)] for i in (1, 2, 3)}}
    return Example(build("fair", jobs), Cluster(_nodes(4)), FIRST_FIT, spans, 9000)


def racks_share_their_uplinks() -> Example:
    # n0, n2 in rack a; n1, n3 in rack b. Tasks on n0 and n2 read from n1 and n3: both flows go up from b, which has 8
    # Mbit/s, and so get half of it. The task on n1 reads from n3, inside the rack: it shares n3's link out, of which
    # the other flow takes 500.
    jobs = [_single("0", _reads("n1", MB)), _single("1", _reads("n3", MB)), _single("2", _reads("n3", MB))]
    network = Network(uplink_of_rack=(("b", 8),))
    # The uplink gives 500 to each; n3's link out has 500 left: all three have their 1 MB after 2 s.
    spans: Spans = {0: [(0, 3000, FINISHED)], 1: [(0, 3000, FINISHED)], 2: [(0, 3000, FINISHED)]}
    return Example(build("racks", jobs), Cluster(_nodes(4, 8, ("a", "b")), network=network), FIRST_FIT, spans, 9000)


def without_bandwidth_nothing_takes_time() -> Example:
    jobs = [_single("0", TaskSpec(9000)), _single("1", _reads("n0", MB))]
    spans: Spans = {1: [(0, 1000, FINISHED)]}
    return Example(build("off", jobs), Cluster(_nodes(2, mbps=0)), FIRST_FIT, spans, 9000)


def a_node_that_declares_nothing_has_a_terabit() -> Example:
    # 125,000,000 bytes a ms, but n0's 8 Mbit/s decide where both are in the way.
    nodes = (*_nodes(1), *(Node(f"n{i}", (100, 1000), (100, 1000), "a") for i in (1, 2)))
    jobs = [_single("0", TaskSpec(9000)), _single("1", _reads("n2", 125 * MB)), _single("2", _reads("n0", MB))]
    spans: Spans = {1: [(0, 1001, FINISHED)], 2: [(0, 2000, FINISHED)]}
    return Example(build("undeclared", jobs), Cluster(nodes), FIRST_FIT, spans, 9000)


def reduces_fetch_when_they_stop_holding() -> Example:
    # The reduce starts with the maps, on n0, and holds. At 1 s the maps, both on n1, are done; 1 MB to n0 takes 1 s;
    # then comes the shuffle of 0.5 s and 1 s of work.
    maps = StageSpec("m", (50, 500), [TaskSpec(1000)] * 2)
    reduce = StageSpec(
        "r", (100, 1000), [TaskSpec(1000)], ("m",), after_bytes=(MB,), slow_start_permille=0, shuffle_ms=500
    )
    spans: Spans = {2: [(0, 3500, FINISHED)]}
    return Example(build("early", [JobSpec("j", 0, [maps, reduce])]), Cluster(_nodes(2)), FIRST_FIT, spans, 9000)


def inner_tasks_fetch_to_their_executor() -> Example:
    # Two executors of one slot. The writer ran in the first, on n0; both readers begin at 0.5 s, the one in the second
    # executor fetches its half for 1 s.
    executors = StageSpec("e", (100, 1000), [TaskSpec(0)] * 2, kind=EXECUTORS)
    writer = StageSpec("w", (0, 0), [TaskSpec(500)], kind=INNER)
    readers = StageSpec("r", (0, 0), [TaskSpec(1000)] * 2, ("w",), INNER, after_bytes=(2 * MB,))
    spans: Spans = {3: [(500, 1500, FINISHED)], 4: [(500, 2500, FINISHED)], 1: [(0, 2500, RELEASED)]}
    job = JobSpec("j", 0, [executors, writer, readers])
    return Example(build("inner", [job]), Cluster(_nodes(2)), FIRST_FIT, spans, 9000)


def while_it_fetches_a_task_uses_memory_and_no_cpu() -> Example:
    # Two tasks of 2 vcores on a node of 2. The first computes alone for the second that the other fetches, then both
    # share: at 1 s it has 1 s to go, which takes 2. At 3 s the other has done 1 of its 2 s.
    size = (100, 2000)
    nodes = (Node("n0", size, size, bandwidth_mbps=8), Node("n1", (10, 0), (10, 0), bandwidth_mbps=8))
    use = constant(10, 2000)
    jobs = [
        JobSpec("a", 0, [StageSpec("s", (50, 1000), [TaskSpec(2000, use)])]),
        JobSpec("b", 0, [StageSpec("s", (50, 1000), [TaskSpec(2000, use, "n1", MB)])]),
    ]
    spans: Spans = {0: [(0, 3000, FINISHED)], 1: [(0, 4000, FINISHED)]}
    return Example(build("cpu", jobs), Cluster(nodes), FIRST_FIT, spans, 9000)


def a_task_above_its_limit_is_killed_before_it_fetches() -> Example:
    nodes = _nodes(2)
    jobs = [_single("0", TaskSpec(9000)), _single("1", TaskSpec(1000, constant(101, 0), "n0", MB))]
    spans: Spans = {1: [(0, 0, KILLED)]}
    cluster = Cluster(nodes, physics=Physics(pmem_check=True, max_attempts=1))
    return Example(build("limit", jobs), cluster, FIRST_FIT, spans, 9000)


def traffic_of_others_leaves_less() -> Example:
    # draw(1, 9, link * 2^32 + k) mod 1001 permille of 1,024,000 are taken from n0's link out (0) and n1's link in (3).
    # The smaller rests, in the seconds k = 0, 1, ...: 95,232, 167,936, 222,208, 34,816, 180,224, 169,984. That makes
    # 870,400,000 in 6 s; of 1,024,000,000 are 153,600,000 left, at 433,152 a ms: 354.6 ms.
    jobs = [_single("0", TaskSpec(90_000)), _single("1", _reads("n0", MB, 0))]
    cluster = Cluster(_nodes(2), network=Network(traffic_permille=500, traffic_ms=1000))
    return Example(build("traffic", jobs), cluster, FIRST_FIT, {1: [(0, 6355, FINISHED)]}, 90_000)


def flows_from_a_lost_node_stand_still() -> Example:
    # With this seed n0 is lost at 45.279 s and returns at 49.034 s. The 50 s of the flow last as much longer.
    nodes = (Node("n0", (10, 0), (10, 0), bandwidth_mbps=8), *_nodes(2)[1:])
    cluster = Cluster(nodes, faults=Faults(40, 5))
    spans: Spans = {0: [(0, 53_755, FINISHED)]}
    return Example(build("lost", [_single("1", _reads("n0", 50 * MB, 0))]), cluster, FIRST_FIT, spans, 200_000)


def a_lost_reader_fetches_anew() -> Example:
    # n0 is lost at 45.279 s, with the reader and 45 of its 50 MB. The retry 1 s later finds n0 back at 49.034 s only.
    nodes = (*_nodes(1), Node("n1", (10, 0), (10, 0), bandwidth_mbps=8))
    spans: Spans = {0: [(0, 45_279, NODE_LOST), (49_034, 60_931, NODE_LOST), (65_573, None, None)]}
    cluster = Cluster(nodes, faults=Faults(40, 5))
    return Example(build("anew", [_single("1", _reads("n1", 50 * MB, 0))]), cluster, FIRST_FIT, spans, 66_000)
