"""How an ordering weighs requests for a node, in words that the bridge inside a ResourceManager knows as well.

The bridge has no levers, only this closed list: it computes fitness itself, from what is free now, and gets everything
else in a table. An ordering with a `fit` and no form, or with code of its own for it, cannot be brought there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["key", "fit", "scaled", "aligned"]


@dataclass(frozen=True)
class NodePlans:
    """How a host gets from an ordering's `offer` what goes to a node before anything else. It asks about each node on a
    state of its own, which is thrown away: what the lever remembers itself is not changed.
    """

    due: Callable[[Any], bool]  # (the lever's state): whether nodes have plans now
    begin: Callable[[Any, int], None]  # (the other state, prepared; how many jobs there are)
    planned: Callable[[Any, int], Sequence[int]]  # (that state, node) after its offer: how many of each shape


@dataclass(frozen=True)
class Form:
    """`key`: the smallest key. `fit`: the largest dot product (levers/packing.py). `scaled`: dot product and term, each
    scaled to 0..ONE over the candidates (levers/haste.py). `aligned`: that, and the alignment that stands in the key.
    """

    kind: Kind
    fitness: str = ""  # a parameter that switches the dot product; "": it always counts
    ahead_below: int | None = None  # requests with smaller keys go before all others, in their order
    weight: Callable[[Any, Any], int] | None = None  # (state, params): thousandths that alignment counts
    plans: NodePlans | None = None


BY_KEY = Form("key")
