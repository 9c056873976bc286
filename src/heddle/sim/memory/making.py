"""Allocates what is declared, and lengthens it when the engine runs short."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heddle.sim.memory.declaring import Array, FreeChain, OfRun, OfSizes, Table
from heddle.sim.memory.sizes import Sizes


def made(tables: Mapping[str, Table], sizes: Sizes) -> dict[str, Array]:
    """The declared memory at time 0."""
    arrays = {name: _made(table, sizes) for name, table in tables.items()}
    for name, table in tables.items():
        _chain(table, arrays[name], 0, arrays)
    return arrays


def lengthened(tables: Mapping[str, Table], arrays: Mapping[str, Array], sizes: Sizes) -> dict[str, Array]:
    """What is longer now, with initial values in its new rows; what follows from sizes is written in place."""
    longer = {}
    for name, table in tables.items():
        before = arrays[name]
        for column, value in table.initial.items():
            if isinstance(value, OfSizes):
                before[column] = value.value(sizes)
        n_rows = 0 if table.per is None else table.per(sizes)
        if n_rows > len(before):
            computed = [column for column, value in table.initial.items() if isinstance(value, OfRun)]
            if computed or table.fill:
                raise TypeError(f"{name} grows, but nobody says what new rows hold: {', '.join(computed)}")
            longer[name] = np.concatenate([before, _fresh(table, n_rows - len(before), sizes)])
            _chain(table, longer[name], len(before), arrays)
    return longer


def _made(table: Table, sizes: Sizes) -> Array:
    if table.whole is not None:
        return table.whole(sizes.run)
    assert table.per is not None
    array = _fresh(table, table.per(sizes), sizes)
    for column, value in table.initial.items():
        if isinstance(value, OfRun):
            array[column] = value.value(sizes.run)
        elif isinstance(value, OfSizes):
            array[column] = value.value(sizes)
    if table.fill:
        table.fill(sizes.run, array)
    return array


def _fresh(table: Table, n_rows: int, sizes: Sizes) -> Array:
    """New rows with their constants. What stays 0 is not touched: it takes memory only when it is used."""
    shape = (n_rows,) if table.width is None else (n_rows, table.width(sizes))
    array = np.zeros(shape, table.dtype(sizes.run.n_resources))
    for column, value in table.initial.items():
        if not isinstance(value, OfRun | OfSizes | FreeChain) and value != 0:
            (array[column] if column else array)[...] = value
    return array


def _chain(table: Table, array: Array, before: int, arrays: Mapping[str, Array]) -> None:
    """Puts rows from `before` on, which are new, in front of those that are free already."""
    for column, value in table.initial.items():
        if isinstance(value, FreeChain) and len(array) > before:
            control = arrays["control"]
            array[column][before:] = np.arange(before + 1, len(array) + 1)
            array[column][-1] = control[value.first][0]
            control[value.first] = before
            control[value.count] += len(array) - before
