from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from heddle.analysis.comparison.compare import compare_runs
from heddle.report.fitted_table import wrapped
from heddle.report.table import change_words, comparison_tables, verdict_sentences
from report.made_comparison import comparison, stalling


def printed(width: int = 140, **arguments: object) -> str:
    out = io.StringIO()
    for table in comparison_tables(comparison(**arguments), width):  # type: ignore[arg-type]
        Console(file=out, width=width, color_system=None).print(table)
    return out.getvalue()


def test_table_shows_policies_and_changes() -> None:
    lines = printed().splitlines()
    assert "cluster one-node, 3 seeds" in lines[0]
    (baseline,) = [line for line in lines if line.split()[:1] == ["fifo"]]
    assert baseline.rstrip().endswith("baseline")
    quick, worse = (line for line in lines if "quick(n=5)" in line)
    assert worse.split()[1:3] == ["0", "%"], "no job got worse"
    assert "−45 ±" in quick
    assert "50" in quick  # efficiency: 500 of 1000 MB


def test_no_difference_is_said() -> None:
    assert "no difference shown" in printed(policies={"fifo": 100, "twin": 100})


LONG = {"capacity": 100, "twin": 100, "capacity+usage-feedback(damping=0.5,young=3)+admission-control": 50}


@pytest.mark.parametrize("width", [66, 80, 100, 140])
def test_at_every_width_verdicts_take_one_line_and_names_break_between_their_parts(width: int) -> None:
    lines = printed(width=width, policies=LONG).splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    assert any(line.endswith("%)") and "no difference shown (" in line for line in map(str.rstrip, lines))
    begins = [line.split("  ")[0].strip() for line in lines if line.strip()]
    for part in ("usage-feedback", "admission-control"):
        assert any(part in begin for begin in begins), "whole, not broken inside a word"


def test_in_a_very_narrow_terminal_nothing_is_cut_off() -> None:
    text = printed(width=50, policies=LONG)
    assert max(map(len, text.splitlines())) <= 50
    assert "…" not in text


def test_what_does_not_fit_is_said() -> None:
    narrow, wide = " ".join(printed(width=80, policies=LONG).split()), printed(width=200, policies=LONG)
    assert "not shown at this width (see --report or --json): " in narrow
    assert "eff., crashes" in narrow
    assert "not shown" not in wide
    assert list(LONG)[-1] in wide, "on one line where there is room"


@pytest.mark.parametrize("width", [60, 80])
def test_crashes_are_never_left_out_where_there_are_any(width: int) -> None:
    runs = [replace(run, metrics=run.metrics | {"crashed_tasks": 2}) for run in comparison(policies=LONG).runs]
    out = io.StringIO()
    for table in comparison_tables(compare_runs(runs, "capacity", "heddle compare"), width):
        Console(file=out, width=width, color_system=None).print(table)
    headings, _, missing = out.getvalue().partition("not shown at this width")
    assert "crashes" in headings
    assert "eff." in missing
    assert "crashes" not in missing.splitlines()[0]


def test_names_break_between_their_parts() -> None:
    name = "capacity+usage-feedback(damping=0.5,young=3)"
    assert wrapped(name, 100) == [name]
    assert wrapped(name, 24) == ["capacity+usage-feedback", "(damping=0.5,young=3)"]
    assert wrapped(name, 16) == ["capacity+", "usage-feedback", "(damping=0.5,", "young=3)"]


def test_no_row_is_empty_above_the_headings() -> None:
    lines = printed().splitlines()
    assert "makespan" in lines[1], "right below the title"
    assert not printed().startswith("\n")


def test_the_verdict_is_said_of_each_cluster() -> None:
    (sentence,) = verdict_sentences(comparison())
    assert sentence.startswith("The best of 2, quick(n=5), finishes jobs")


def test_words_where_little_is_known() -> None:
    row = {"metric": "jct_s.mean", "vs_baseline_pct": -12.0, "vs_ci95": None, "stalled_runs": 0, "all_runs": 5}
    assert change_words(row) == "−12 % (no interval)"
    assert change_words(row | {"vs_baseline_pct": None}) == "not known"
    assert change_words(row | {"vs_ci95": (-14.0, -10.0)}) == "[green]−12 ± 2.0 %[/green]"
    assert change_words(row | {"vs_baseline_pct": 12.0, "vs_ci95": (10.0, 14.0)}) == "[red]+12 ± 2.0 %[/red]"


def test_a_policy_that_stalled_shows_no_number_but_that() -> None:
    out = io.StringIO()
    numbers = comparison_tables(stalling(), 120)[0]
    Console(file=out, width=120).print(numbers)
    line = next(line for line in out.getvalue().splitlines() if line.strip().startswith("stuck"))
    assert line.split() == ["stuck", *["–"] * 6, "stalled", "1", "of", "3"]
    row = {"metric": "jct_s.mean", "vs_baseline_pct": None, "vs_ci95": None, "stalled_runs": 3, "all_runs": 5}
    assert change_words(row) == "[red]stalled 3 of 5[/red]"
