"""Links: what they can carry now, and which of them changed (docs/semantics.md, "Network")."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.draw import STREAM_TRAFFIC, draw
from heddle.sim.books import put_on_list
from heddle.sim.numba.units import unit


@inlined
def change_link(sim, link):
    """Flows on the link need new rates."""
    put_on_list(sim.link["changed"], sim.changed_links, sim.control["n_changed_links"], link)


@compiled
def _set_available(sim, link):
    """What traffic of others leaves of the link in the present interval, unless its node is lost."""
    available = sim.link["capacity"][link]
    permille = sim.setting["traffic_permille"][0]
    if permille > 0:
        index = (link << 32) + sim.control["traffic_turn"][0]
        taken = draw(sim.setting["seed"][0], STREAM_TRAFFIC, index) % (2 * permille + 1)
        available = max(1, available - available * taken // 1000)
    n = link >> 1
    if n < sim.shown.node.shape[0] and sim.node_run["lost"][n]:
        available = 0
    sim.link["available"][link] = available
    sim.link["moved"][link] = 1


@unit
def change_links_of_node(sim, n):
    """Node n was lost or has returned."""
    for link in range(2 * n, 2 * n + 2):
        _set_available(sim, link)
        change_link(sim, link)
    return 0


@inlined
def follow_traffic(sim, now):
    """Traffic of others is that of the interval in which `now` lies."""
    turn = now // sim.setting["traffic_ms"][0]
    if sim.setting["traffic_permille"][0] > 0 and turn != sim.control["traffic_turn"][0]:
        sim.control["traffic_turn"][0] = turn
        for link in range(sim.link.shape[0]):
            _set_available(sim, link)
            if sim.link["flows"][link] > 0:
                change_link(sim, link)
