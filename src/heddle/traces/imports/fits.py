"""Whether a container fits into any machine of its own source: what does not could never run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Node
from heddle.model.resources import BASE_RESOURCES

LARGER_THAN_ANY: str = "reserves more than any machine of its source has"


def fits_some(
    tasks: pl.DataFrame, nodes: Iterable[Node], resources: tuple[str, ...] = BASE_RESOURCES
) -> npt.NDArray[np.bool_]:
    """For each row whether some node, empty, can hold what one of its tasks reserves."""
    wanted = tasks.select(resources).to_numpy()
    sizes = {node.allowance for node in nodes}
    found = np.zeros(len(wanted), bool)
    for size in sizes:
        found |= (wanted <= np.array(size)).all(axis=1)
    return found
