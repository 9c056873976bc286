"""Where outputs lie, as network-aware placement writes it down: never more than there is room for."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node
from heddle.model.view import EVENT_FINISHED
from heddle.policy.lever import Question
from heddle.traces.build import JobSpec, StageSpec, TaskSpec

from .hand_made import HandMade

ONE = (100, 1000)


def test_where_nothing_comes_after_anything_no_output_is_written_down() -> None:
    """There is no room for it: it would be written over the declared inputs, and behind the lever's memory."""
    cluster = Cluster(tuple(Node(f"n{i}", ONE, ONE, bandwidth_mbps=8) for i in range(4)))
    tasks = [[TaskSpec(1, None, f"n{i % 4}", 1000)] for i in range(8)]
    jobs = [JobSpec(f"j{i}", 0, [StageSpec("s", ONE, task)]) for i, task in enumerate(tasks)]
    made = HandMade("network-aware", Question.PLACEMENT, jobs, cluster)
    before = {name: getattr(made.state, name).copy() for name in ("preferred", "first_preferred", "preferred_bytes")}
    for job in range(8):
        made.tell(EVENT_FINISHED, node=3, stage=job, container=0)
    assert all((getattr(made.state, name) == kept).all() for name, kept in before.items())
    assert len(made.state.place_node) == 0
    assert made.state.places.sum() == 0
