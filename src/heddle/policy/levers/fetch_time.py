"""Beyond paper 4: how long a task would fetch on a node, given what is assigned to move there already.

    fetch[i] = max( max over j of (Trans[j][i] + own[j]) / BPre[j][i],  (sum over j of Trans[j][i] + own[j]) / NIC[i] )

in ms, with j over all other nodes and `own` what one task reads from each. Bytes decide where the paper has nearness,
the task's own ones count where it has those of others alone, and no threshold is needed.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.levers.dag_data import look_around
from heddle.policy.levers.network_load import path_bandwidth


@callable_too
def _own(state, source, node):
    """What one task of the stage at hand would read from there on the node: input is free beside any part of it."""
    return state.reads[source] + (0 if state.reads_input[node] else state.reads_input[source])


@callable_too
def fetch_ms(view, state, node, stage):
    look_around(view, state, stage)
    slowest, ingress = 0, 0
    for i in range(state.table["n_sources"][0]):
        source = state.sources[i]
        own = _own(state, source, node)
        if source != node and own > 0:
            ingress += own
            slowest = max(slowest, own // path_bandwidth(view, state, source, node))
    if ingress == 0:
        return 0
    at = state.node["first_transfer"][node]
    while at > 0:
        source, moving = state.source[at - 1], state.bytes[at - 1]
        own = _own(state, source, node)
        ingress += moving
        slowest = max(slowest, (moving + own) // path_bandwidth(view, state, source, node))
        at = state.next[at - 1]
    return max(slowest, ingress // state.bandwidth[node])
