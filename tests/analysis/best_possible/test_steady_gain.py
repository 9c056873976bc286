"""The algebra of usage feedback, against the figures that the digest of the papers gives for it."""

import pytest

from heddle.analysis.best_possible.steady_gain import SteadyGain, steady_gain


@pytest.mark.parametrize(
    ("times", "reports", "gain"), [(2, 30, 0.24), (2, 60, 0.37), (3, 10, 0.08), (3, 30, 0.41), (3, 60, 0.53)]
)
def test_the_papers_rule(times: int, reports: int, gain: float) -> None:
    assert steady_gain(times, reports, 0.125, 0) == pytest.approx(gain, abs=0.006)


def test_where_more_is_counted_than_reserved_nothing_is_gained() -> None:
    assert steady_gain(2, 10, 0.125, 0) == 0.0


def test_counting_in_full_costs_its_share_of_a_task() -> None:
    assert steady_gain(4, 40, 1.0, 10) == pytest.approx(1 - 1 / 4 - 11 / 40)  # 10 reports in full, one more to forget
    assert steady_gain(4, 40, 0.125, 40) == 0.0
    assert steady_gain(4, 40, 0.0, 0) == 0.0


def test_in_words() -> None:
    assert SteadyGain("p", 10.0, 0.2, 0.25).sentence.endswith("these rounds saved 25.0%, 125% of it")
    assert SteadyGain("p", 10.0, 0.0, 0.1).sentence.endswith("these rounds saved 10.0%")
