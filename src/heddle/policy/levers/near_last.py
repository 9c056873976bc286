"""Stock YARN as paper 4 describes it: as close as possible to the node of the job's last task, blind to load.

"YARN assigns task to a node as close to last task node as possible in the case allowed by computational and memory
resources." Close is the same node, then the same rack, then anywhere. The text does not say where a job's first
container goes: ours goes to the node with most free.
"""

from __future__ import annotations

from heddle.model.compiled import callable_too
from heddle.model.view import EVENT_ALLOCATED
from heddle.policy.lever import Columns, Lever, Question
from heddle.policy.levers.placement import most_free

LAST = 0  # column of state.job: 1 + the node of its last container; 0: it has had none
SAME_NODE, SAME_RACK = 2, 1

free_part = callable_too(most_free)


def score(view, state, params, node, stage):
    last = state.job[view.stage_spec["job"][stage], LAST] - 1
    if last < 0:
        return free_part(view, state, params, node, stage)
    if node == last:
        return SAME_NODE
    return SAME_RACK if view.node["rack"][node] == view.node["rack"][last] else 0


def allocated(view, state, params, kind, node, stage, container, value):
    state.job[view.stage_spec["job"][stage], LAST] = node + 1
    return 0


NEAR_LAST = Lever(
    name="near-last",
    question=Question.PLACEMENT,
    summary="as close as possible to the job's last container: stock YARN in paper 4's words",
    hooks={"score": score, "on_event": allocated},
    columns=Columns(job=1),
    listens=(EVENT_ALLOCATED,),
)
