"""Numbers that come in pieces: the same sums and, to the last bit, the same quantiles as of all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heddle.analysis.measures import numbers_in_pieces
from heddle.analysis.measures.numbers_in_pieces import NumbersInPieces

AT = (0.0, 0.1, 1 / 3, 0.5, 0.95, 0.99, 1.0)


def in_pieces(values: npt.NDArray[Any], rows: int) -> NumbersInPieces:
    def read() -> Iterator[npt.NDArray[Any]]:
        return (values[first : first + rows] for first in range(0, len(values), rows))

    return NumbersInPieces(read)


@pytest.mark.parametrize("most_held", [4, 64, 1 << 22])
@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000),
        np.random.default_rng(1).integers(-50, 10**12, 5000),
        np.repeat(np.array([7, 7_000_000, 3]), 400),  # more of a kind than can be held
        np.random.default_rng(2).lognormal(3, 2, 3000),
        np.concatenate([np.zeros(500), np.random.default_rng(3).random(500)]),
        np.array([1.5]),
    ],
    ids=["in order", "far apart", "few kinds", "fractions", "zeros", "one"],
)
def test_quantiles_are_those_of_all_at_once(
    values: npt.NDArray[Any], most_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers_in_pieces, "MOST_HELD", most_held)
    for rows in (1, 13, 10**6):
        numbers = in_pieces(values, rows)
        assert numbers.quantiles(AT).tolist() == np.quantile(values, AT).tolist()
        assert len(numbers) == len(values)
        assert numbers.mean == pytest.approx(values.mean(), rel=1e-12)


@given(
    st.lists(st.integers(-(10**6), 10**15), min_size=1, max_size=60), st.lists(st.floats(0, 1), min_size=1, max_size=5)
)
@settings(max_examples=200, deadline=None)
def test_quantiles_of_anything(drawn: list[int], at: list[float]) -> None:
    values = np.array(drawn, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers_in_pieces, "MOST_HELD", 2)
        patch.setattr(numbers_in_pieces, "_MARKS", 5)
        assert in_pieces(values, 7).quantiles(at).tolist() == np.quantile(values, at).tolist()


def test_one_piece_has_numpys_sums() -> None:
    values = np.random.default_rng(4).lognormal(3, 2, 5000)
    numbers = in_pieces(values, 5000)
    assert (numbers.mean, numbers.total) == (values.mean(), values.sum())
    assert numbers.squares == np.square(values).sum()
