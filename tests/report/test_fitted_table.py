"""Tables at any width: words, numbers with their units and parts of policy names stay whole."""

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from heddle.report.fitted_table import fitted_table, wrapped

POLICIES = ("capacity", "capacity+admission-control(backlog=0.75)", "capacity+smallest-first")
HEADINGS = ("application", "queue", "age", "judged by", *(f"ends in, under {name}" for name in POLICIES))
ROW = ("etl-5", "root.default", "37.5 s", "stage", *["29.0 s (7.70 s to 41.8 s)"] * 3)


def printed(width: int, headings: tuple[str, ...] = HEADINGS, row: tuple[str, ...] = ROW) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(fitted_table(headings, [row], "", width))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_nothing_is_broken_inside_a_word(width: int) -> None:
    whole = {*re.findall(r"[A-Za-z]+", " ".join(HEADINGS + ROW))}
    text = printed(width)
    assert {*re.findall(r"[A-Za-z]+", text)} == whole
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_a_number_stays_with_its_unit() -> None:
    assert wrapped("95 % of 60.5 s together", 5) == ["95 %", "of", "60.5 s", "together"]


def test_a_name_is_broken_between_its_parts_first() -> None:
    assert wrapped("capacity+usage-feedback(young_reports=10)", 16) == [
        "capacity+",
        "usage-feedback",
        "(young_reports=",
        "10)",
    ]
    assert wrapped("mapreduce.job.reduce.slowstart.completedmaps", 24) == [
        "mapreduce.job.reduce.",
        "slowstart.completedmaps",
    ]
    assert wrapped("backlog=0.75", 5)[-1] == "0.75"


def test_what_is_indented_stays_so() -> None:
    assert wrapped("waits\n  three requests waited", 12) == ["waits", "  three", "  requests", "  waited"]


def test_what_cannot_be_fitted_has_a_line_for_each_heading() -> None:
    text = printed(40)
    assert text.splitlines()[0].split() == ["application", "etl-5"]


def test_cells_are_no_markup_and_keep_their_style() -> None:
    made = fitted_table(("", "b"), [("[red]", Text("stalled", "red"))], "", 80)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(made)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]" in text
    assert "\x1b[31mstalled" in text
