"""Lists of different lengths, one behind the other: offsets per owner, and what they own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.some_jobs import GONE


class Csr(NamedTuple):
    first: npt.NDArray[np.int32]  # [owners + 1]
    owned: npt.NDArray[np.int32]


def by_owner(owner: npt.NDArray[Any], n_owners: int) -> Csr:
    """What there is, by number, sorted by owner."""
    first = np.zeros(n_owners + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=n_owners), out=first[1:])
    return Csr(first, np.argsort(owner, kind="stable").astype(np.int32))


def followers(rows: npt.NDArray[Any], targets: npt.NDArray[np.int32]) -> Csr:
    """Rows that come after each row, where row i comes after targets[first_after:first_after + n_after]."""
    if not len(targets):
        return Csr(np.zeros(len(rows) + 1, np.int32), np.zeros(0, np.int32))
    source, there = np.repeat(np.arange(len(rows), dtype=np.int32), rows["n_after"]), targets != GONE
    first, order = by_owner(targets[there], len(rows))
    return Csr(first, source[there][order])
