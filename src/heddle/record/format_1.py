"""Records of format 1: each table one file, and attempts in the order of allocations, which no column told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import polars as pl

from heddle.record.manifest import LIVE_SOURCE
from heddle.record.schema import Table

VERSION: Final = 1
_NEW: Final = {"attempts": "allocation"}


def table_then(table: Table) -> Table:
    """The table as it was."""
    return replace(table, columns=tuple(column for column in table.columns if column.name != _NEW.get(table.name)))


def as_now(frame: pl.DataFrame, table: Table, manifest: Mapping[str, Any]) -> pl.DataFrame:
    """The table as it is now."""
    if table.name not in _NEW:
        return frame
    simulated = manifest["workload"]["about"].get("source") != LIVE_SOURCE
    told = manifest["complete_attempts"] and simulated
    place = pl.int_range(pl.len(), dtype=pl.Int64) if told else pl.lit(None, pl.Int64)
    return frame.with_columns(place.alias(_NEW[table.name]))
