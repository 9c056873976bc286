"""Which instants there are, worked out by hand: in those, and in no others, what the nodes promise is added up.

Two maps of 800 MB fit the large node (1000 MB) only; one runs for 10 s, the other waits for it. A reduce of 200 MB
would have room anywhere. borg-default(0.5) promises half of what is allocated once more: T is 1400 at first, and 1800
after the first map's allocation. The maps need 1600 of it: the reduce is asked for when T has been added up anew.
"""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Level, Node, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, STREAM_USAGE_REPORT, draw
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import EXACT, Observation, Outcome, Policy
from .worked_example import SEED, Example, Span

REDUCE = 2  # the number of the task
SEEN_BY_NOBODY = Observation(poll_ms=300, lag_ms=100_000)


def _example(reduce_starts_at_ms: int, cluster: Cluster, observation: Observation) -> Example:
    stages = [
        StageSpec("map", (800, 0), [TaskSpec(10_000)] * 2),
        StageSpec("reduce", (200, 0), [TaskSpec(5000)], after=("map",), slow_start_permille=0),
    ]
    spans: dict[int, list[Span]] = {REDUCE: [(reduce_starts_at_ms, None, None)]}
    policy = Policy(sizing=("borg-default", {"fraction": 0.5}))
    workload = build("instants", [JobSpec("mr", 0, stages)])
    return Example(workload, cluster, policy, spans, 11_000, observation=observation)


def _node(name: str, memory_mb: int, leaves_at_ms: int = -1) -> Node:
    return Node(name, (memory_mb, 0), (memory_mb, 0), decommission_at_ms=leaves_at_ms)


def a_report_that_is_seen_is_an_instant() -> Example:
    # The first report of either node. What is promised has changed by then, and the AM looks 1 ms later.
    first_ms = min(int(draw(SEED, STREAM_USAGE_REPORT, n)) % 1000 for n in range(2))
    return _example(first_ms + 1, Cluster((_node("large", 1000), _node("small", 400))), EXACT)


def a_report_that_nobody_sees_is_none() -> Example:
    # Reports are made every second and polls are every 300 ms, but nothing has arrived before the map ends.
    return _example(10_000, Cluster((_node("large", 1000), _node("small", 400))), SEEN_BY_NOBODY)


def nor_is_the_heartbeat_of_a_node_that_is_gone() -> Example:
    # The large node heartbeats first: the map is allocated. Then the one that is gone would; then the small one, in
    # whose instant the sum is renewed. The AM looks 1 ms later, and the next heartbeat is the large one's.
    small, gone, large = (int(draw(SEED, STREAM_NODE_HEARTBEAT, n)) % 1000 for n in range(3))
    assert large < gone < small
    cluster = Cluster(
        (_node("small", 400), _node("gone", 100, leaves_at_ms=1), _node("large", 1000)),
        timing=Timing(node_heartbeat_ms=1000),
    )
    return _example(1000 + large, cluster, SEEN_BY_NOBODY)


def a_report_that_makes_room_is_an_instant_with_a_node_gone() -> Example:
    # The load of others on the node ends at 5000, and the first report after that makes room for the task. What is
    # promised is added up at such instants, since a node has gone. The second job: something else is still to come.
    loaded = replace(_node("loaded", 1000), background=(Level(0, (500, 0)), Level(5000, (0, 0))))
    report_ms = 5000 + int(draw(SEED, STREAM_USAGE_REPORT, 0)) % 1000
    jobs = [JobSpec(str(at_ms), at_ms, [StageSpec("s", (800, 0), [TaskSpec(1000)])]) for at_ms in (2000, 20_000)]
    spans: dict[int, list[Span]] = {0: [(report_ms, report_ms + 1000, Outcome.FINISHED)]}
    cluster = Cluster((loaded, _node("gone", 100, leaves_at_ms=1)))
    return Example(build("instants", jobs), cluster, Policy(sizing=("n-sigma", {})), spans, 21_000)
