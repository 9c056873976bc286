from __future__ import annotations

import numpy as np
import pytest

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.comparison.best import STALLED, find_best

SEEDS = range(20)


def noisy(mean: float, seed: int, noise: float = 1.0) -> dict[int, float]:
    rng = np.random.default_rng(seed)
    return {place: mean + noise * float(rng.normal()) for place in SEEDS}


def test_a_clear_winner_beats_all() -> None:
    found = find_best({"a": noisy(10, 1), "b": noisy(20, 2), "c": noisy(30, 3)}, "lower", Sampling())
    assert [one.name for one in found.standings] == ["a", "b", "c"]
    assert [one.beaten for one in found.standings] == [False, True, True]
    assert found.standings[1].behind_pct == pytest.approx(100, abs=15)
    assert "it beats all 2 others" in found.sentence()
    assert find_best({"a": noisy(10, 1), "b": noisy(20, 2)}, "higher", Sampling()).best.name == "b"  # type: ignore[union-attr]


def test_of_one_trace_that_was_not_resampled_the_sentence_speaks_of_that_trace_alone() -> None:
    field = {"a": noisy(10, 1), "b": noisy(20, 2), "c": noisy(20, 3)}
    assert find_best(field, "lower", Sampling("chance")).sentence().startswith("a is best on this one trace: it beats")
    assert "trace" not in find_best(field, "lower", Sampling()).sentence()


def test_among_equals_the_lucky_one_is_rarely_called_better() -> None:
    """Twenty equal candidates: without a correction most sweeps would find somebody who is "worse"."""
    wrong = naive = 0
    for sweep in range(40):
        field = {f"p{n}": noisy(100, 1000 * sweep + n) for n in range(20)}
        found = find_best(field, "lower", Sampling())
        wrong += any(one.beaten for one in found.standings)
        last = field[found.standings[-1].name]
        changes = {seed: last[seed] - field[found.standings[0].name][seed] for seed in SEEDS}
        interval = Sampling().estimate(changes)[1]
        naive += interval is not None and interval[0] > 0
    assert naive >= 25
    assert wrong <= 4  # 5 % of 40 is 2


def test_who_stalled_is_left_out_and_one_seed_says_little() -> None:
    short = {seed: 1.0 for seed in SEEDS if seed != 3}
    stuck = short | {3: STALLED, 4: STALLED}
    unknown = dict.fromkeys(SEEDS)
    found = find_best({"a": noisy(10, 1), "short": short, "stuck": stuck, "unknown": unknown}, "lower", Sampling())
    why = {"short": "19 of 20 seeds done", "stuck": "stalled 2 of 20", "unknown": "not known"}
    assert {one.name: one.why for one in found.left_out} == why
    assert found.sentence() == "a is the only candidate."
    assert "a single seed" in find_best({"a": {0: 1.0}, "b": {0: 2.0}}, "lower", Sampling()).sentence()
    assert find_best({}, "lower", Sampling()).sentence() == "No candidate finished on every seed."
