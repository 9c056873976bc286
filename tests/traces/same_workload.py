"""Two workloads field by field, as the model declares the fields: a new one is compared without being named here."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl

from heddle.model.workload import Workload


def differences(one: Workload, other: Workload, *, but: tuple[str, ...] = ("about",)) -> list[str]:
    """The fields in which they differ; where a workload comes from (`about`) need not be the same."""
    names = [field.name for field in fields(Workload) if field.name not in but]
    return [name for name in names if not _same(getattr(one, name), getattr(other, name))]


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, pl.Series):
        return one.equals(other)
    return bool(one == other)
