from __future__ import annotations

import io

from rich.console import Console

from heddle.report.table import change_words, comparison_tables
from report.made_comparison import comparison, stalling


def printed(width: int = 140, **arguments: object) -> str:
    out = io.StringIO()
    for table in comparison_tables(comparison(**arguments)):  # type: ignore[arg-type]
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


def test_everything_fits_eighty_columns() -> None:
    text = printed(width=80)
    assert "baseline" in text
    assert "…" not in text


def test_words_where_little_is_known() -> None:
    row = {"metric": "jct_s.mean", "vs_baseline_pct": -12.0, "vs_ci95": None, "stalled_runs": 0, "all_runs": 5}
    assert change_words(row) == "−12 % (no interval)"
    assert change_words(row | {"vs_baseline_pct": None}) == "not known"
    assert change_words(row | {"vs_ci95": (-14.0, -10.0)}) == "[green]−12 ± 2.0 %[/green]"
    assert change_words(row | {"vs_baseline_pct": 12.0, "vs_ci95": (10.0, 14.0)}) == "[red]+12 ± 2.0 %[/red]"


def test_a_policy_that_stalled_shows_no_number_but_that() -> None:
    out = io.StringIO()
    numbers = comparison_tables(stalling())[0]
    Console(file=out, width=120).print(numbers)
    line = next(line for line in out.getvalue().splitlines() if line.strip().startswith("stuck"))
    assert line.split() == ["stuck", *["–"] * 6, "stalled", "1", "of", "3"]
    row = {"metric": "jct_s.mean", "vs_baseline_pct": None, "vs_ci95": None, "stalled_runs": 3, "all_runs": 5}
    assert change_words(row) == "[red]stalled 3 of 5[/red]"
