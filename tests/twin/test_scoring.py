"""Scores, and intervals that learn from them: on forecasts whose quality is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heddle.twin.calibration import USUAL, Calibration, Outcome
from heddle.twin.eta import Eta, quantile
from heddle.twin.known import Application, Snapshot
from heddle.twin.naive import naive_eta
from heddle.twin.scoring import Case, first_of_each, scores

from .test_durations import ON, ended


def test_draws_of_the_truths_own_distribution_cover_eighty_percent() -> None:
    random = np.random.default_rng(0)
    held = []
    for _ in range(4000):
        draws = random.exponential(1.0, 21)
        eta = Eta.of(draws[1:].tolist())
        held.append(eta.low_ms <= draws[0] <= eta.high_ms)
    assert np.mean(held) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("level", "expected"), [(0.5, 2.0), (0.1, 1.0), (0.9, math.inf), (0.75, math.inf)])
def test_a_quantile_may_lie_beyond_the_horizon(level: float, expected: float) -> None:
    assert quantile([math.inf, 1.0, 2.0], level) == expected


def test_scores_by_hand() -> None:
    cases = [
        Case("s", "a", 10_000, Eta(5000, 9000, 20_000), Eta(0, 30_000, 40_000)),
        Case("s", "b", 100_000, Eta(10_000, 20_000, 30_000), Eta(0, 100_000, 200_000)),
    ]
    together, short, longer = scores(cases)
    assert (together.cases, together.coverage, together.naive_coverage) == (2, 0.5, 1.0)
    assert (together.error_s, together.naive_error_s) == (40.5, 10.0)
    # 0.1 x 5 s, 0.5 x 1 s and 0.1 x 10 s, over three
    assert short.pinball_s == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    assert (short.bucket, longer.bucket) == ("up to 1 min", "1 to 5 min")
    low, high = together.coverage_interval
    assert 0 < low < 0.5 < high < 1


def test_only_the_first_forecast_of_each_application_and_bucket_counts() -> None:
    eta = Eta(1, 2, 3)
    cases = [Case("s", "a", truth, eta, eta) for truth in (90_000, 80_000, 30_000)]
    assert [case.truth_ms for case in first_of_each(cases)] == [90_000, 30_000]


def test_intervals_that_were_too_narrow_are_stretched_until_they_hold() -> None:
    """The draws have a third of the true spread: what is learned from the first half holds for the second."""
    random = np.random.default_rng(2)
    outcomes = []
    for _ in range(600):
        middle = random.uniform(50_000, 500_000)
        outcomes.append(Outcome(Eta(middle * 0.9, middle, middle * 1.1), middle * (1 + random.normal(0, 0.23))))
    learned = Calibration(outcomes[:300])
    held = [
        eta.low_ms <= one.truth_ms <= eta.high_ms for one in outcomes[300:] for eta in [learned.stretched(one.told)]
    ]
    assert 0.75 <= np.mean(held) <= 0.85
    assert np.mean([one.told.low_ms <= one.truth_ms <= one.told.high_ms for one in outcomes]) < 0.5


def test_without_outcomes_the_usual_stretch_counts_and_the_horizon_stays_where_it_is() -> None:
    assert Calibration().stretch(60_000) == (USUAL, USUAL)
    beyond = Eta(5000, math.inf, math.inf)
    assert Calibration().stretched(beyond) == beyond


def test_the_naive_forecast_counts_those_that_took_longer_than_this_one_has() -> None:
    app = Application("x", "etl-7", "root.a", "ann", -2000)
    past = [
        Application(f"etl-{n}", f"etl-{n}", "root.a", "ann", -100_000, ended_at_ms=took - 100_000)
        for n, took in enumerate((1000, 3000, 5000, 7000))
    ]
    assert naive_eta(app, Snapshot(ON, "fifo", 1, tuple(past))) == Eta(1000, 3000, 5000)
    assert naive_eta(app, Snapshot(ON, "fifo", 1, ())) is None
    assert ended("etl-1", [1]).kind == app.kind


def test_a_forecast_that_looked_much_further_ahead_is_no_guide() -> None:
    wrong = [Outcome(Eta(9000, 10_000, 11_000), 19_000)] * 100
    assert Calibration(wrong).stretch(10_000)[1] > 5
    assert Calibration(wrong).stretch(100_000) == (USUAL, USUAL)
