"""What a node sends, peer by peer: a class of the kernel's htb for each, which limits it and counts its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from heddle.yarn.testbed.local.layout import Layout

INSIDE: Final = "eth0"  # what a node calls its end of the link
AS_FAST_AS_IT_GOES_MBIT: Final = 100_000
_SMALLEST_BURST_BYTES: Final = 65_536  # one large segment as the kernel passes it on
_QUANTUM_BYTES: Final = 60_000  # what a class sends before the next one's turn; the kernel would go by its rate
_ALL, _OTHERS, _FIRST_PEER = 1, 2, 0x10  # classes: of the link, of what goes elsewhere, of the first node
_COUNTED: Final = re.compile(r"^class htb (\S+).*\n\s*Sent (\d+) bytes", re.MULTILINE)


def burst_bytes(mbit: int) -> int:
    return max(_SMALLEST_BURST_BYTES, mbit * 1250)  # 10 ms: less than the kernel's timers can always keep up with


def what_a_node_sends(layout: Layout, node: int) -> Iterator[tuple[str, ...]]:
    """Arguments of tc, inside the node: all together the rate of its link, each peer that of the pair."""
    link = layout.link_mbit or AS_FAST_AS_IT_GOES_MBIT
    yield ("qdisc", "add", "dev", INSIDE, "root", "handle", "1:", "htb", "default", f"{_OTHERS:x}")
    yield _class("1:", _ALL, link, link)
    yield _class("1:1", _OTHERS, 1, link)
    for other in range(layout.nodes):
        if other != node:
            peer = _FIRST_PEER + other
            yield _class("1:1", peer, 1, min(link, layout.pair_mbit(node, other) or link))
            to = ("match", "ip", "dst", f"{layout.node_host(other)}/32", "flowid", f"1:{peer:x}")
            yield ("filter", "add", "dev", INSIDE, "parent", "1:", "protocol", "ip", "prio", "1", "u32", *to)


def _class(parent: str, number: int, mbit: int, most_mbit: int) -> tuple[str, ...]:
    """Sure of the first rate, and of as much as the second if the link has it to spare."""
    bursts = ("burst", f"{burst_bytes(mbit)}b", "cburst", f"{burst_bytes(most_mbit)}b")
    rates = ("rate", f"{mbit}mbit", "ceil", f"{most_mbit}mbit", *bursts, "quantum", str(_QUANTUM_BYTES))
    return ("class", "add", "dev", INSIDE, "parent", parent, "classid", f"1:{number:x}", "htb", *rates)


def bytes_by_peer(told: str, nodes: int) -> dict[int, int]:
    """From what `tc -s class show` says; not every tc has JSON for classes."""
    counts = {found[1]: int(found[2]) for found in _COUNTED.finditer(told)}
    peers = {node: f"1:{_FIRST_PEER + node:x}" for node in range(nodes)}
    return {node: counts[handle] for node, handle in peers.items() if handle in counts}
