"""Where the capacity has gone since the dashboard began to look: the coarse lines of the waste ledger, as they grow.

Every MB and every millicore of nodes' own sizes is in one line at each moment; what was reserved beyond a node's own
size stands beside the sum. A record of `heddle yarn observe` and `heddle ledger` tell more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from heddle.yarn.live.things_seen import Size

USED, IDLE, NOT_KNOWN, FREE, AWAY, UNSEEN, BEYOND = range(7)
LINES: Final = (
    "used", "reserved but idle", "reserved, use not known", "not reserved", "node away", "not observed",
    "reserved beyond own sizes",
)  # fmt: skip
_HOUR_S: Final = 3600
_PER_UNIT: Final = (1024, 1000)  # MB of a GB, millicores of a vcore


@dataclass(frozen=True)
class Held:
    """What a node had to give and gave away."""

    own: Size
    reserved: Size | None  # None: it is away
    used: tuple[float, float] | None  # None: not told, or too old to be believed


class Ledger:
    """Told of each look with the time until the next."""

    def __init__(self) -> None:
        self._amounts = [[0.0] * len(LINES) for _ in _PER_UNIT]
        self.seconds = 0.0

    def add(self, nodes: Iterable[Held], for_s: float, *, looked: bool) -> None:
        """Counts these nodes as they are for so long; not `looked`: nobody knows what they did meanwhile."""
        self.seconds += for_s
        for node in nodes:
            for resource, amounts in enumerate(self._amounts):
                own = node.own[resource]
                if not looked or node.reserved is None:
                    amounts[AWAY if looked else UNSEEN] += own * for_s
                    continue
                reserved = node.reserved[resource]
                within = min(reserved, own)
                used = None if node.used is None else min(node.used[resource], within)
                amounts[BEYOND] += (reserved - within) * for_s
                amounts[FREE] += (own - within) * for_s
                if used is None:
                    amounts[NOT_KNOWN] += within * for_s
                else:
                    amounts[USED] += used * for_s
                    amounts[IDLE] += (within - used) * for_s

    def shown(self) -> dict[str, Any]:
        """GB-hours and vcore-hours, line by line."""
        hours = [
            [round(amount / unit / _HOUR_S, 4) for amount in amounts]
            for amounts, unit in zip(self._amounts, _PER_UNIT, strict=True)
        ]
        return {"lines": LINES, "memory": hours[0], "vcores": hours[1], "seconds": round(self.seconds)}
