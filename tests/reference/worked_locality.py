"""Placement that refuses nodes, worked out by hand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import SEED, Example, Span

FINISHED = Outcome.FINISHED
DELAY = ("delay-locality", {"wait_s": 2})


def _jobs() -> list[JobSpec]:
    def job(name: str, host: str | None) -> JobSpec:
        return JobSpec(name, 0, [StageSpec("s", (100, 0), [TaskSpec(9000, None, host)])])

    return [job("a", "n0"), job("b", "n0"), job("c", None)]


def _cluster() -> Cluster:
    return Cluster(tuple(Node(f"n{i}", (100, 0), (100, 0)) for i in range(3)))


def a_head_that_refuses_all_nodes_blocks_an_ideal_pass() -> Example:
    # a takes n0. b waits 2 s for n0, then takes another node of the rack. Until then c, behind it, waits too.
    spans: dict[int, list[Span]] = {1: [(2000, 11_000, FINISHED)], 2: [(2000, 11_000, FINISHED)]}
    return Example(build("blocks", _jobs()), _cluster(), Policy(placement=DELAY), spans, 20_000)


def others_pass_it_by_if_the_order_does_not_block() -> Example:
    # b and c want the same, so c is behind b in one bucket all the same: only heads are candidates.
    jobs = [*_jobs()[:2], JobSpec("c", 0, [StageSpec("s", (99, 0), [TaskSpec(9000)])])]
    spans: dict[int, list[Span]] = {1: [(2000, 11_000, FINISHED)], 2: [(0, 9000, FINISHED)]}
    policy = Policy(ordering=("fifo", {"blocking": 0}), placement=DELAY)
    return Example(build("passes", jobs), _cluster(), policy, spans, 20_000)


def _waits_for_a_node_that_goes(starts_at_ms: int, heartbeat_ms: int) -> Example:
    # b would wait 60 s for n0, where a runs. But n0 is decommissioned at 5 s: nobody is near any more.
    nodes = (Node("n0", (100, 0), (100, 0), decommission_at_ms=5000), Node("n1", (100, 0), (100, 0)))
    spans: dict[int, list[Span]] = {1: [(starts_at_ms, starts_at_ms + 9000, FINISHED)]}
    cluster = Cluster(nodes, timing=Timing(node_heartbeat_ms=heartbeat_ms))
    policy = Policy(placement=("delay-locality", {"wait_s": 60}))
    return Example(build("goes", _jobs()[:2]), cluster, policy, spans, 20_000)


def nobody_waits_for_a_node_that_is_decommissioned() -> Example:
    return _waits_for_a_node_that_goes(5000, 0)


def nor_by_heartbeats() -> Example:
    return _waits_for_a_node_that_goes(5000 + int(draw(SEED, STREAM_NODE_HEARTBEAT, 1)) % 1000, 1000)


def the_next_container_goes_near_the_last() -> Example:
    # The first goes to n0, as all are free. 40 MB are left there: the second goes to n2, slow, but in its rack.
    nodes = (
        Node("n0", (100, 0), (100, 0), rack="a"),
        Node("n1", (100, 0), (100, 0), rack="b"),
        Node("n2", (100, 0), (100, 0), rack="a", speed_permille=500),
    )
    workload = build("near", [JobSpec("j", 0, [StageSpec("s", (60, 0), [TaskSpec(9000)] * 2)])])
    spans: dict[int, list[Span]] = {0: [(0, 9000, FINISHED)], 1: [(0, 18_000, FINISHED)]}
    return Example(workload, Cluster(nodes), Policy(placement=("near-last", {})), spans, 20_000)
