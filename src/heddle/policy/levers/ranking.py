"""Which node is better for a task of a DAG (paper 4, 3.2.2): one number, larger is better.

Level 0 is spread: near its input, then where most is free. Later levels walk the ranking: nodes with bandwidth to spare
first, among them those near the producers (or, of a stage that has a container, near that: step 8), then by Priority
ascending, then by Cnt0 descending. Beside the paper's ranking stand those that show what it is worth: nearness alone,
and stock's, so that stock can be bound early too. By fetch time is ours.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.policy.levers.dag_data import FAR, IN_RACK, ON_NODE, look_around
from heddle.policy.levers.fetch_time import fetch_cost
from heddle.policy.levers.near_last import close_to_last
from heddle.policy.levers.near_last import score as near_last_score
from heddle.policy.levers.placement import most_free

NEARER = 1 << 41  # per step; above any score of most-free
BY_LOAD, BY_NEARNESS, BY_LAST, BY_FETCH = 0, 1000, 2000, 3000  # places among RANKINGS, as parameters come
RANKINGS = ("load", "nearness", "last", "fetch")
_CLASS, _LOAD = 1 << 52, 1 << 12
_FETCH, _NEAR = 1 << 23, 2 * ONE  # a ms, and a step nearer; most-free's part of what is free comes below both
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
    return params.by != BY_LOAD or state.node["priority"][node] <= params.busy_s


@callable_too
def rank(view, state, params, node, stage):
    """Among nodes that can take the task now."""
    if params.by == BY_LAST:
        return near_last_score(view, state, params, node, stage)
    if params.by == BY_FETCH:
        return _by_fetch(view, state, node, stage) + most_free(view, state, params, node, stage)
    near = nearness(view, state, node, stage)
    if state.level[stage] == 0 or params.by == BY_NEARNESS:
        return NEARER * near + most_free(view, state, params, node, stage)
    return _by_load(state, params, node, near)


@callable_too
def planned_rank(view, state, params, node, stage):
    """Among nodes to which it may be bound: what is free now says nothing, so that their backlogs decide instead."""
    if params.by == BY_LAST:
        return max(0, close_to_last(view, state, node, stage))
    if params.by == BY_FETCH:
        return _by_fetch(view, state, node, stage)
    near = nearness(view, state, node, stage)
    if state.level[stage] == 0 or params.by == BY_NEARNESS:
        return NEARER * near
    return _by_load(state, params, node, near)


@callable_too
def _by_load(state, params, node, near):
    group = near + (3 if has_bandwidth(state, params, node) else 0)
    load = min(_MOST_LOAD, state.node["priority"][node])
    return group * _CLASS - load * _LOAD + min(_MOST_ENTRY, state.node["entry_tasks"][node])


@callable_too
def _by_fetch(view, state, node, stage):
    """The shorter fetch; where it is the same, nearer to data: of some no bytes are declared."""
    cost = min(_MOST_LOAD, fetch_cost(view, state, node, stage))
    return state.near[node] * _NEAR - cost * _FETCH
