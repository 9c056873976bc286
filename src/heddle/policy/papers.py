"""The papers' presets, and every policy that some of them make together."""

from __future__ import annotations

from itertools import combinations
from typing import Final

# In the order in which a combination names them: the right-most wins on the same question, so that with HaSTE behind
# DRESS the pools are DRESS's and the order in a pool is HaSTE's.
PAPERS: Final = ("dress", "haste", "admission-control", "usage-feedback")


def paper_policies() -> tuple[str, ...]:
    """All combinations of the papers, the empty one (plain FIFO) included."""
    chosen = (part for size in range(len(PAPERS) + 1) for part in combinations(PAPERS, size))
    return tuple("+".join(part) or "fifo" for part in chosen)
