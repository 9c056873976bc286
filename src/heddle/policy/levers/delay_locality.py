"""Delay scheduling: a stage waits a little for nodes, then for racks, that hold its input; then it takes any.

A stage prefers the nodes that some of its tasks prefer, as YARN's requests do, by host.
"""

from __future__ import annotations

from typing import Any

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.policy.lever import Parameter, Placement, State
from heddle.policy.levers.placement import most_free
from heddle.policy.policy import Setup

LOCALITY = int(Reason.LOCALITY)
FAR, IN_RACK, ON_NODE = 0, 1, 2
BONUS = 1 << 39  # per step nearer; above any score of most-free


def prepare(setup: Setup) -> dict[str, Any]:
    """Nodes that some task of stage s prefers: preferred[first[s]:first[s + 1]]."""
    return {"first": setup.first_preferred, "preferred": setup.preferred}


@callable_too
def nearness(view, state, node, stage):
    """How near the node is to the stage's input; ON_NODE for all if it prefers no node that could take it."""
    shape = view.stage_spec["shape"][stage]
    nearest = FAR
    usable = False
    for i in range(state.first[stage], state.first[stage + 1]):
        other = state.preferred[i]
        fits = view.node["alive"][other] != 0
        for r in range(view.shape["demand"].shape[1]):
            if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > view.node["allowance"][other, r]:
                fits = False
        if fits:
            usable = True
            if other == node:
                nearest = ON_NODE
            elif nearest == FAR and view.node["rack"][other] == view.node["rack"][node]:
                nearest = IN_RACK
    return nearest if usable else ON_NODE


def score(view, state, params, node, stage):
    return most_free(view, state, params, node, stage) + BONUS * nearness(view, state, node, stage)


def allows(view, state, params, node, stage):
    """Not in the rack before wait, not elsewhere before twice that."""
    waited_ms = view.clock["now_ms"][0] - view.stage["asked_at_ms"][stage]
    near = nearness(view, state, node, stage)
    if near == ON_NODE or waited_ms >= 2 * params.wait_s or (near == IN_RACK and waited_ms >= params.wait_s):
        return 0
    return LOCALITY


DELAY_LOCALITY = Placement(
    name="delay-locality",
    summary="near the input if that takes only a short wait, else as most-free",
    score=score,
    allows=allows,
    parameters=(
        Parameter("wait_s", 3.0, "how long to wait for a node, and as long again for a rack, near the input", low=0),
    ),
    state=State(lists=("first", "preferred"), list_of={"first": "given", "preferred": "given"}),
    prepare=prepare,
    waits="wait_s",
    of_yarn=True,
)
