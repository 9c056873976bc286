"""Stock YARN as paper 4 describes it: as close as possible to the node of the job's last task, blind to load.

"YARN assigns task to a node as close to last task node as possible in the case allowed by computational and memory
resources." Close is the same node, then the same rack, then anywhere. The text does not say where a job's first
container goes: ours goes to the node with most free.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import EVENT_ALLOCATED
from heddle.policy.lever import Placement, State
from heddle.policy.levers.placement import most_free

SAME_NODE, SAME_RACK = 2, 1


@callable_too
def close_to_last(view, state, node, stage):
    """How close the node is to the last one that the job was given; -1: it has been given none."""
    last = state.job["last"][view.stage_spec["job"][stage]] - 1
    if last < 0:
        return -1
    if node == last:
        return SAME_NODE
    return SAME_RACK if view.node["rack"][node] == view.node["rack"][last] else 0


@callable_too
def score(view, state, params, node, stage):
    close = close_to_last(view, state, node, stage)
    return close if close >= 0 else most_free(view, state, params, node, stage)


def allocated(view, state, params, kind, node, stage, container, value):
    state.job["last"][view.stage_spec["job"][stage]] = node + 1
    return 0


NEAR_LAST = Placement(
    name="near-last",
    summary="as close as possible to the job's last container: stock YARN in paper 4's words",
    score=score,
    on_event=allocated,
    state=State(job="last"),  # 1 + the node of its last container; 0: it has had none
    listens=(EVENT_ALLOCATED,),
)
