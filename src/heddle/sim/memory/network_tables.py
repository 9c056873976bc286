"""The network's part of the engine's memory: links, routes between two nodes, and the flows on them."""

from __future__ import annotations

from typing import Final

import numpy as np

SIDES: Final = 4  # of a route, in this order: link out, link in, rack's link up, rack's link down
RATE_BITS: Final = 10  # rates, capacities and what is left of a flow are counted in 1/1024 byte (per ms)
BYTES_PER_MS_OF_MBPS: Final = 125
RATE_OF_MBPS: Final = BYTES_PER_MS_OF_MBPS << RATE_BITS

# Node n has the links 2n (out) and 2n + 1 (in); those of racks follow.
LINK: Final = np.dtype(
    [
        ("capacity", np.int64),  # as declared
        ("available", np.int64),  # what traffic of others leaves of it; 0 while its node is lost
        ("used", np.int64),  # sum of its flows' rates
        ("rest", np.int64),  # while rates are computed: what is not given away yet
        ("share", np.int64),  # while rates are computed: what each flow without a rate would get, or less
        ("due_ms", np.int64),  # link out: when the first of its flows ends
        ("reached", np.int64),  # the last computation of rates that looked at it
        ("flows", np.int32),
        ("most_flows", np.int32),  # since rates were last computed
        ("open", np.int32),  # while rates are computed: flows that have none yet
        ("first", np.int32),  # its routes
        ("side", np.int32),  # what it is to its routes
        ("changed", np.int8),  # in the list of links whose flows need new rates
        ("moved", np.int8),  # it can carry more or less than when rates were last computed
    ],
    align=True,
)
ROUTE: Final = np.dtype(  # flows between the same two nodes: all have the same rate
    [
        ("rate", np.int64),  # of each flow
        ("progress", np.int64),  # what a flow that has always been there would have moved, as of since_ms
        ("since_ms", np.int64),
        ("nearest_end", np.int64),  # the progress at which the first of its flows ends
        ("new_rate", np.int64),
        ("reached", np.int64),
        ("given", np.int64),  # the last computation that gave it a rate
        ("link", np.int32, (SIDES,)),  # -1: none
        ("next", np.int32, (SIDES,)),  # in the list of each link
        ("previous", np.int32, (SIDES,)),
        ("source", np.int32),
        ("target", np.int32),
        ("flows", np.int32),
        ("first_flow", np.int32),  # also: the next free route
        ("fresh", np.int8),  # it has had no rate yet
    ],
    align=True,
)
FLOW: Final = np.dtype(
    [
        ("end", np.int64),  # its route's progress at which it ends
        ("size", np.int64),
        ("route", np.int32),
        ("slot", np.int32),
        ("next", np.int32),  # on its route; also: the next free flow
        ("previous", np.int32),
        ("next_of_slot", np.int32),
        ("previous_of_slot", np.int32),
    ],
    align=True,
)
