"""Where the data of a DAG lies: its levels (paper 4, Algorithm 1), who reads how much from which node, who is near.

A stage is a *task* of the paper and its tasks are the paper's *sub-tasks*. Outputs are written down as containers
finish (or, bound early, as they are planned): nothing here is known to the engine alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heddle.model.compiled import callable_too
from heddle.model.workload import TASKS
from heddle.policy.levers.network_load import Layout, add_transfer, laid_out, transfer_parts
from heddle.policy.policy import Setup

FAR, IN_RACK, ON_NODE = 0, 1, 2

_LEVEL, _AFTER, _SHARE = int(Layout.LEVEL), int(Layout.AFTER), int(Layout.SHARE)
_PLACES, _PLACE_NODE, _PLACE_TASKS = int(Layout.PLACES), int(Layout.PLACE_NODE), int(Layout.PLACE_TASKS)
_FIRST, _PREFERRED, _PREFERRED_BYTES = int(Layout.PREFERRED_FIRST), int(Layout.PREFERRED), int(Layout.PREFERRED_BYTES)
_AT_HAND, _NEAR, _NEAR_RACK, _ANY_NEAR = (
    int(Layout.AT_HAND), int(Layout.NEAR), int(Layout.NEAR_RACK), int(Layout.ANY_NEAR),
)  # fmt: skip


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


def prepare(setup: Setup) -> npt.NDArray[np.int64]:
    """The table: what is declared, and room for what will be seen."""
    declared, stages = setup.declared, setup.view.stage_spec
    assert declared is not None
    later = np.repeat(np.arange(len(stages)), stages["n_after"])
    n_nodes, n_racks = len(setup.view.node), len(declared.uplink)
    n_tasks = int(stages["n_tasks"].sum()) if len(later) or setup.lever.parameter("early") else 0
    n_resources = setup.view.shape["demand"].shape[1]
    parts: dict[Layout, npt.NDArray[np.int64] | int] = {
        **transfer_parts(n_nodes),
        Layout.BANDWIDTH: declared.bandwidth,
        Layout.UPLINK: declared.uplink,
        Layout.LEVEL: levels(setup),
        Layout.AFTER: declared.after.astype(np.int64),
        Layout.SHARE: declared.edge_bytes // np.maximum(1, stages["n_tasks"][later]),
        Layout.PLACES: len(stages),
        Layout.PLACE_NODE: n_tasks,
        Layout.PLACE_TASKS: n_tasks,
        Layout.PREFERRED_FIRST: setup.first_preferred,
        Layout.PREFERRED: setup.preferred,
        Layout.PREFERRED_BYTES: declared.preferred_bytes,
        Layout.SIBLING: len(stages),
        Layout.NEAR: n_nodes,
        Layout.NEAR_RACK: n_racks,
        Layout.LEFT: n_tasks,
        Layout.LOAD: n_nodes * n_resources,
    }
    return laid_out(parts, {Layout.FREE: 1, Layout.HEARTBEATS: int(declared.heartbeats)})


@callable_too
def level_of(state, stage):
    return state.table[state.table[_LEVEL] + stage]


@callable_too
def has_data(view, state, stage):
    """Whether its containers are tasks, of which data sizes tell something."""
    return view.stage_spec["kind"][stage] == TASKS


@callable_too
def all_written(view, state, stage):
    """Whether the stages that it comes after are done, so that all it reads lies somewhere."""
    first = view.stage_spec["first_after"][stage]
    for edge in range(first, first + view.stage_spec["n_after"][stage]):
        before = state.table[state.table[_AFTER] + edge]
        if view.stage["done"][before] < view.stage_spec["n_tasks"][before]:
            return False
    return True


@callable_too
def write_place(view, state, stage, node):
    """The output of one more task of the stage lies on the node, or will. The place in the lists of places."""
    table = state.table
    first = view.stage_spec["first_task"][stage]
    end = first + table[table[_PLACES] + stage]
    if table[_PLACE_NODE] == table[_PLACE_TASKS]:  # nothing comes after anything: no places are kept
        return first
    empty, place = end, first
    while place < end and table[table[_PLACE_NODE] + place] != node:
        if table[table[_PLACE_TASKS] + place] == 0:
            empty = place
        place += 1
    if place == end:  # there is room for as many places as tasks, so one that nobody uses any more is taken first
        place = empty
        table[table[_PLACES] + stage] += place == end
        table[table[_PLACE_NODE] + place] = node
        table[table[_PLACE_TASKS] + place] = 0
    table[table[_PLACE_TASKS] + place] += 1
    return place


@callable_too
def move_input(view, state, stage, node, tasks):
    """What so many tasks of the stage read is to move to the node or, below 0, is no longer: Trans follows."""
    table, spec = state.table, view.stage_spec
    first = spec["first_after"][stage]
    for edge in range(first, first + spec["n_after"][stage]):
        before, share = table[table[_AFTER] + edge], table[table[_SHARE] + edge]
        first_place = spec["first_task"][before]
        for place in range(first_place, first_place + table[table[_PLACES] + before]):
            part = share // spec["n_tasks"][before] * table[table[_PLACE_TASKS] + place]
            add_transfer(view, state, table[table[_PLACE_NODE] + place], node, tasks * part)
    # Which of the stage's tasks it is, the scheduler does not say: one whose input is here, if there is any.
    here = False
    first, end = table[table[_FIRST] + stage], table[table[_FIRST] + stage + 1]
    for i in range(first, end):
        here = here or table[table[_PREFERRED] + i] == node
    if not here:
        for i in range(first, end):
            part = table[table[_PREFERRED_BYTES] + i] // max(1, spec["n_tasks"][stage])
            add_transfer(view, state, table[table[_PREFERRED] + i], node, tasks * part)


@callable_too
def _mark(view, table, node):
    table[table[_NEAR] + node] = ON_NODE
    table[table[_NEAR_RACK] + view.node["rack"][node]] = 1
    table[_ANY_NEAR] = 1


@callable_too
def look_around(view, state, stage):
    """Makes NEAR tell of this stage: which nodes hold some of what it reads, and which share a rack with them."""
    table, spec = state.table, view.stage_spec
    if table[_AT_HAND] == stage + 1:
        return
    table[_AT_HAND] = stage + 1
    table[_ANY_NEAR] = 0
    n_nodes = view.node.shape[0]
    for node in range(n_nodes):
        table[table[_NEAR] + node] = FAR
        table[table[_NEAR_RACK] + view.node["rack"][node]] = 0
    first = spec["first_after"][stage]
    for edge in range(first, first + spec["n_after"][stage]):
        before = table[table[_AFTER] + edge]
        first_place = spec["first_task"][before]
        for place in range(first_place, first_place + table[table[_PLACES] + before]):
            _mark(view, table, table[table[_PLACE_NODE] + place])
    for i in range(table[table[_FIRST] + stage], table[table[_FIRST] + stage + 1]):
        _mark(view, table, table[table[_PREFERRED] + i])
    for node in range(n_nodes):
        if table[table[_NEAR] + node] == FAR and table[table[_NEAR_RACK] + view.node["rack"][node]]:
            table[table[_NEAR] + node] = IN_RACK
