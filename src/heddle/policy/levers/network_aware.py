"""Network-aware placement (paper 4): data-dependent tasks go near their data, where the network is not loaded.

Late binding ranks the nodes when a container is given out. Where nodes are offered one at a time (heartbeats), a
request first refuses those that are not near its data or have no bandwidth to spare, as delay scheduling does. Early
binding plans a job when it arrives (early_binding.py), as the text has it.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FETCHED,
    EVENT_FINISHED,
    EVENT_STOPPED,
    JOB_FINISHED,
)
from heddle.policy.lever import Parameter, Placement, State
from heddle.policy.levers.dag_data import (
    IN_RACK,
    LISTS_OF_DAG,
    OF_DAG,
    ON_NODE,
    all_written,
    has_data,
    look_around,
    move_input,
    prepare,
    write_place,
)
from heddle.policy.levers.early_binding import (
    ANYWHERE,
    NOWHERE,
    bind_job,
    bound_place,
    count_bound,
    forget_ended_jobs,
    rebind,
)
from heddle.policy.levers.network_load import OF_LINKS, OF_TRANSFERS
from heddle.policy.levers.placement import most_free
from heddle.policy.levers.ranking import BY_LAST, RANKINGS, has_bandwidth, nearness, rank

LOCALITY, VETO = int(Reason.LOCALITY), int(Reason.VETO)


def score(view, state, params, node, stage):
    if stage < 0 or (not has_data(view, stage) and params.by != BY_LAST):
        return most_free(view, state, params, node, stage)
    if state.table["stopped"][0]:
        forget_ended_jobs(view, state)
    return rank(view, state, params, node, stage)


def allows(view, state, params, node, stage):
    if not has_data(view, stage):
        return 0
    if params.early > 0:
        return VETO if bound_place(view, state, stage, node) == NOWHERE else 0
    if state.table["heartbeats"][0] == 0 or params.by == BY_LAST:
        return 0
    look_around(view, state, stage)
    if state.table["n_sources"][0] == 0:
        return 0
    waited_ms = view.clock["now_ms"][0] - view.stage["asked_at_ms"][stage]
    near = nearness(view, state, node, stage)
    spare = state.level[stage] == 0 or has_bandwidth(state, params, node)
    if waited_ms >= 2 * params.wait_s or (spare and near == ON_NODE):
        return 0
    return 0 if spare and near == IN_RACK and waited_ms >= params.wait_s else LOCALITY


@callable_too
def _allocated(view, state, params, node, stage, container):
    entry = state.level[stage] == 0
    if params.early > 0:
        place = bound_place(view, state, stage, node)
        if place == NOWHERE:
            return
        if place == ANYWHERE or state.place_node[place] != node:  # it has none, or that is lost
            place = rebind(view, state, stage, place, node)
        else:
            state.left[place] -= 1
        state.container["bound_to"][container] = place + 1
        state.container["moving"][container] = 1
        return
    state.sibling[stage] = node + 1
    state.node["entry_tasks"][node] += entry
    if all_written(view, state, stage):
        state.container["moving"][container] = 1
        move_input(view, state, stage, node, 1)


@callable_too
def _fetched(view, state, node, stage, container):
    """The transfers to this container have ended."""
    if state.container["moving"][container]:
        state.container["moving"][container] = 0
        move_input(view, state, stage, node, -1)


@callable_too
def _ended(view, state, params, node, stage, container, finished):
    over = view.job["state"][view.stage_spec["job"][stage]] >= JOB_FINISHED
    if params.early == 0:
        _fetched(view, state, node, stage, container)
        state.node["entry_tasks"][node] -= state.level[stage] == 0
        if finished:
            write_place(view, state, stage, node)
            state.table["at_hand"][0] = 0
        return
    place = state.container["bound_to"][container] - 1
    if place >= 0 and not finished and not over:  # it will run again, on the node that it is bound to
        state.left[place] += 1
        if state.container["moving"][container] == 0:
            move_input(view, state, stage, node, 1)
    elif place >= 0:
        _fetched(view, state, node, stage, container)
        count_bound(view, state, stage, node, -1)


def on_event(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_STOPPED and params.early > 0:
        state.table["stopped"][0] = 1
    if kind == EVENT_ARRIVED:
        if params.early > 0:
            bind_job(view, state, params, view.stage_spec["job"][stage])
    elif kind == EVENT_ALLOCATED:
        if params.early == 0:
            state.job["last"][view.stage_spec["job"][stage]] = node + 1
        if has_data(view, stage):
            _allocated(view, state, params, node, stage, container)
    elif not has_data(view, stage):
        pass
    elif kind == EVENT_FETCHED:
        _fetched(view, state, node, stage, container)
    else:
        _ended(view, state, params, node, stage, container, kind == EVENT_FINISHED)
    return 0


NETWORK_AWARE = Placement(
    name="network-aware",
    summary="tasks go near the data they read, to nodes with an unloaded network (paper 4)",
    score=score, allows=allows, on_event=on_event,
    parameters=(
        Parameter("early", False, "bind all tasks of a job to nodes as it arrives, as the paper's text has it"),
        Parameter("by", "load", "the ranking: the paper's; nearness to data alone; as near-last, to bind stock early; "
                  "the time that a task would fetch", choices=RANKINGS),
        Parameter("busy_s", 5.0, "a node has no bandwidth to spare if a path to it has more transfers assigned", low=0),
        Parameter("wait_s", 3.0, "under heartbeats: how long to wait for a near node, and as long again for a rack",
                  low=0),
    ),
    state=State(
        # entry_tasks: of level 0 (Cnt0); backlog: bound to the node and not finished; transfers: 1 + place, 0: none
        # inbound, outbound: bytes assigned to the node's links
        node=("priority", "first_transfer", "inbound", "outbound", "entry_tasks", "backlog"),
        # next_planned, early binding: 1 + the job planned before it that may still have tasks bound; 0: none
        job=("last", "next_planned"),  # last: 1 + the node of its last container or bound task; 0: it has had none
        container=("moving", "bound_to"),  # whether its input is counted in Trans; 1 + the place it is bound to
        # at_hand: 1 + the stage that `near` tells of; first_planned: 1 + the job planned last
        # stopped, early binding: a container has stopped since somebody looked whether that was the end of its job
        table=("free_transfer", "at_hand", "n_sources", "heartbeats", "first_planned", "stopped"),
        lists=(*OF_TRANSFERS, *OF_LINKS, *OF_DAG),
        stages=("at_hand",),
        list_of=LISTS_OF_DAG,
    ),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FETCHED, EVENT_FINISHED, EVENT_STOPPED),
    does_without=(EVENT_FETCHED,),  # its transfers then count until it ends
    prepare=prepare,
    reads_declared=True,
    by_vetoes=("by=load", "by=nearness", "by=fetch"),
    by_data=("by=load", "by=nearness", "by=fetch"),
    by_stage="early",
    waits="wait_s",
    needs_all_jobs="early",
)  # fmt: skip
