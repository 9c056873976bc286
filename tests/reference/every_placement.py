"""All placements by name."""

from __future__ import annotations

from typing import Any

from .network_aware import NetworkAware
from .placements import BestFit, DelayLocality, FirstFit, MostFree, NearLast, Placement, RandomNode

PLACEMENTS: dict[str, type[Placement]] = {
    "first-fit": FirstFit,
    "most-free": MostFree,
    "best-fit": BestFit,
    "random-node": RandomNode,
    "delay-locality": DelayLocality,
    "near-last": NearLast,
    "network-aware": NetworkAware,
}


def make_placement(name: str, parameters: dict[str, Any]) -> Placement:
    return PLACEMENTS[name](**parameters)
