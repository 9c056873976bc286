from __future__ import annotations

import numpy as np
import pytest

from heddle.record.columns import columns_of, places_in_order

ROW = np.dtype([("use", np.int64, (2,)), ("at", np.int64), ("task", np.int32), ("node", np.int32), ("tries", np.int16),
                ("kind", np.int8)], align=True)  # fmt: skip


def rows(count: int) -> np.ndarray:
    draw = np.random.default_rng(count)
    made = np.zeros(count, ROW)
    for name, (kind, *_) in ROW.fields.items():  # type: ignore[union-attr]
        low, high = np.iinfo(kind.base).min, np.iinfo(kind.base).max
        made[name] = draw.integers(low, high, (count, *kind.shape), dtype=kind.base)
    return made


@pytest.mark.parametrize("count", [0, 1, 2048, 5000])
@pytest.mark.parametrize("ordered", [False, True])
def test_columns_are_the_fields_of_the_rows(count: int, ordered: bool) -> None:
    given = rows(count)
    order = np.random.default_rng(7).permutation(count) if ordered else None
    columns = columns_of(given, order)
    wanted = given if order is None else given[order]
    assert columns.keys() == set(ROW.names or ())
    for name, column in columns.items():
        assert column.dtype == ROW[name].base
        assert (column == np.moveaxis(wanted[name], 0, -1)).all()


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_places_are_put_in_order(count: int) -> None:
    places = np.random.default_rng(3).permutation(3 * count)[:count]  # with gaps
    assert (places_in_order(places) == np.argsort(places)).all()
