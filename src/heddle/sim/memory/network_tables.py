"""The network's part of the engine's memory: links, routes between two nodes, and the flows on them."""

from __future__ import annotations

from typing import Annotated, Any, Final

import numpy as np

from heddle.model.cluster import BYTES_PER_MS_OF_MBPS
from heddle.sim.memory.declaring import Int8, Int32, Int64, Kind, Row, free_chain, of_run

SIDES: Final = 4  # of a route, in this order: link out, link in, rack's link up, rack's link down
RATE_BITS: Final = 10  # rates, capacities and what is left of a flow are counted in 1/1024 byte (per ms)
RATE_OF_MBPS: Final = BYTES_PER_MS_OF_MBPS << RATE_BITS

PerSide = Annotated[Any, Kind(np.int32, SIDES)]


class Link(Row):
    """Node n has the links 2n (out) and 2n + 1 (in); those of racks follow."""

    capacity: Int64 = of_run(lambda run: run.links.mbps * RATE_OF_MBPS)  # as declared
    available: Int64 = of_run(lambda run: run.links.mbps * RATE_OF_MBPS)  # what others' traffic leaves; 0: node lost
    used: Int64  # sum of its flows' rates
    rest: Int64  # while rates are computed: what is not given away yet
    share: Int64  # while rates are computed: what each flow without a rate would get, or less
    reached: Int64  # the last computation of rates that looked at it
    flows: Int32
    most_flows: Int32  # since rates were last computed
    open: Int32  # while rates are computed: flows that have none yet
    first: Int32 = -1  # its routes
    side: Int32 = of_run(lambda run: run.links.side)  # what it is to its routes
    changed: Int8  # in the list of links whose flows need new rates
    moved: Int8  # it can carry more or less than when rates were last computed


class Route(Row):
    """Flows between the same two nodes: all have the same rate."""

    rate: Int64  # of each flow
    progress: Int64  # what a flow that has always been there would have moved, as of since_ms
    since_ms: Int64
    nearest_end: Int64  # the progress at which the first of its flows ends
    new_rate: Int64
    reached: Int64
    given: Int64  # the last computation that gave it a rate
    link: PerSide  # -1: none
    next: PerSide  # in the list of each link
    previous: PerSide
    source: Int32
    target: Int32
    flows: Int32
    first_flow: Int32 = free_chain("free_route", "n_free_routes")  # also: the next free route
    fresh: Int8  # it has had no rate yet


class Flow(Row):
    end: Int64  # its route's progress at which it ends
    size: Int64
    route: Int32
    slot: Int32
    next: Int32 = free_chain("free_flow", "n_free_flows")  # on its route; also: the next free flow
    previous: Int32
    next_of_slot: Int32
    previous_of_slot: Int32
