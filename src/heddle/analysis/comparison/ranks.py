"""Whether two lists put the same things first."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Correlation of ranks; equal values share a rank. None where all values of a list are alike."""
    ranks = pl.DataFrame({"one": list(one), "other": list(other)}).select(pl.all().rank())
    found = ranks.select(pl.corr("one", "other")).item()
    return None if found is None or found != found else float(found)
