"""Effects that are known beforehand are found again; what is missing is left out, and said."""

from __future__ import annotations

from itertools import combinations
from math import exp, log

import pytest

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.comparison.factorial import Effect, Factorial, Setting, pooled

FACTORS = ("a", "b", "c")
ALONE = {"a": 0.8, "b": 1.1, "c": 1.0}  # a takes a fifth off, b adds a tenth
TOGETHER = {frozenset("ab"): 0.9}  # and both another tenth off


def settings() -> list[Setting]:
    return [frozenset(some) for size in range(len(FACTORS) + 1) for some in combinations(FACTORS, size)]


def completion(setting: Setting, seed: int) -> float:
    made = 100.0 + 10 * seed
    for name in setting:
        made *= ALONE[name]
    for pair, factor in TOGETHER.items():
        made *= factor if pair <= setting else 1.0
    return made


def factorial(leaving_out: set[tuple[Setting, int]] = frozenset()) -> Factorial:  # type: ignore[assignment]
    runs = {(setting, seed): completion(setting, seed) for setting in settings() for seed in range(3)}
    return Factorial(FACTORS, {key: s for key, s in runs.items() if key not in leaving_out}, Sampling())


def test_main_effects_are_means_over_the_settings_of_the_others() -> None:
    found = factorial()
    assert found.main_effect("a").pct == pytest.approx(100 * (0.8 * 0.9**0.5 - 1))  # with b on in half of the settings
    assert found.main_effect("c").pct == pytest.approx(0.0)
    assert found.main_effect("a").is_shown
    assert not found.main_effect("c").is_shown or found.main_effect("c").interval == pytest.approx((0.0, 0.0))


def test_an_interaction_is_what_two_do_beyond_their_effects() -> None:
    found = factorial().interactions()
    assert found["a", "b"].pct == pytest.approx(-10.0)
    assert found["a", "c"].pct == pytest.approx(0.0)


def test_one_setting_against_another() -> None:
    assert factorial().change(frozenset("ab")).pct == pytest.approx(100 * (0.8 * 1.1 * 0.9 - 1))
    assert factorial().change(frozenset("ab"), frozenset("a")).pct == pytest.approx(100 * (1.1 * 0.9 - 1))


def test_runs_that_did_not_end_leave_their_pairs_out() -> None:
    missing = factorial({(frozenset("ac"), 1)})
    assert missing.main_effect("a").pairs_left_out == 1
    # On seed 1, the pairs without b are then those with c off alone, so that b counts for two thirds there.
    by_seed = [log(0.8) + log(0.9) * part for part in (1 / 2, 2 / 3, 1 / 2)]
    assert missing.main_effect("a").pct == pytest.approx(100 * (exp(sum(by_seed) / 3) - 1))
    assert missing.change(frozenset("ac")).pairs_left_out == 1


def test_a_mean_over_workloads_weighs_each_the_same() -> None:
    halves = pooled([Effect(-50.0, (-60.0, -37.5)), Effect(0.0, (-20.0, 25.0))])
    assert halves.pct == pytest.approx(100 * (0.5**0.5 - 1))
    assert halves.interval is not None
    half = (log(0.625 / 0.4) / 2) ** 2 + (log(1.25 / 0.8) / 2) ** 2
    assert halves.interval[1] == pytest.approx(100 * (0.5**0.5 * exp(half**0.5 / 2) - 1))
    assert pooled([Effect(-50.0, None), Effect(0.0, (0.0, 0.0))]).interval is None
    assert pooled([]).pct is None
