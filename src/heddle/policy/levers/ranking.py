"""Which node is better for a task of a DAG (paper 4, 3.2.2): one number, larger is better.

Level 0 is spread: near its input, then where most is free. Later levels walk the ranking: nodes with bandwidth to spare
first, among them those near the producers (or, of a stage that has a container, near that: step 8), then by Priority
ascending, then by Cnt0 descending.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.levers.dag_data import FAR, IN_RACK, ON_NODE, look_around
from heddle.policy.levers.placement import most_free

NEARER = 1 << 41  # per step; above any score of most-free
_CLASS, _LOAD = 1 << 52, 1 << 12
_MOST_LOAD, _MOST_ENTRY = (1 << 39) - 1, (1 << 12) - 1


@callable_too
def nearness(view, state, node, stage):
    """How near the node is to what the stage reads or, if it has had a container, to the last one of these."""
    look_around(view, state, stage)
    sibling = state.sibling[stage] - 1
    if sibling < 0 or state.level[stage] == 0:
        return state.near[node]
    if node == sibling:
        return ON_NODE
    return IN_RACK if view.node["rack"][node] == view.node["rack"][sibling] else FAR


@callable_too
def has_bandwidth(state, params, node):
    """Constraint (2) of 3.2.1: no path to the node has more transfers assigned than it can do in busy_s."""
    return state.node["priority"][node] <= params.busy_s


@callable_too
def rank(view, state, params, node, stage):
    near = nearness(view, state, node, stage)
    if state.level[stage] == 0:
        return NEARER * near + most_free(view, state, params, node, stage)
    group = near + (3 if has_bandwidth(state, params, node) else 0)
    load = min(_MOST_LOAD, state.node["priority"][node])
    return group * _CLASS - load * _LOAD + min(_MOST_ENTRY, state.node["entry_tasks"][node])
