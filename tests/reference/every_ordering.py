"""All orderings by name."""

from __future__ import annotations

from typing import Any

from .haste import Haste, HasteA
from .orderings import (
    FfdDp,
    Fifo,
    LeafOrder,
    Ordering,
    RandomOrder,
    Sjf,
    SmallestFirst,
    Srpt,
    Tetris,
)

ORDERINGS: dict[str, type[Ordering]] = {
    "fifo": Fifo,
    "random-order": RandomOrder,
    "sjf": Sjf,
    "srpt": Srpt,
    "smallest-first": SmallestFirst,
    "leaf-order": LeafOrder,
    "ffd-dp": FfdDp,
    "tetris": Tetris,
    "haste": Haste,
    "haste-a": HasteA,
}


def make_ordering(name: str, parameters: dict[str, Any]) -> Ordering:
    return ORDERINGS[name](**parameters)
