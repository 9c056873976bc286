"""How long a task would fetch on a node, and keep its links busy: a ranking of ours, beyond paper 4.

The text ranks by the load of a node and by nearness, one before the other, and by no bytes of the task itself. Here
one time says both. Of each link that the task's input would take: what is assigned to it and has not arrived, and the
task's own bytes, over its bandwidth. The slowest link is the task's fetch time. To it comes the time that its own bytes
take of the links to the node, for which others will wait: without it, where a writer's link out is the slowest
whichever node is chosen, all nodes would look alike.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.levers.dag_data import look_around


@callable_too
def fetch_cost(view, state, node, stage):
    """In ms; 0 where all that a task of the stage reads is on the node."""
    look_around(view, state, stage)
    input_moves = 1 - state.holds_input[node]
    own, across, slowest = 0, 0, 0
    for place in range(state.table["n_sources"][0]):
        source = state.sources[place]
        part = state.output_here[source] + input_moves * state.input_here[source]
        if source != node and part > 0:
            own += part
            slowest = max(slowest, (state.node["outbound"][source] + part) // state.bandwidth[source])
    if own == 0:
        return 0
    home = view.node["rack"][node]
    for rack in range(state.uplink.shape[0]):
        part = state.rack_output[rack] + input_moves * state.rack_input[rack]
        if rack != home and part > 0:
            across += part
            if state.uplink[rack] > 0:
                slowest = max(slowest, (state.up[rack] + part) // state.uplink[rack])
    slowest = max(slowest, (state.node["inbound"][node] + own) // state.bandwidth[node])
    alone = own // state.bandwidth[node]
    if across > 0 and state.uplink[home] > 0:
        slowest = max(slowest, (state.down[home] + across) // state.uplink[home])
        alone += across // state.uplink[home]
    return slowest + alone
