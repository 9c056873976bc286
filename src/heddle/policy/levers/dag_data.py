"""Where the data of a DAG lies: its levels (paper 4, Algorithm 1), who reads how much from which node, who is near.

A stage is a *task* of the paper and its tasks are the paper's *sub-tasks*. Outputs are written down as containers
finish (or, bound early, as they are planned): nothing here is known to the engine alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.compilable import callable_too
from heddle.model.workload import TASKS
from heddle.policy.levers.network_load import add_transfer, room_for_transfers
from heddle.policy.policy import Setup

FAR, IN_RACK, ON_NODE = 0, 1, 2

OF_DAG = (  # lists
    "level",  # of each stage: 0 comes after nothing
    "after", "share",  # the stages that stages come after, as in the workload; bytes that one task reads from them
    "places",  # of each stage: how many nodes hold its output;
    "place_node", "place_tasks",  # from its first task on, these nodes, and how many of its tasks wrote there
    "first_preferred", "preferred", "preferred_bytes",  # input of all tasks of stage s: from first_preferred[s] on
    "sibling",  # of each stage: 1 + the node of its last container; 0: none
    "near", "near_rack",  # of each node and rack: how near it is to what the stage at hand reads
    # Of the stage at hand: the nodes that hold some of what it reads, n_sources of them; of each node whether it holds
    # input of a task; of each node and rack what one task reads from there, output of other stages and input.
    "sources", "holds_input", "output_here", "input_here", "rack_output", "rack_input",
    "left",  # early binding: aligned with place_node, tasks that are bound there and have no container
    "load",  # early binding: per level, node and resource, what the tasks bound there reserve that have not ended
)  # fmt: skip

LISTS_OF_DAG = {
    **dict.fromkeys(("level", "after", "share", "first_preferred", "preferred", "preferred_bytes"), "given"),
    **dict.fromkeys(("places", "sibling"), "stage"),
    **dict.fromkeys(("place_node", "place_tasks", "left"), "task"),
}


def levels(setup: Setup) -> npt.NDArray[np.int64]:
    """V0, V1, ...: what is left without predecessors when all earlier levels are taken away."""
    declared, stages = setup.declared, setup.view.stage_spec
    assert declared is not None
    level = np.zeros(len(stages), np.int64)
    later = np.repeat(np.arange(len(stages)), stages["n_after"])
    while len(later):
        wanted = level[declared.after] + 1
        if (level[later] >= wanted).all():
            break
        np.maximum.at(level, later, wanted)
    return level


def prepare(setup: Setup) -> dict[str, Any]:
    """What is declared, and room for what will be seen."""
    declared, stages = setup.declared, setup.view.stage_spec
    assert declared is not None
    setup.state.table["free_transfer"], setup.state.table["heartbeats"] = 1, declared.heartbeats
    later = np.repeat(np.arange(len(stages)), stages["n_after"])
    n_nodes, n_racks = len(setup.view.node), len(declared.uplink)
    early = bool(setup.lever.parameter("early"))
    level = levels(setup)
    n_tasks = int(stages["n_tasks"].sum()) if len(later) or early else 0
    n_loads = (int(level.max(initial=0)) + 1) * setup.view.node["allowance"].size if early else 0
    return room_for_transfers(n_nodes) | {
        "bandwidth": declared.bandwidth,
        "uplink": declared.uplink,
        "pairs": declared.pairs,
        "level": level,
        "after": declared.after,
        "share": declared.edge_bytes // np.maximum(1, stages["n_tasks"][later]),
        "places": np.zeros(len(stages)),
        "place_node": np.zeros(n_tasks),
        "place_tasks": np.zeros(n_tasks),
        "first_preferred": setup.first_preferred,
        "preferred": setup.preferred,
        "preferred_bytes": declared.preferred_bytes,
        "sibling": np.zeros(len(stages)),
        **{name: np.zeros(n_nodes) for name in ("near", "sources", "holds_input", "output_here", "input_here")},
        **{name: np.zeros(n_racks) for name in ("near_rack", "rack_output", "rack_input", "up", "down")},
        "left": np.zeros(n_tasks),
        "load": np.zeros(n_loads),
    }


@callable_too
def has_data(view, stage):
    """Whether its containers are tasks, of which data sizes tell something: on a live cluster, declared ones."""
    return view.stage_spec["kind"][stage] == TASKS and view.stage_spec["first_task"][stage] >= 0


@callable_too
def all_written(view, state, stage):
    """Whether the stages that it comes after are done, so that all it reads lies somewhere."""
    first = view.stage_spec["first_after"][stage]
    for edge in range(first, first + view.stage_spec["n_after"][stage]):
        before = state.after[edge]
        if view.stage["done"][before] < view.stage_spec["n_tasks"][before]:
            return False
    return True


@callable_too
def write_place(view, state, stage, node):
    """The output of one more task of the stage lies on the node, or will. The place in the lists of places."""
    first = view.stage_spec["first_task"][stage]
    end = first + state.places[stage]
    if state.place_node.shape[0] == 0:  # nothing comes after anything: no places are kept
        return first
    empty, place = end, first
    while place < end and state.place_node[place] != node:
        if state.place_tasks[place] == 0:
            empty = place
        place += 1
    if place == end:  # there is room for as many places as tasks, so one that nobody uses any more is taken first
        place = empty
        state.places[stage] += place == end
        state.place_node[place] = node
        state.place_tasks[place] = 0
    state.place_tasks[place] += 1
    return place


@callable_too
def move_input(view, state, stage, node, tasks):
    """What so many tasks of the stage read is to move to the node or, below 0, is no longer: Trans follows."""
    spec = view.stage_spec
    first = spec["first_after"][stage]
    for edge in range(first, first + spec["n_after"][stage]):
        before, share = state.after[edge], state.share[edge]
        first_place = spec["first_task"][before]
        for place in range(first_place, first_place + state.places[before]):
            part = share // spec["n_tasks"][before] * state.place_tasks[place]
            add_transfer(view, state, state.place_node[place], node, tasks * part)
    # Which of the stage's tasks it is, the scheduler does not say: one whose input is here, if there is any.
    here = False
    first, end = state.first_preferred[stage], state.first_preferred[stage + 1]
    for i in range(first, end):
        here = here or state.preferred[i] == node
    if not here:
        for i in range(first, end):
            part = state.preferred_bytes[i] // max(1, spec["n_tasks"][stage])
            add_transfer(view, state, state.preferred[i], node, tasks * part)


@callable_too
def _mark(view, state, node, output, own_input):
    """The node holds so much of what one task of the stage at hand reads."""
    rack = view.node["rack"][node]
    if state.near[node] != ON_NODE:
        state.near[node] = ON_NODE
        state.near_rack[rack] = 1
        state.sources[state.table["n_sources"][0]] = node
        state.table["n_sources"][0] += 1
    state.output_here[node] += output
    state.input_here[node] += own_input
    state.rack_output[rack] += output
    state.rack_input[rack] += own_input


@callable_too
def _forget_stage_at_hand(view, state):
    state.table["n_sources"][0] = 0
    for node in range(view.node.shape[0]):
        state.near[node] = FAR
        state.holds_input[node] = state.output_here[node] = state.input_here[node] = 0
    for rack in range(state.near_rack.shape[0]):
        state.near_rack[rack] = state.rack_output[rack] = state.rack_input[rack] = 0


@callable_too
def look_around(view, state, stage):
    """Makes NEAR tell of this stage: which nodes hold some of what it reads, and which share a rack with them; and
    SOURCES how much each of these holds."""
    spec = view.stage_spec
    if state.table["at_hand"][0] == stage + 1:
        return
    state.table["at_hand"][0] = stage + 1
    _forget_stage_at_hand(view, state)
    first = spec["first_after"][stage]
    for edge in range(first, first + spec["n_after"][stage]):
        before = state.after[edge]
        first_place = spec["first_task"][before]
        for place in range(first_place, first_place + state.places[before]):
            part = state.share[edge] // spec["n_tasks"][before] * state.place_tasks[place]
            _mark(view, state, state.place_node[place], part, 0)
    for i in range(state.first_preferred[stage], state.first_preferred[stage + 1]):
        part = state.preferred_bytes[i] // max(1, spec["n_tasks"][stage])
        _mark(view, state, state.preferred[i], 0, part)
        state.holds_input[state.preferred[i]] = 1
    for node in range(view.node.shape[0]):
        if state.near[node] == FAR and state.near_rack[view.node["rack"][node]]:
            state.near[node] = IN_RACK
