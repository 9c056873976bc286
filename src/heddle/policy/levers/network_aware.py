"""Network-aware placement (paper 4): data-dependent tasks go near their data, where the network is not loaded.

Late binding ranks the nodes when a container is given out. Where nodes are offered one at a time (heartbeats), a
request first refuses those that are not near its data or have no bandwidth to spare, as delay scheduling does. Early
binding plans a job when it arrives (early_binding.py), as the text has it.
"""

from __future__ import annotations

from heddle.model.compiled import callable_too
from heddle.model.reasons import Reason
from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FETCHED,
    EVENT_FINISHED,
    EVENT_STOPPED,
    JOB_FINISHED,
)
from heddle.policy.lever import Columns, Lever, Parameter, Question
from heddle.policy.levers.dag_data import (
    IN_RACK,
    ON_NODE,
    all_written,
    has_data,
    level_of,
    look_around,
    move_input,
    prepare,
    write_place,
)
from heddle.policy.levers.early_binding import NOWHERE, bind_job, bound_place, rebind, unbind_job
from heddle.policy.levers.network_load import BACKLOG, ENTRY_TASKS, Layout
from heddle.policy.levers.ranking import free_part, has_bandwidth, nearness, rank

EARLY, WAIT = 0, 2  # parameters; ranking.py has the one between
LOCALITY, VETO = int(Reason.LOCALITY), int(Reason.VETO)
MOVING, BOUND_TO = 0, 1  # columns of state.container: its input is counted in Trans; 1 + the place it is bound to
_SIBLING, _AT_HAND, _ANY_NEAR = int(Layout.SIBLING), int(Layout.AT_HAND), int(Layout.ANY_NEAR)
_HEARTBEATS, _LEFT, _PLACE_NODE = int(Layout.HEARTBEATS), int(Layout.LEFT), int(Layout.PLACE_NODE)


def score(view, state, params, node, stage):
    if stage < 0 or not has_data(view, state, stage):
        return free_part(view, state, params, node, stage)
    return rank(view, state, params, node, stage)


def allows(view, state, params, node, stage):
    table = state.table
    if not has_data(view, state, stage):
        return 0
    if params[EARLY] > 0:
        return VETO if bound_place(view, state, stage, node) == NOWHERE else 0
    if table[_HEARTBEATS] == 0:
        return 0
    look_around(view, state, stage)
    if table[_ANY_NEAR] == 0:
        return 0
    waited_ms = view.clock["now_ms"][0] - view.stage["asked_at_ms"][stage]
    near = nearness(view, state, node, stage)
    spare = level_of(state, stage) == 0 or has_bandwidth(state, params, node)
    if waited_ms >= 2 * params[WAIT] or (spare and near == ON_NODE):
        return 0
    return 0 if spare and near == IN_RACK and waited_ms >= params[WAIT] else LOCALITY


@callable_too
def _allocated(view, state, params, node, stage, container):
    table = state.table
    entry = level_of(state, stage) == 0
    state.container[container, MOVING] = state.container[container, BOUND_TO] = 0
    if params[EARLY] > 0:
        place = bound_place(view, state, stage, node)
        if place < 0:
            return
        if table[table[_PLACE_NODE] + place] != node:  # its own node is lost
            place = rebind(view, state, stage, place, node)
        else:
            table[table[_LEFT] + place] -= 1
        state.container[container, BOUND_TO] = place + 1
        state.container[container, MOVING] = 1
        return
    table[table[_SIBLING] + stage] = node + 1
    state.node[node, ENTRY_TASKS] += entry
    if all_written(view, state, stage):
        state.container[container, MOVING] = 1
        move_input(view, state, stage, node, 1)


@callable_too
def _fetched(view, state, node, stage, container):
    """The transfers to this container have ended."""
    if state.container[container, MOVING]:
        state.container[container, MOVING] = 0
        move_input(view, state, stage, node, -1)


@callable_too
def _ended(view, state, params, node, stage, container, finished):
    table, job = state.table, view.stage_spec["job"][stage]
    entry = level_of(state, stage) == 0
    over = view.job["state"][job] >= JOB_FINISHED
    if params[EARLY] == 0:
        _fetched(view, state, node, stage, container)
        state.node[node, ENTRY_TASKS] -= entry
        if finished:
            write_place(view, state, stage, node)
            table[_AT_HAND] = 0
        return
    place = state.container[container, BOUND_TO] - 1
    if place >= 0 and not finished and not over:  # it will run again, on the node that it is bound to
        table[table[_LEFT] + place] += 1
        if state.container[container, MOVING] == 0:
            move_input(view, state, stage, node, 1)
    elif place >= 0:
        _fetched(view, state, node, stage, container)
        state.node[node, BACKLOG] -= 1
        state.node[node, ENTRY_TASKS] -= entry
    if over:
        unbind_job(view, state, job)


def on_event(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_ARRIVED:
        if params[EARLY] > 0:
            bind_job(view, state, params, view.stage_spec["job"][stage])
    elif not has_data(view, state, stage):
        pass
    elif kind == EVENT_ALLOCATED:
        _allocated(view, state, params, node, stage, container)
    elif kind == EVENT_FETCHED:
        _fetched(view, state, node, stage, container)
    else:
        _ended(view, state, params, node, stage, container, kind == EVENT_FINISHED)
    return 0


NETWORK_AWARE = Lever(
    name="network-aware",
    question=Question.PLACEMENT,
    summary="tasks go near the data they read, to nodes whose network is not loaded (paper 4)",
    hooks={"score": score, "allows": allows, "on_event": on_event},
    parameters=(
        Parameter("early", False, "bind all tasks of a job to nodes as it arrives, as the paper's text has it"),
        Parameter("busy_s", 5.0, "a node has no bandwidth to spare if a path to it has more transfers assigned", low=0),
        Parameter("wait_s", 3.0, "under heartbeats: how long to wait for a near node, and as long again for a rack",
                  low=0),
    ),
    columns=Columns(node=4, container=2),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FETCHED, EVENT_FINISHED, EVENT_STOPPED),
    prepare=prepare,
    reads_declared=True,
    score_by="pair-if-data",
    by_stage="early",
    waits="wait_s",
)  # fmt: skip
