from __future__ import annotations

from dataclasses import replace

import pytest

from heddle.analysis.comparison.compare import compare_runs
from heddle.report.wording import METRIC, NO_DIFFERENCE, Scale, judgement, number, pct, time_scale, verdict
from report.made_comparison import comparison, stalling


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.1234, "0.123"), (1.5, "1.50"), (12.34, "12.3"), (-1234.5, "−1,234"), (7, "7")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0"), (-0.01, "0.0"), (3.14, "+3.1"), (-12.3, "−12"), (9.96, "+10")]
)
def test_percentages_say_no_more_than_they_know(value: float, text: str) -> None:
    assert pct(value) == text


def test_units_follow_the_size() -> None:
    assert [time_scale(seconds)[1] for seconds in (599, 600, 14_400)] == ["s", "min", "h"]
    assert Scale.of(METRIC["makespan_s"], [7200.0]).write(5400.0) == "90 min"
    assert Scale.of(METRIC["utilisation.memory.used"], [0.5]).write(0.25) == "25 %"
    assert Scale.of(METRIC["crashed_tasks"], []).write(None) == "–"
    assert Scale.of(METRIC["makespan_s"], [7200.0]).half_width((60.0, 180.0)) == "± 1.0"


@pytest.mark.parametrize(
    ("metric", "interval", "expected"),
    [
        ("jct_s.mean", (-5.0, -1.0), "better"),
        ("jct_s.mean", (1.0, 5.0), "worse"),
        ("fairness.jain", (1.0, 5.0), "better"),
        ("utilisation.memory.reserved", (1.0, 5.0), "different"),
        ("jct_s.mean", (-1.0, 5.0), NO_DIFFERENCE),
        ("jct_s.mean", (0.0, 0.0), NO_DIFFERENCE),
        ("jct_s.mean", None, ""),
    ],
)
def test_judgement(metric: str, interval: tuple[float, float] | None, expected: str) -> None:
    change = sum(interval) / 2 if interval else -3.0
    row = {"metric": metric, "vs_ci95": interval, "vs_baseline_pct": change, "stalled_runs": 0}
    assert judgement(row) == expected
    assert judgement(row | {"stalled_runs": 1}) == "stalled"


def test_verdict_names_the_best_with_three_numbers() -> None:
    said = verdict(comparison(), "one-node")
    assert said.policy == "quick(n=5)"
    assert said.sentence.startswith(
        "The best of 2, quick(n=5), finishes jobs 45 % sooner than fifo on average over 3 seeds"
    )
    assert [headline.title for headline in said.headlines] == ["Mean completion", "Makespan", "Mean wait"]
    assert said.headlines[0].figure == "−45 %"
    assert "better" in said.headlines[0].detail
    assert any("involves luck" in caution for caution in said.cautions)


def test_verdict_admits_that_the_baseline_is_best() -> None:
    said = verdict(comparison(policies={"fifo": 100, "slow": 3000}), "one-node")
    assert said.sentence.startswith("fifo finishes jobs soonest: slow finishes them")
    assert "later than fifo" in said.sentence


def test_verdict_shows_no_difference_where_there_is_none() -> None:
    said = verdict(comparison(policies={"fifo": 100, "twin": 100}), "one-node")
    assert said.sentence.startswith("No difference in completion shown")


def test_verdict_on_one_seed_claims_nothing() -> None:
    said = verdict(comparison(seeds=(1,)), "one-node")
    assert "A single seed cannot rule out chance" in said.sentence


def test_verdict_where_only_the_baseline_stalls() -> None:
    made = stalling()
    turned = compare_runs(made.runs, "stuck", "heddle compare")
    said = verdict(turned, "one-node")
    assert said.policy == "fifo"
    assert said.sentence.startswith(
        "stuck does not complete the work: it stalled in 1 of 3 runs. Under fifo jobs complete in"
    )


def test_verdict_where_others_stall() -> None:
    said = verdict(stalling(), "one-node")
    assert said.policy == "fifo"
    assert said.sentence == "Nothing can be compared with fifo: every other policy stalled in some run."
    alone = [run for run in stalling().runs if run.policy == "stuck"]
    said = verdict(compare_runs(alone, "stuck", "heddle compare"), "one-node")
    assert said.sentence == "Under stuck the work does not complete: it stalled in 1 of 3 runs."
    assert said.headlines[0].figure == "stalled 1 of 3"
    twins = [*alone, *(replace(run, policy="twin") for run in alone)]
    said = verdict(compare_runs(twins, "stuck", "heddle compare"), "one-node")
    assert said.sentence == "No policy completes the work: each stalled in some run."


def test_verdict_with_one_policy() -> None:
    said = verdict(comparison(policies={"fifo": 100}), "one-node")
    assert said.sentence == (
        "Under fifo jobs complete in 1.12 s on average, and all are done after 3.02 s. Nothing was compared."
    )


def test_stalled_runs_are_a_caution() -> None:
    caution = "stuck stalled in 1 of 3 runs: heddle claims no gain for it, whatever its other runs show."
    assert caution in verdict(stalling(), "one-node").cautions
