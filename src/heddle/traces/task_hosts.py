"""The nodes that a table of tasks names: where input lies, and where containers run when the workload begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.workload import NO_PREFERENCE, NOT_RUNNING


@dataclass(frozen=True)
class TaskHosts:
    """As a Workload has them: one number for each task, None where no task names a node."""

    hosts: tuple[str, ...]
    prefers: npt.NDArray[np.int32] | None
    running_on: npt.NDArray[np.int32] | None
    started_at_ms: npt.NDArray[np.int64] | None


def hosts_of_tasks(rows: pl.DataFrame, counts: npt.NDArray[np.int64]) -> TaskHosts:
    """Of rows in the order of their tasks, `counts` tasks each: `prefers`, `runs_on` and `started_at_ms`."""
    prefers, runs = (_given(rows, column) for column in ("prefers", "runs_on"))
    named = [column.drop_nulls() for column in (prefers, runs) if column is not None]
    hosts: list[str] = pl.concat(named).unique(maintain_order=True).to_list() if named else []

    def numbers(column: pl.Series | None, nowhere: int) -> npt.NDArray[np.int32] | None:
        if column is None:
            return None
        found = column.replace_strict(hosts, range(len(hosts)), default=nowhere, return_dtype=pl.Int32)
        return np.repeat(found.to_numpy(), counts)

    since = None if runs is None else np.repeat(rows["started_at_ms"].fill_null(0).to_numpy(), counts)
    return TaskHosts(tuple(hosts), numbers(prefers, NO_PREFERENCE), numbers(runs, NOT_RUNNING), since)


def _given(rows: pl.DataFrame, column: str) -> pl.Series | None:
    """The column; None where no row gives it."""
    if column not in rows.columns or rows[column].null_count() == rows.height:
        return None
    return rows[column]
