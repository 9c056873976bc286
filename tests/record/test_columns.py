from __future__ import annotations

import numpy as np
import pytest

from heddle.record.columns import columns_of

ROW = np.dtype([("use", np.int64, (2,)), ("at", np.int64), ("task", np.int32), ("node", np.int32), ("tries", np.int16),
                ("kind", np.int8)], align=True)  # fmt: skip


def rows(count: int) -> np.ndarray:
    draw = np.random.default_rng(count)
    made = np.zeros(count, ROW)
    for name, (kind, *_) in ROW.fields.items():  # type: ignore[union-attr]
        low, high = np.iinfo(kind.base).min, np.iinfo(kind.base).max
        made[name] = draw.integers(low, high, (count, *kind.shape), dtype=kind.base)
    return made


def assert_fields(columns: dict[str, np.ndarray], wanted: np.ndarray) -> None:
    assert columns.keys() == set(ROW.names or ())
    for name, column in columns.items():
        assert column.dtype == ROW[name].base
        assert np.array_equal(column, np.moveaxis(wanted[name], 0, -1))


@pytest.mark.parametrize("counts", [(), (0,), (1,), (2048, 1), (3000, 0, 5000)])
def test_columns_are_the_fields_of_all_pieces(counts: tuple[int, ...]) -> None:
    pieces = [rows(count) for count in counts]
    assert_fields(columns_of(pieces, ROW), np.concatenate([rows(0), *pieces]))
