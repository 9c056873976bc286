"""The rules by which a claim counts as reproduced, on hand-worked numbers."""

from __future__ import annotations

import pytest

from heddle.reproduce.verdicts import (
    Verdict,
    best,
    change_pct,
    effect,
    limit,
    more_than,
    never,
    not_judged,
    only_if,
    order,
    over_seeds,
    point,
    sameness,
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


def test_effect_of_more_than_twice_the_papers_is_another_effect() -> None:
    assert effect({"a": shifted(15)}, 16.0).verdict is Verdict.REPRODUCED  # 31 of 32
    assert effect({"a": shifted(17)}, 16.0).verdict is Verdict.DIRECTION


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


def test_a_point_must_come_out_near_the_papers() -> None:
    """16, interval 14.7 to 17.3: within a quarter of 16 and of 18, within half and twice of 10, not of 40."""
    assert point({"a": STEADY}, 16.0).verdict is Verdict.REPRODUCED
    assert point({"a": STEADY}, 18.0).verdict is Verdict.REPRODUCED
    assert point({"a": STEADY}, 10.0).verdict is Verdict.DIRECTION
    assert point({"a": STEADY}, 40.0).verdict is Verdict.NOT_REPRODUCED
    assert point({"a": {0: 16.0}}, 16.0).verdict is Verdict.NOT_REPRODUCED  # one seed has no interval
    # 4 and 28 are 16 on average only
    assert point({"a": shifted(-12), "b": shifted(12)}, 16.0).verdict is Verdict.DIRECTION


def test_an_order_must_hold_in_every_part() -> None:
    behind = {seed: -value for seed, value in STEADY.items()}
    judged = order({"one": {"a": STEADY}, "other": {"a": shifted(1)}})
    assert judged.verdict is Verdict.REPRODUCED
    assert judged.measured == 16.0  # of the weaker
    assert order({"one": {"a": STEADY}, "other": {"a": behind}}).verdict is Verdict.NOT_REPRODUCED
    assert order({"one": {"a": STEADY}, "other": {"a": {}}}).verdict is Verdict.NOT_REPRODUCED
    assert order({}).verdict is Verdict.NOT_REPRODUCED
    # on average ahead, but in one of three members only
    assert order({"one": {"a": shifted(90), "b": behind, "c": behind}}).verdict is Verdict.DIRECTION


def test_what_never_happens_did_not_on_any_seed() -> None:
    assert never(dict.fromkeys(range(20), 0.0)).verdict is Verdict.REPRODUCED
    once = dict.fromkeys(range(20), 0.0) | {7: 1.0}
    assert never(once).verdict is Verdict.NOT_REPRODUCED
    assert limit(once, 1.0, 1.0).verdict is Verdict.REPRODUCED  # a mean below one would have passed


def test_more_than_by_the_lower_bound_in_most_of_the_ensemble() -> None:
    assert more_than({"a": STEADY}, 14.0).verdict is Verdict.REPRODUCED
    assert more_than({"a": STEADY}, 15.0).verdict is Verdict.NOT_REPRODUCED  # 14.7
    assert more_than({"a": shifted(30), "b": shifted(-5)}, 14.0).verdict is Verdict.NOT_REPRODUCED


def test_what_has_no_number_is_not_judged_whatever_comes_out() -> None:
    for values in (STEADY, shifted(-32)):
        assert not_judged({"a": values}).verdict is Verdict.NOT_JUDGED
    assert not_judged({"a": STEADY}).measured == 16.0


def test_a_judgement_falls_with_what_it_rests_on() -> None:
    judged = point({"a": STEADY}, 16.0)
    assert only_if(judged, True) is judged
    assert only_if(judged, False).verdict is Verdict.NOT_REPRODUCED
    assert only_if(judged, False).measured == 16.0


def test_changes_are_paired() -> None:
    assert change_pct({0: 100.0, 1: 50.0, 2: 1.0}, {0: 84.0, 1: 55.0}) == pytest.approx({0: -16.0, 1: 10.0})
    assert sooner_pct({0: 100.0}, {0: 84.0}) == pytest.approx({0: 16.0})
