"""What joins the nodes, in a cluster file: rack uplinks, and the traffic of others."""

from __future__ import annotations

from typing import Any

from heddle.model.cluster import MOST_MBPS, Network
from heddle.traces.cluster_yaml.keys import Keys, scaled
from heddle.traces.cluster_yaml.settings import unscaled

PER_PERCENT = 10
MOST_TRAFFIC = 500  # permille: twice the mean is the most that others take, and a link always keeps something


def read_network(top: Keys, racks: set[str]) -> Network:
    keys = top.below("network")
    plain = Network()
    uplinks = keys.below("uplink_of_rack")
    for rack in uplinks.data:
        if rack not in racks:
            uplinks.report(str(rack), f"there is no such rack; the nodes are in {', '.join(sorted(racks))}")
    of_rack = {rack: uplinks.take(rack, scaled(low=1, high=MOST_MBPS), 0) for rack in uplinks.data if rack in racks}
    network = Network(
        rack_uplink_mbps=keys.take("rack_uplink_mbps", scaled(low=1, high=MOST_MBPS), 0),
        uplink_of_rack=tuple(of_rack.items()),
        traffic_permille=keys.take("traffic_percent", scaled(PER_PERCENT, high=MOST_TRAFFIC), 0),
        traffic_ms=keys.take("traffic_ms", scaled(low=1, high=10**9), plain.traffic_ms),
    )
    keys.done()
    return network


def show_network(network: Network) -> dict[str, Any]:
    plain = Network()
    shown = {
        "rack_uplink_mbps": network.rack_uplink_mbps,
        "uplink_of_rack": dict(network.uplink_of_rack),
        "traffic_percent": unscaled(network.traffic_permille, PER_PERCENT),
        "traffic_ms": network.traffic_ms if network.traffic_ms != plain.traffic_ms else 0,
    }
    return {key: value for key, value in shown.items() if value}
