"""NodeManagers in network namespaces: each has an address of its own and a link whose rate can be limited.

What a node sends to each other one has a class of its own (links.py). A bridge joins them; the masters are on this
machine itself, at the bridge's address. Everything is named after a hash of the cluster's folder, so that what a killed
start left is found without any memory of it. Nothing in /etc changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from ipaddress import IPv4Network
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.links import INSIDE, burst_bytes, bytes_by_peer, what_a_node_sends

_RANGE: Final = IPv4Network("10.213.0.0/16")  # one /24 of it for each cluster
_NAMESPACES: Final = Path("/run/netns")
_DEVICES: Final = Path("/sys/class/net")
_ROUTES: Final = Path("/proc/net/route")
_QUEUE_FOR: Final = "50ms"


def refuse_without_namespaces() -> None:
    """RunRefused says who to be, or what to install."""
    if os.geteuid() != 0:
        raise RunRefused("--hosts creates network namespaces, which requires root: run it with sudo")
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            raise RunRefused(f"--hosts needs `{tool}`, which was not found: install iproute2 (apt install iproute2)")


def bridge_of(folder: Path) -> str:
    """The cluster's bridge; names of its namespaces and links begin with it."""
    return f"hd{hashlib.sha256(str(folder).encode()).hexdigest()[:7]}"


def namespace_of(folder: Path, node: int) -> str:
    return f"{bridge_of(folder)}-{node}"


def inside(folder: Path, node: int) -> list[str]:
    """What to put before a command so that it runs in the node's namespace."""
    return ["ip", "netns", "exec", namespace_of(folder, node)]


def free_subnet(folder: Path) -> str:
    """A range of addresses that this machine has no route to; always the same for a cluster, if it is free."""
    taken = {int(line.split()[1], 16) for line in _ROUTES.read_text().splitlines()[1:]}
    ranges = list(_RANGE.subnets(new_prefix=24))
    first = int(bridge_of(folder)[2:], 16) % len(ranges)
    for subnet in ranges[first:] + ranges[:first]:
        if int.from_bytes(subnet.network_address.packed, "little") not in taken:  # as the kernel writes them
            return str(subnet)
    raise RunRefused(f"all ranges of {_RANGE} are in use: stop a cluster first")


def join_nodes(folder: Path, layout: Layout) -> None:
    """Makes the bridge, and for each node a namespace with an address and a link to it."""
    part_nodes(folder)  # what a killed start left
    bridge, length = bridge_of(folder), layout.network.prefixlen
    _do("ip", "link", "add", bridge, "type", "bridge")
    _do("ip", "address", "add", f"{layout.master_host}/{length}", "dev", bridge)
    _do("ip", "link", "set", bridge, "up")
    for node in range(layout.nodes):
        name = namespace_of(folder, node)  # also of the link's end out here
        within = ("ip", "-netns", name)
        _do("ip", "netns", "add", name)
        _do("ip", "link", "add", name, "type", "veth", "peer", "name", INSIDE, "netns", name)
        _do("ip", "link", "set", name, "master", bridge, "up")
        _do(*within, "address", "add", f"{layout.node_host(node)}/{length}", "dev", INSIDE)
        _do(*within, "link", "set", "lo", "up")
        _do(*within, "link", "set", INSIDE, "up")
        if layout.link_mbit:  # what comes to the node
            rate = ("rate", f"{layout.link_mbit}mbit", "burst", f"{burst_bytes(layout.link_mbit)}b")
            _do("tc", "qdisc", "add", "dev", name, "root", "tbf", *rate, "latency", _QUEUE_FOR)
        for command in what_a_node_sends(layout, node):
            _do("tc", "-netns", name, *command)


def sent_bytes(folder: Path, layout: Layout) -> dict[tuple[int, int], int]:
    """What each node has sent to each other one so far, headers included."""
    sent = {}
    for node in range(layout.nodes):
        told = _do("tc", "-netns", namespace_of(folder, node), "-s", "class", "show", "dev", INSIDE)
        for other, count in bytes_by_peer(told, layout.nodes).items():
            if other != node:
                sent[node, other] = count
    return sent


def part_nodes(folder: Path) -> None:
    """Removes whatever is there of the cluster's network, in whatever state it is."""
    bridge = bridge_of(folder)
    for name in _named(_NAMESPACES, bridge):
        _do("ip", "netns", "delete", name)
    for name in _named(_DEVICES, bridge):
        _do("ip", "link", "delete", name, may_fail=name != bridge)  # a link goes with its other end, maybe just now


def _named(folder: Path, bridge: str) -> list[str]:
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return sorted((name for name in found if name == bridge or name.startswith(f"{bridge}-")), reverse=True)


def _do(*command: str, may_fail: bool = False) -> str:
    """What it says."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode and not may_fail:
        raise RunRefused(f"`{' '.join(command)}` failed: {ran.stderr.strip() or ran.stdout.strip()}")
    return ran.stdout
