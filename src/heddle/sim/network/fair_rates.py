"""Max-min fair rates of flows, by progressive filling (docs/semantics.md, "Network").

Only what can have changed is computed anew. A link gives each of its flows that has no rate yet at least its *level*,
capacity // flows, because shares only grow as the filling goes on; so flows below a link's level have got their rate
from another link, and whatever happens to this one does not concern them. From the links that changed, the flows at or
above their level are looked at, then the other links of those flows, the flows at or above the level of those, and
so on; the others keep what they have, and had it before any of these links gave anything away.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import FOREVER
from heddle.sim.lexicographic import pair_before
from heddle.sim.memory.network_tables import SIDES
from heddle.sim.network.flows import bring_route_forward
from heddle.sim.network.links import follow_traffic
from heddle.sim.numba.units import unit


@compiled
def _reach(sim):
    """Lists the links and routes whose rates must be looked at; says how many routes."""
    link, route, control = sim.link, sim.route, sim.control
    control["rates_turn"][0] += 1
    turn = control["rates_turn"][0]
    n_links, n_routes = 0, 0
    for k in range(control["n_changed_links"][0]):
        at = sim.changed_links[k]
        link["changed"][at] = 0
        link["reached"][at] = turn
        sim.reached_links[n_links] = at
        n_links += 1
    control["n_changed_links"][0] = 0
    k = 0
    while k < n_links:
        at = sim.reached_links[k]
        k += 1
        side = link["side"][at]
        level = 0
        if link["moved"][at] == 0 and link["most_flows"][at] > 0:  # the level before the change counts too
            level = link["available"][at] // link["most_flows"][at]
        link["moved"][at] = 0
        link["most_flows"][at] = link["flows"][at]
        link["rest"][at] = link["available"][at] - link["used"][at]
        link["open"][at] = 0
        i = link["first"][at]
        while i >= 0:
            if route["reached"][i] != turn and (route["rate"][i] >= level or route["fresh"][i]):
                route["reached"][i] = turn
                sim.reached_routes[n_routes] = i
                n_routes += 1
                for other_side in range(SIDES):
                    other = route["link"][i, other_side]
                    if other >= 0 and link["reached"][other] != turn:
                        link["reached"][other] = turn
                        sim.reached_links[n_links] = other
                        n_links += 1
            i = route["next"][i, side]
    for k in range(n_routes):
        i = sim.reached_routes[k]
        for side in range(SIDES):
            at = route["link"][i, side]
            if at >= 0:
                link["open"][at] += route["flows"][i]
                link["rest"][at] += route["flows"][i] * route["rate"][i]
    control["n_reached_links"][0] = n_links
    return n_routes


@inlined
def _share(link, at):
    """What each flow of the link that has no rate yet would get."""
    return max(1, link["rest"][at] // link["open"][at]) if link["available"][at] > 0 else 0


@compiled
def _sift(sim, size, place):
    """Moves the link at this place of the heap down to where its share belongs."""
    heap, share = sim.link_heap, sim.link["share"]
    at = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and pair_before(share[heap[child + 1]], heap[child + 1], share[heap[child]], heap[child]):
            child += 1
        if not pair_before(share[heap[child]], heap[child], share[at], at):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = at


@compiled
def _fill(sim):
    """Gives every reached route its new rate. Shares only grow, so the heap is put right where one is looked at."""
    link, route, heap = sim.link, sim.route, sim.link_heap
    turn = sim.control["rates_turn"][0]
    size = 0
    for k in range(sim.control["n_reached_links"][0]):
        at = sim.reached_links[k]
        if link["open"][at] > 0:
            link["share"][at] = _share(link, at)
            heap[size] = at
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sift(sim, size, place)
    while size > 0:
        at = heap[0]
        if link["open"][at] == 0:
            size -= 1
            heap[0] = heap[size]
            _sift(sim, size, 0)
            continue
        share = _share(link, at)
        if share > link["share"][at]:
            link["share"][at] = share
            _sift(sim, size, 0)
            continue
        side = link["side"][at]
        i = link["first"][at]
        while i >= 0:
            if route["reached"][i] == turn and route["given"][i] != turn:
                route["given"][i] = turn
                route["new_rate"][i] = share
                for other_side in range(SIDES):
                    other = route["link"][i, other_side]
                    if other >= 0:
                        link["open"][other] -= route["flows"][i]
                        link["rest"][other] -= route["flows"][i] * share
            i = route["next"][i, side]


@inlined
def _set_rates(sim, n_routes):
    link, route = sim.link, sim.route
    for k in range(n_routes):
        i = sim.reached_routes[k]
        route["fresh"][i] = 0
        growth = route["new_rate"][i] - route["rate"][i]
        if growth != 0:
            bring_route_forward(sim, i)
            route["rate"][i] += growth
            for side in range(SIDES):
                at = route["link"][i, side]
                if at >= 0:
                    link["used"][at] += route["flows"][i] * growth


@inlined
def _end_first(ends, n, at_ms):
    """The first flow out of node n ends at that time."""
    i = ends.shape[0] // 2 + n
    differs = ends[i] != at_ms
    ends[i] = at_ms
    while i > 1 and differs:
        first = min(ends[i], ends[i ^ 1])
        i >>= 1
        differs = ends[i] != first
        ends[i] = first


@inlined
def _find_due(sim, at):
    """When the first flow that leaves by this link ends."""
    link, route = sim.link, sim.route
    due = FOREVER
    i = link["first"][at]
    while i >= 0:
        rate = route["rate"][i]
        if rate > 0:
            left = route["nearest_end"][i] - route["progress"][i]
            due = min(due, route["since_ms"][i] + (left + rate - 1) // rate)
        i = route["next"][i, 0]
    _end_first(sim.first_end_ms, at >> 1, due)


@unit
def renew_flows(sim, now):
    """Flows have begun or ended, or links have changed: new rates, and when the next flow ends."""
    control = sim.control
    follow_traffic(sim, now)
    n_routes = _reach(sim)
    _fill(sim)
    _set_rates(sim, n_routes)
    n_nodes = sim.shown.node.shape[0]
    for k in range(control["n_reached_links"][0]):
        at = sim.reached_links[k]
        if at < 2 * n_nodes and at & 1 == 0:
            _find_due(sim, at)
    following = sim.first_end_ms[1]
    if control["n_flows"][0] > 0 and sim.setting["traffic_permille"][0] > 0:
        following = min(following, (control["traffic_turn"][0] + 1) * sim.setting["traffic_ms"][0])
    control["next_flow_ms"][0] = following
    control["flows_are_news"][0] = 0
    return 0
