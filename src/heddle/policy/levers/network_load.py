"""Which paths are loaded: Trans, BPre and the ranking of nodes (paper 4, 3.2.2.1).

Trans[j][i] is what is assigned to move from node j to node i, BPre[j][i] the bandwidth of that path;

    Priority[i] = max over j != i of Trans[j][i] / BPre[j][i]

in ms. Trans is kept sparsely, as a list of sources for each node, and each node's maximum is brought up to date when
one of its sources changes: nothing ever looks at all pairs. The text never takes anything out of Trans; here a
transfer counts until it ends.

Memory is the lever's table: words at fixed places (Layout) say where each part begins.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.compiled import callable_too

MOST_TRANSFERS = 1 << 20  # pairs of nodes that can be counted at once; beyond it, further ones are not

# Columns of state.node.
PRIORITY, FIRST_TRANSFER = 0, 1  # FIRST_TRANSFER: 1 + its place; 0: none
ENTRY_TASKS, BACKLOG = 2, 3  # its tasks of level 0 (Cnt0); early binding: tasks bound to it that have not finished


class Layout(IntEnum):
    """The words of the table that say where its parts begin."""

    FREE = 0  # itself: 1 + the first free transfer
    SOURCE = auto()  # of each transfer
    BYTES = auto()
    NEXT = auto()  # 1 + the next transfer to the same node
    BANDWIDTH = auto()  # of each node, bytes per ms
    UPLINK = auto()  # of each rack, bytes per ms; 0 = no limit
    LEVEL = auto()  # of each stage: 0 comes after nothing
    AFTER = auto()  # the stages that stages come after, as in the workload
    SHARE = auto()  # aligned with it: bytes that one task reads
    PLACES = auto()  # of each stage: how many nodes hold its output
    PLACE_NODE = auto()  # from its first task on: these nodes
    PLACE_TASKS = auto()  # and how many of its tasks wrote there
    PREFERRED_FIRST = auto()  # of each stage and behind the last: its first preferred node
    PREFERRED = auto()
    PREFERRED_BYTES = auto()  # for all tasks of the stage
    SIBLING = auto()  # of each stage: 1 + the node of its last container; 0: none
    AT_HAND = auto()  # itself: 1 + the stage that NEAR tells of
    NEAR = auto()  # of each node: how near it is to the input of that stage
    NEAR_RACK = auto()  # of each rack: whether it has some of that input
    ANY_NEAR = auto()  # itself: whether any node has
    HEARTBEATS = auto()  # itself: nodes are offered one at a time
    LEFT = auto()  # early binding: aligned with PLACE_NODE, tasks that are bound there and have no container
    LOAD = auto()  # early binding: per node and resource, what the level at hand wants
    END = auto()


_FREE = int(Layout.FREE)
_SOURCE, _BYTES, _NEXT = int(Layout.SOURCE), int(Layout.BYTES), int(Layout.NEXT)
_BANDWIDTH, _UPLINK = int(Layout.BANDWIDTH), int(Layout.UPLINK)


def laid_out(parts: dict[Layout, npt.NDArray[Any] | int], words: dict[Layout, int]) -> npt.NDArray[np.int64]:
    """The table of these parts (arrays, or lengths of zeros), one behind the other, and of these single words."""
    lengths = {name: part if isinstance(part, int) else len(part) for name, part in parts.items()}
    table = np.zeros(Layout.END + sum(lengths.values()), np.int64)
    at = int(Layout.END)
    for name, part in parts.items():
        table[name] = at
        if not isinstance(part, int):
            table[at : at + lengths[name]] = part
        at += lengths[name]
    for name, word in words.items():
        table[name] = word
    return table


def transfer_parts(n_nodes: int) -> dict[Layout, npt.NDArray[Any] | int]:
    """Room for transfers, all free."""
    room = min(n_nodes * n_nodes, MOST_TRANSFERS)
    chain = np.arange(2, room + 2)
    chain[-1:] = 0
    return {Layout.SOURCE: room, Layout.BYTES: room, Layout.NEXT: chain}


@callable_too
def path_bandwidth(view, table, source, target):
    """BPre: the narrowest link between two nodes, in bytes per ms."""
    bandwidth = min(table[table[_BANDWIDTH] + source], table[table[_BANDWIDTH] + target])
    rack = view.node["rack"]
    if rack[source] != rack[target]:
        for node in (source, target):
            uplink = table[table[_UPLINK] + rack[node]]
            if uplink > 0:
                bandwidth = min(bandwidth, uplink)
    return bandwidth


@callable_too
def add_transfer(view, state, source, target, n_bytes):
    """Trans[source][target] grows by so many bytes (or shrinks), and with it the target's priority."""
    table = state.table
    if source == target or n_bytes == 0:
        return
    previous, at = 0, state.node[target, FIRST_TRANSFER]
    while at > 0 and table[table[_SOURCE] + at - 1] != source:
        previous, at = at, table[table[_NEXT] + at - 1]
    if at == 0:
        if n_bytes < 0 or table[_FREE] == 0:
            return
        at = table[_FREE]
        table[_FREE] = table[table[_NEXT] + at - 1]
        table[table[_SOURCE] + at - 1] = source
        table[table[_BYTES] + at - 1] = 0
        table[table[_NEXT] + at - 1] = state.node[target, FIRST_TRANSFER]
        state.node[target, FIRST_TRANSFER] = at
        previous = 0
    left = max(0, table[table[_BYTES] + at - 1] + n_bytes)
    table[table[_BYTES] + at - 1] = left
    if n_bytes > 0:
        time_ms = left // path_bandwidth(view, table, source, target)
        state.node[target, PRIORITY] = max(state.node[target, PRIORITY], time_ms)
        return
    if left == 0:
        following = table[table[_NEXT] + at - 1]
        if previous > 0:
            table[table[_NEXT] + previous - 1] = following
        else:
            state.node[target, FIRST_TRANSFER] = following
        table[table[_NEXT] + at - 1] = table[_FREE]
        table[_FREE] = at
    slowest = 0
    at = state.node[target, FIRST_TRANSFER]
    while at > 0:
        one = table[table[_SOURCE] + at - 1]
        slowest = max(slowest, table[table[_BYTES] + at - 1] // path_bandwidth(view, table, one, target))
        at = table[table[_NEXT] + at - 1]
    state.node[target, PRIORITY] = slowest
