"""Room that a container leaves, worked out by hand: given away by its node's next heartbeat, or at once."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import SEED, Example, Span

PHASE = int(draw(SEED, STREAM_NODE_HEARTBEAT, 0)) % 1000
FINISHED = Outcome.FINISHED


def _one_after_another(*, at_end: bool, begin_ms: int, pause_ms: int) -> Example:
    # Three tasks of 1.4 s, and room for one of them at a time.
    node = Node("n0", (1000, 0), (1000, 0))
    workload = build("tell", [JobSpec("a", 0, [StageSpec("s", (600, 0), [TaskSpec(1400)] * 3)])])
    spans: dict[int, list[Span]] = {
        task: [(begin_ms + task * (1400 + pause_ms), begin_ms + task * (1400 + pause_ms) + 1400, FINISHED)]
        for task in range(3)
    }
    timing = Timing(node_heartbeat_ms=1000, heartbeat_at_end=at_end)
    return Example(workload, Cluster((node,), timing=timing), Policy(), spans, 20_000)


def told_by_the_next_heartbeat() -> Example:
    return _one_after_another(at_end=False, begin_ms=PHASE, pause_ms=600)


def told_at_once() -> Example:
    return _one_after_another(at_end=True, begin_ms=PHASE, pause_ms=0)


def what_ends_after_the_offers_is_told_a_millisecond_later() -> Example:
    # Tasks without work start in the node's offer and end in the second round of the same instant.
    node = Node("n0", (1000, 0), (1000, 0))
    workload = build("nothing", [JobSpec("a", 0, [StageSpec("s", (600, 0), [TaskSpec(0)] * 3)])])
    spans: dict[int, list[Span]] = {task: [(PHASE + task, PHASE + task, FINISHED)] for task in range(3)}
    timing = Timing(node_heartbeat_ms=1000, heartbeat_at_end=True)
    return Example(workload, Cluster((node,), timing=timing), Policy(), spans, 20_000)


def a_head_blocks_only_where_it_may_go() -> Example:
    # x has the red node, y the other. `red` waits for the red one; `wide`, behind it, for all of the other, where
    # nobody may overtake it. When x ends at 10 s, that must not keep `red` from the red node, where `wide` never fits.
    nodes = Node("n0", (1000, 0), (1000, 0), label="red"), Node("n1", (1200, 0), (1200, 0))
    other = int(draw(SEED, STREAM_NODE_HEARTBEAT, 1)) % 1000

    def job(name: str, memory_mb: int, seconds: int, label: str = "") -> JobSpec:
        return JobSpec(name, 0, [StageSpec("s", (memory_mb, 0), [TaskSpec(seconds * 1000)], label=label)])

    jobs = [job("x", 600, 10, "red"), job("y", 1100, 20), job("red", 600, 5, "red"), job("wide", 1200, 5)]
    spans: dict[int, list[Span]] = {
        0: [(PHASE, PHASE + 10_000, FINISHED)],
        1: [(other, other + 20_000, FINISHED)],
        2: [(PHASE + 10_000, PHASE + 15_000, FINISHED)],
        3: [(other + 20_000, other + 25_000, FINISHED)],
    }
    timing = Timing(node_heartbeat_ms=1000)
    return Example(build("labels", jobs), Cluster(nodes, timing=timing), Policy(), spans, 30_000)
