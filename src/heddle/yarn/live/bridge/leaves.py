"""Which leaf queues ask the bridge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from heddle.yarn.live.rm_answers import Reading, rows_under, text

ORDERING: Final = "heddle.bridge.BridgeOrdering"


def bridged_leaves(scheduler: dict[str, Any], where: str) -> frozenset[str]:
    """From what GET /scheduler answers: the leaves whose order is the bridge's. None with another scheduler."""
    with Reading(f"{where}: scheduler"):
        root = (scheduler.get("scheduler") or {}).get("schedulerInfo") or {}
        return frozenset(_bridged(root, "")) if root.get("type") == "capacityScheduler" else frozenset()


def _bridged(row: Any, above: str) -> Iterator[str]:
    name = f"{above}.{text(row['queueName'])}" if above else text(row["queueName"])
    if row.get("orderingPolicyInfo") == ORDERING:
        yield name
    for child in rows_under(row, "queues", "queue"):
        yield from _bridged(child, name)
