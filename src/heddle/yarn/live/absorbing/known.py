"""Whether a look names anything that has no row yet: rarely, so that only then Python looks for what it is."""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled
from heddle.yarn.live.live_memory import memory_at


@compiled
def all_known(address, nodes, queues, apps):
    """Whether every node has a row, and every queue that is listed or that an application is in or came to."""
    live, unknown = memory_at(address), 0
    for i in range(nodes.shape[0]):
        unknown += live.row_of_node[nodes["node"][i]] < 0
    for i in range(queues.shape[0]):
        unknown += live.leaf_of_queue[queues["queue"][i]] < 0
    for i in range(apps.shape[0]):
        unknown += live.leaf_of_queue[apps["queue"][i]] < 0
        unknown += live.leaf_of_queue[apps["submitted_to"][i]] < 0
    return unknown == 0
