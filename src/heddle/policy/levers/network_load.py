"""Which paths are loaded: Trans, BPre and the ranking of nodes (paper 4, 3.2.2.1).

Trans[j][i] is what is assigned to move from node j to node i, BPre[j][i] the bandwidth of that path;

    Priority[i] = max over j != i of Trans[j][i] / BPre[j][i]

in ms. Trans is kept sparsely, as a list of sources for each node, and each node's maximum is brought up to date when
one of its sources changes: nothing ever looks at all pairs. The text never takes anything out of Trans; here a
transfer counts until it ends. Beside it stand the sums over each link, by which fetch times are told (fetch_time.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.model.compilable import callable_too

MOST_TRANSFERS = 1 << 20  # pairs of nodes that can be counted at once; beyond it, further ones are not

OF_TRANSFERS = ("source", "bytes", "next")  # lists: of each transfer; next: 1 + the next one to the same node
OF_LINKS = (  # lists
    "bandwidth", "uplink",  # of each node, of each rack (0: no limit), in bytes per ms
    "pairs",  # of two nodes, where less than what their links have is declared, in bytes per ms (0: it is not)
    "up", "down",  # of each rack: bytes assigned to leave it, to come into it
)  # fmt: skip


def room_for_transfers(n_nodes: int) -> dict[str, Any]:
    """All free, and chained."""
    room = min(n_nodes * n_nodes, MOST_TRANSFERS)
    chain = np.arange(2, room + 2)
    chain[-1:] = 0
    return {"source": np.zeros(room), "bytes": np.zeros(room), "next": chain}


@callable_too
def path_bandwidth(view, state, source, target):
    """BPre: the narrowest link between two nodes, in bytes per ms."""
    bandwidth = min(state.bandwidth[source], state.bandwidth[target])
    rack = view.node["rack"]
    if rack[source] != rack[target]:
        for node in (source, target):
            if state.uplink[rack[node]] > 0:
                bandwidth = min(bandwidth, state.uplink[rack[node]])
    if state.pairs.shape[0] > 0 and state.pairs[source * view.node.shape[0] + target] > 0:
        bandwidth = min(bandwidth, state.pairs[source * view.node.shape[0] + target])
    return bandwidth


@callable_too
def new_transfer(state, source, target):
    """Its place + 1; 0: there is no room."""
    at = state.table["free_transfer"][0]
    if at > 0:
        state.table["free_transfer"][0] = state.next[at - 1]
        state.source[at - 1], state.bytes[at - 1] = source, 0
        state.next[at - 1] = state.node["first_transfer"][target]
        state.node["first_transfer"][target] = at
    return at


@callable_too
def drop_transfer(state, previous, at, target):
    following = state.next[at - 1]
    if previous > 0:
        state.next[previous - 1] = following
    else:
        state.node["first_transfer"][target] = following
    state.next[at - 1] = state.table["free_transfer"][0]
    state.table["free_transfer"][0] = at


@callable_too
def _add_to_links(view, state, source, target, n_bytes):
    state.node["outbound"][source] += n_bytes
    state.node["inbound"][target] += n_bytes
    rack = view.node["rack"]
    if rack[source] != rack[target]:
        state.up[rack[source]] += n_bytes
        state.down[rack[target]] += n_bytes


@callable_too
def add_transfer(view, state, source, target, n_bytes):
    """Trans[source][target] grows by so many bytes (or shrinks), and with it the target's priority."""
    if source == target or n_bytes == 0:
        return
    previous, at = 0, state.node["first_transfer"][target]
    while at > 0 and state.source[at - 1] != source:
        previous, at = at, state.next[at - 1]
    if at == 0 and n_bytes > 0:
        previous, at = 0, new_transfer(state, source, target)
    if at == 0:
        return
    left = max(0, state.bytes[at - 1] + n_bytes)
    _add_to_links(view, state, source, target, left - state.bytes[at - 1])
    state.bytes[at - 1] = left
    if n_bytes > 0:
        time_ms = left // path_bandwidth(view, state, source, target)
        state.node["priority"][target] = max(state.node["priority"][target], time_ms)
        return
    if left == 0:
        drop_transfer(state, previous, at, target)
    slowest, at = 0, state.node["first_transfer"][target]
    while at > 0:
        bandwidth = path_bandwidth(view, state, state.source[at - 1], target)
        slowest, at = max(slowest, state.bytes[at - 1] // bandwidth), state.next[at - 1]
    state.node["priority"][target] = slowest
