from __future__ import annotations

import math

import pytest

from heddle.analysis.certainty.student import t_interval, t_quantile


# Printed tables of the two-sided 95 % and 99 % points.
@pytest.mark.parametrize(
    ("confidence", "degrees", "expected"),
    [
        (0.95, 1, 12.7062), (0.95, 2, 4.3027), (0.95, 3, 3.1824), (0.95, 4, 2.7764), (0.95, 9, 2.2622),
        (0.95, 10, 2.2281), (0.95, 29, 2.0452), (0.95, 30, 2.0423), (0.95, 120, 1.9799), (0.95, 1000, 1.9623),
        (0.99, 1, 63.6567), (0.99, 2, 9.9248), (0.99, 5, 4.0321), (0.99, 10, 3.1693), (0.90, 7, 1.8946),
    ],
)  # fmt: skip
def test_quantiles_are_those_of_printed_tables(confidence: float, degrees: int, expected: float) -> None:
    assert t_quantile(confidence, degrees) == pytest.approx(expected, abs=6e-5)


def test_many_degrees_approach_the_normal() -> None:
    assert t_quantile(0.95, 10**9) == pytest.approx(1.959964, abs=3e-4)


def test_interval_by_hand() -> None:
    # Mean 4, deviation 2 of three values: half width 4.30265 * 2 / sqrt(3).
    low, high = t_interval([2.0, 4.0, 6.0]) or (0.0, 0.0)
    assert (low, high) == pytest.approx((4 - 4.302653 * 2 / math.sqrt(3), 4 + 4.302653 * 2 / math.sqrt(3)))


def test_one_value_has_no_interval() -> None:
    assert t_interval([3.0]) is None
    assert t_interval([3.0, 3.0]) == (3.0, 3.0)


@pytest.mark.parametrize(("confidence", "degrees"), [(0.0, 3), (1.0, 3), (0.95, 0)])
def test_nonsense_is_refused(confidence: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(confidence, degrees)
