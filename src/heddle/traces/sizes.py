"""Sizes with a unit, where MB are meant: `64GB`, `1.5 TiB`, `512m`.

Of memory a GB is 1024 MB, as YARN and everybody who sizes containers count; of data it is 1000 MB, as networks and
disks count, and only GiB are of 1024.
"""

from __future__ import annotations

from typing import Final, Literal

import polars as pl

Kind = Literal["memory", "data"]

_PATTERN: Final = r"(?i)^([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kmgt])(i?)b?$"
_STEPS: Final = {"k": -1, "m": 0, "g": 1, "t": 2}  # from MB
_BINARY_MB: Final = 2**20 / 10**6


def megabytes(texts: pl.Series, kind: Kind) -> pl.Series:
    """The sizes in MB, with or without a unit; null where a text is no size."""
    plain = texts.cast(pl.Float64, strict=False)
    if not (plain.is_null() & texts.is_not_null()).any():
        return plain
    parts = texts.str.strip_chars().str.extract_groups(_PATTERN).struct.unnest()
    parts.columns = ["number", "unit", "i"]
    decimal, binary = ({unit: float(base) ** step for unit, step in _STEPS.items()} for base in (1000, 1024))
    of_memory = kind == "memory"
    unit = pl.col("unit").str.to_lowercase()
    factor = (
        pl.when((pl.col("i") == "") & (not of_memory))
        .then(unit.replace_strict(decimal, default=None, return_dtype=pl.Float64))
        .otherwise(
            unit.replace_strict(binary, default=None, return_dtype=pl.Float64) * (1.0 if of_memory else _BINARY_MB)
        )
    )
    sized = parts.select(pl.col("number").cast(pl.Float64, strict=False) * factor).to_series()
    return plain.zip_with(plain.is_not_null(), sized).alias(texts.name)


def memory_mb(text: str) -> float | None:
    """One size of memory in MB; None where the text is no size."""
    found: float | None = megabytes(pl.Series([text]), "memory")[0]
    return found
