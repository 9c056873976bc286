"""The rules by which a claim counts as reproduced, on hand-worked numbers."""

from __future__ import annotations

import pytest

from heddle.reproduce.verdicts import (
    Verdict,
    best,
    change_pct,
    effect,
    limit,
    over_seeds,
    sameness,
    shape,
    sooner_pct,
)

STEADY = {0: 16.0, 1: 17.0, 2: 15.0, 3: 16.0}  # mean 16, interval 16 -+ 1.3


def shifted(by: float) -> dict[int, float]:
    return {seed: value + by for seed, value in STEADY.items()}


def test_interval_is_over_seeds_of_the_mean_over_members() -> None:
    mean, interval = over_seeds({"a": {0: 1.0, 1: 3.0}, "b": {0: 3.0, 1: 5.0, 2: 99.0}})
    assert mean == 3.0  # seeds 0 and 1, which both have: (1+3)/2 and (3+5)/2
    assert interval is not None
    # t(0.975, 1) = 12.706; sd of 2, 4 is sqrt(2), over sqrt(2)
    assert interval[0] == pytest.approx(3.0 - 12.706, abs=1e-3)


def test_effect_reproduced_needs_half_of_it_in_more_than_half_of_the_ensemble() -> None:
    assert effect({"a": STEADY, "b": shifted(-5), "c": shifted(-13)}, 16.0).verdict is Verdict.REPRODUCED
    assert effect({"a": STEADY, "b": shifted(-12), "c": shifted(-13)}, 16.0).verdict is Verdict.DIRECTION
    assert effect({"a": STEADY, "b": shifted(-10)}, 16.0).verdict is Verdict.DIRECTION  # one of two: not more than half


def test_effect_whose_interval_holds_zero_is_not_reproduced() -> None:
    assert effect({"a": {0: -1.0, 1: 2.0, 2: 1.0}}, 1.0).verdict is Verdict.NOT_REPRODUCED
    assert effect({"a": {0: 16.0}}, 16.0).verdict is Verdict.NOT_REPRODUCED  # one seed has no interval
    assert effect({"a": STEADY}, -16.0).verdict is Verdict.NOT_REPRODUCED  # the other way


def test_effect_the_paper_calls_negative() -> None:
    losing = {seed: -value for seed, value in STEADY.items()}
    assert effect({"a": losing}, -9.0).verdict is Verdict.REPRODUCED
    with pytest.raises(ValueError, match="sameness"):
        effect({"a": STEADY}, 0.0)


def test_best_must_beat_each_other() -> None:
    own = {0: 100.0, 1: 100.0, 2: 101.0}
    slower = {0: 110.0, 1: 111.0, 2: 110.0}
    judged = best(own, {"slower": slower, "slow": {0: 120.0, 1: 121.0, 2: 120.0}})
    assert judged.verdict is Verdict.REPRODUCED
    assert judged.measured == pytest.approx((10 / 110 + 11 / 111 + 9 / 110) * 100 / 3)
    assert best(own, {"slower": slower, "alike": {0: 100.0, 1: 101.0, 2: 100.0}}).verdict is Verdict.NOT_REPRODUCED
    assert best(own, {"stalled": {}}).verdict is Verdict.NOT_REPRODUCED
    assert best(slower, {"own": own}, "higher").verdict is Verdict.REPRODUCED


def test_limit_by_the_upper_bound() -> None:
    assert limit({0: 0.2, 1: 0.3, 2: 0.25, 3: 0.25}, 0.5, 0.01).verdict is Verdict.REPRODUCED
    assert limit({0: 0.2, 1: 0.6, 2: 0.25, 3: 0.25}, 0.5, 0.01).verdict is Verdict.NOT_REPRODUCED


def test_none_seen_is_not_none_at_all() -> None:
    judged = limit(dict.fromkeys(range(20), 0.0), 1.0, one=1.0)
    assert judged.ci95 == pytest.approx((0.0, 0.1498), abs=1e-4)  # -ln(0.05) / 20
    assert judged.verdict is Verdict.REPRODUCED
    assert limit(dict.fromkeys(range(2), 0.0), 1.0, one=1.0).verdict is Verdict.NOT_REPRODUCED  # two days show little


def test_sameness_inside_three_percent() -> None:
    near = {0: 0.5, 1: 1.0, 2: 0.0, 3: 0.5}
    assert sameness({"a": near}).verdict is Verdict.REPRODUCED
    assert sameness({"a": STEADY}).verdict is Verdict.NOT_REPRODUCED
    # +16 and -16 are the same on average only
    opposite = {seed: -value for seed, value in STEADY.items()}
    assert sameness({"a": STEADY, "b": opposite}).verdict is Verdict.NOT_REPRODUCED


def test_shape_is_never_more_than_direction() -> None:
    assert shape(True, 0.1).verdict is Verdict.DIRECTION
    assert shape(False, 0.1).verdict is Verdict.NOT_REPRODUCED


def test_changes_are_paired() -> None:
    assert change_pct({0: 100.0, 1: 50.0, 2: 1.0}, {0: 84.0, 1: 55.0}) == pytest.approx({0: -16.0, 1: 10.0})
    assert sooner_pct({0: 100.0}, {0: 84.0}) == pytest.approx({0: 16.0})
