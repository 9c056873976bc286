"""Placement that refuses nodes, worked out by hand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import Example, Span

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


EXAMPLES = [a_head_that_refuses_all_nodes_blocks_an_ideal_pass, others_pass_it_by_if_the_order_does_not_block]
