"""Flows and the routes that they share: they begin, end in time, or are broken off.

All flows between the same two nodes have the same rate, so a route keeps one number, its progress, that grows at this
rate; a flow that begins at progress p and moves x ends at p + x. Another rate is then news to the route, not to
each flow. Nothing is rounded: progress is counted in the unit of rates times ms.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import FOREVER
from heddle.sim.linked import link_first, unlink
from heddle.sim.memory.network_tables import RATE_BITS, SIDES
from heddle.sim.network.links import change_link
from heddle.sim.numba.units import unit
from heddle.sim.timeline import due_set


@inlined
def bring_route_forward(sim, i):
    """Progress of route i is as of now from here on."""
    now = sim.shown.clock["now_ms"][0]
    sim.route["progress"][i] += (now - sim.route["since_ms"][i]) * sim.route["rate"][i]
    sim.route["since_ms"][i] = now


@compiled
def _open_route(sim, source, target):
    """A route without flows."""
    route, link, rack = sim.route, sim.link, sim.shown.node["rack"]
    i = sim.control["free_route"][0]
    sim.control["free_route"][0] = route["first_flow"][i]
    sim.control["n_free_routes"][0] -= 1
    route["source"][i], route["target"][i] = source, target
    route["link"][i, 0], route["link"][i, 1] = 2 * source, 2 * target + 1
    route["link"][i, 2] = route["link"][i, 3] = -1
    if rack[source] != rack[target]:
        route["link"][i, 2] = sim.uplink[rack[source]]
        if sim.uplink[rack[target]] >= 0:
            route["link"][i, 3] = sim.uplink[rack[target]] + 1
    route["rate"][i] = route["progress"][i] = route["flows"][i] = 0
    route["since_ms"][i] = sim.shown.clock["now_ms"][0]
    route["nearest_end"][i] = FOREVER
    route["first_flow"][i] = -1
    route["fresh"][i] = 1
    for side in range(SIDES):
        at = route["link"][i, side]
        if at >= 0:
            first = link["first"][at]
            route["next"][i, side] = first
            route["previous"][i, side] = -1
            if first >= 0:
                route["previous"][first, side] = i
            link["first"][at] = i
    return i


@compiled
def _close_route(sim, i):
    route, link = sim.route, sim.link
    for side in range(SIDES):
        at = route["link"][i, side]
        if at >= 0:
            following, previous = route["next"][i, side], route["previous"][i, side]
            if previous >= 0:
                route["next"][previous, side] = following
            else:
                link["first"][at] = following
            if following >= 0:
                route["previous"][following, side] = previous
    route["first_flow"][i] = sim.control["free_route"][0]
    sim.control["free_route"][0] = i
    sim.control["n_free_routes"][0] += 1


@inlined
def _count_flow(sim, i, delta):
    """One flow more or less on route i."""
    sim.route["flows"][i] += delta
    sim.control["n_flows"][0] += delta
    for side in range(SIDES):
        at = sim.route["link"][i, side]
        if at >= 0:
            flows = sim.link["flows"][at] + delta
            sim.link["flows"][at] = flows
            sim.link["most_flows"][at] = max(sim.link["most_flows"][at], flows)
            sim.link["used"][at] += delta * sim.route["rate"][i]
            change_link(sim, at)


@compiled
def begin_flow(sim, s, route_before, source, n_bytes):
    """So many bytes flow from the source to the node of slot s, on a route that is there (or -1)."""
    flow, route = sim.flow, sim.route
    i = route_before
    if i < 0:
        i = _open_route(sim, source, sim.shown.container["node"][s])
    bring_route_forward(sim, i)
    f = sim.control["free_flow"][0]
    sim.control["free_flow"][0] = flow["next"][f]
    sim.control["n_free_flows"][0] -= 1
    flow["size"][f] = n_bytes << RATE_BITS
    flow["end"][f] = route["progress"][i] + flow["size"][f]
    flow["route"][f], flow["slot"][f] = i, s
    route["nearest_end"][i] = min(route["nearest_end"][i], flow["end"][f])
    link_first(flow["next"], flow["previous"], route["first_flow"], i, f)
    link_first(flow["next_of_slot"], flow["previous_of_slot"], sim.slot["first_flow"], s, f)
    _count_flow(sim, i, 1)


@compiled
def end_flow(sim, f):
    """The flow is over or broken off; its route has been brought forward."""
    flow, route, slot = sim.flow, sim.route, sim.slot
    i, s = flow["route"][f], flow["slot"][f]
    moved = (flow["size"][f] - max(0, flow["end"][f] - route["progress"][i])) >> RATE_BITS
    slot["fetched_bytes"][s] += moved
    rack = sim.shown.node["rack"]
    if rack[route["source"][i]] != rack[route["target"][i]]:
        slot["cross_rack_bytes"][s] += moved
    unlink(flow["next_of_slot"], flow["previous_of_slot"], slot["first_flow"], s, f)
    unlink(flow["next"], flow["previous"], route["first_flow"], i, f)
    flow["next"][f] = sim.control["free_flow"][0]
    sim.control["free_flow"][0] = f
    sim.control["n_free_flows"][0] += 1
    _count_flow(sim, i, -1)
    if route["flows"][i] == 0:
        _close_route(sim, i)
    elif flow["end"][f] == route["nearest_end"][i]:
        nearest = FOREVER
        other = route["first_flow"][i]
        while other >= 0:
            nearest = min(nearest, flow["end"][other])
            other = flow["next"][other]
        route["nearest_end"][i] = nearest


@compiled
def _next_that_ends(ends, first, now):
    """The first node from `first` on out of which a flow is over now; -1: none."""
    size = ends.shape[0] // 2
    if first >= size:
        return -1
    i = size + first
    while ends[i] > now:
        while i & 1:
            i >>= 1
        if i == 0:
            return -1
        i += 1
    while i < size:
        i *= 2
        i += ends[i] > now
    return i - size


@unit
def end_flows(sim, now):
    """Ends the flows that are over now; tasks whose last one it was are due."""
    flow, route, link = sim.flow, sim.route, sim.link
    sim.control["next_flow_ms"][0] = FOREVER  # renewed before the instant ends
    sim.control["flows_are_news"][0] = 1
    n = _next_that_ends(sim.first_end_ms, 0, now)
    while n >= 0:
        i = link["first"][2 * n]
        while i >= 0:
            following = route["next"][i, 0]
            bring_route_forward(sim, i)
            f = route["first_flow"][i]
            left = route["flows"][i]
            while left > 0:
                after = flow["next"][f]
                if flow["end"][f] <= route["progress"][i]:
                    s = flow["slot"][f]
                    end_flow(sim, f)
                    if sim.slot["first_flow"][s] < 0:
                        due_set(sim, s, now)
                f = after
                left -= 1
            i = following
        n = _next_that_ends(sim.first_end_ms, n + 1, now)
    return 0
