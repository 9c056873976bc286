"""The report's sections on who got worse, and why jobs were delayed, from real runs."""

from __future__ import annotations

import re

import pytest

from heddle.analysis.comparison.compare import ComparedRun, Comparison, compare_runs
from heddle.analysis.waiting.explain import Explained, Span, State
from heddle.experiments.compare import PlannedRun, Source, run_one
from heddle.model.reasons import Reason
from heddle.report.comparison import comparison_html
from heddle.report.gantt import delayed_figure, key_of, reason_colours
from heddle.report.worse import worse_section
from heddle.traces.catalogue import suggested_cluster
from report.made_comparison import comparison

MIX = "mix(jobs=25)"


@pytest.fixture(scope="module")
def recorded() -> Comparison:
    cluster = suggested_cluster(MIX)
    runs: list[ComparedRun] = [
        run_one(PlannedRun(Source(MIX), cluster, policy, seed, complete=True, is_baseline=policy == "fifo"))
        for seed in (0, 1)
        for policy in ("fifo", "capacity")
    ]
    return compare_runs(runs, "fifo", "heddle compare")


def test_losers_are_named_with_what_they_lost() -> None:
    made = comparison(policies={"fifo": 1000, "slow": 3000})
    text = worse_section(made, "one-node", "slow")
    assert "100 % of jobs complete later by more than 1 %" in text
    assert "on average by 2 s" in text
    assert 'class="worse"' in text
    assert "job-0" in text
    assert worse_section(comparison(policies={"fifo": 1000}), "one-node", "fifo") == ""


def test_winners_without_losers_say_so() -> None:
    made = comparison(policies={"fifo": 1000, "quick": 100})
    assert "no job completes later" in worse_section(made, "one-node", "quick")


def test_delayed_jobs_have_a_bar_with_reasons(recorded: Comparison) -> None:
    (cluster,) = recorded.clusters
    figure = delayed_figure(recorded, cluster, "capacity")
    assert figure.count('class="life"') == 12
    assert "the queue is at its maximum" in figure
    bars = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', figure)]
    assert max(bars) < 400
    assert delayed_figure(comparison(), "one-node", "fifo") == "", "hand-made runs have no reasons"


def test_a_reason_has_the_same_colour_under_every_policy(recorded: Comparison) -> None:
    (cluster,) = recorded.clusters
    shown = [
        dict(re.findall(r'<span class="q(\d+)"><i></i>([^<]+)<', delayed_figure(recorded, cluster, policy)))
        for policy in recorded.policies
    ]
    both = [words for words in shown[0].values() if words in shown[1].values()]
    assert both
    for words in both:
        assert len({colour for one in shown for colour, what in one.items() if what == words}) == 1


def test_bounds_stand_beside_the_numbers(recorded: Comparison) -> None:
    text = comparison_html(recorded)
    assert "above bound" in text
    assert "the lower bound for any scheduler" in text
    (cluster,) = recorded.clusters
    above = recorded.row(cluster, "fifo", "makespan_s")["above_bound_pct"]
    assert 0 <= above["reservations"] <= above["any"] < 200


def test_fetching_has_a_colour_of_its_own_where_it_occurs() -> None:
    def life(*states: State) -> Explained:
        spans = tuple(
            Span(1000 * i, 1000 * (i + 1), state, Reason.NONE, -1, -1, 0, 1) for i, state in enumerate(states)
        )
        return Explained(0, "a", "root.a", "ann", "fifo", "finished", 0, 1000 * len(spans), 1000, spans, {}, {})

    fetches, runs = life("fetches", "runs"), life("runs")
    assert "fetches its input" in key_of([fetches], reason_colours([fetches]))
    assert "fetches its input" not in key_of([runs], reason_colours([runs]))
    assert fetches.main_wait == ""
    assert fetches.causes_ms == {"fetches": 1000, "runs": 1000}
