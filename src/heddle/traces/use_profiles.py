"""The levels of use of tasks, made from a table of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.workload import NO_SEGMENTS, PERMYRIAD, segment_dtype

Numbers = npt.NDArray[np.int64]


def use_of_tasks(
    rows: pl.DataFrame, resources: tuple[str, ...], levels: pl.DataFrame | None
) -> tuple[Numbers, npt.NDArray[Any]]:
    """(first segment of each row, all segments): one level each (`used_...`), or what `levels` says of a `row`."""
    first = np.full(rows.height, NO_SEGMENTS, np.int64)
    dtype = segment_dtype(len(resources))
    parts: list[npt.NDArray[Any]] = []
    used = [f"used_{resource}" for resource in resources]
    if used[0] in rows.columns:
        known = (
            rows.select(pl.all_horizontal(pl.col(c).is_not_null() for c in used if c in rows.columns))
            .to_series()
            .to_numpy()
        )
        constant = np.zeros(int(known.sum()), dtype)
        for number, column in enumerate(used):
            if column in rows.columns:
                constant["use"][:, number] = rows[column].to_numpy()[known]
        constant["until_permyriad"] = PERMYRIAD
        constant["last"] = 1
        first[known] = np.arange(len(constant))
        parts.append(constant)
    if levels is not None and levels.height:
        levels = levels.sort("row", "until_permyriad")
        row, until = levels["row"].to_numpy(), levels["until_permyriad"].to_numpy()
        over_time = np.zeros(len(row), dtype)
        for number, resource in enumerate(resources):
            over_time["use"][:, number] = levels[resource].to_numpy()
        over_time["until_permyriad"] = until
        over_time["last"] = until == PERMYRIAD
        begins = np.flatnonzero(np.diff(row, prepend=-1))
        start_of = np.full(int(rows["row"].to_numpy().max()) + 1, NO_SEGMENTS, np.int64)
        start_of[row[begins]] = begins + sum(map(len, parts))
        own = rows["row"].to_numpy()
        has = (own >= 0) & (start_of[own] != NO_SEGMENTS)
        first[has] = start_of[own[has]]
        parts.append(over_time)
    return first, np.concatenate(parts) if parts else np.zeros(0, dtype)
