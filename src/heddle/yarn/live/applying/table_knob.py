"""The knob that is no knob: a table in the bridge. It holds for its lease, so that nothing is to be put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.table import Table

STEPS_OF_LEASE: Final = 3
HOLD_STEPS: Final = 1.5
PATIENCE_MS: Final = 60_000


class TableKnob(Protocol):
    def put(self, table: Table) -> int:
        """The version under which it holds. YarnError where that is refused or nobody answers."""

    def drop(self) -> None:
        """Stock order from now on."""


@dataclass(frozen=True)
class BridgeKnob:
    """`leaves`: those where YARN asks the bridge. A table outlives the controller by `lease_ms` at most."""

    endpoint: BridgeEndpoint
    leaves: frozenset[str]
    lease_ms: int
    hold_ms: int

    @classmethod
    def for_steps(cls, endpoint: BridgeEndpoint, leaves: frozenset[str], every_s: float, lease_s: float) -> BridgeKnob:
        """A table each `every_s`, and never longer than the session's own lease."""
        lease_s = min(lease_s, max(2.0, STEPS_OF_LEASE * every_s))
        return cls(endpoint, leaves, round(1000 * lease_s), round(1000 * HOLD_STEPS * every_s))

    def put(self, table: Table) -> int:
        return self.endpoint.put(table.within(self.leaves, None), self.lease_ms, self.hold_ms, PATIENCE_MS)

    def drop(self) -> None:
        self.endpoint.drop()
