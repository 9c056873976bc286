from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from heddle.analysis.comparison.compare import ComparedRun, compare_runs
from heddle.model.errors import BadInput
from heddle.report.comparison import comparison_html, write_comparison_report
from heddle.report.style import DARK, LIGHT, style_sheet
from report.made_comparison import comparison, stalling

VOID = {"meta", "wbr", "input"}


class Page(HTMLParser):
    """Checks that tags close in order and collects what is inside."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_report_is_one_file_that_asks_for_nothing(tmp_path: Path) -> None:
    write_comparison_report(tmp_path / "out" / "report.html", comparison())
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.html"]
    assert len(text) < 1_000_000
    assert not re.search(r"https?:|//[a-z]|url\(|@import", text)
    for tag, attributes in Page(text).tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#"), "within the page"


def below_the_contents(html: str) -> str:
    before, _, rest = html.partition("<nav")
    return before + rest.partition("</nav>")[2]


def test_report_has_all_its_parts_in_order() -> None:
    page = Page(below_the_contents(comparison_html(comparison())))
    parts = [
        "finishes jobs 45 % sooner than fifo", "Mean completion", "All numbers", "Against the baseline",
        "Who got worse", "Queues", "root.default", "Users",
        "When jobs are done", "When the first task of a job runs", "Containers running", "Containers waiting",
        "Memory: fifo", "Vcores: fifo", "Memory: quick(n=5)", "The other policies", "Memory: slow",
        "Shares of queues", "Memory by queue: quick(n=5)",
        "How to reproduce this", "heddle compare mix --policy fifo", "1, 2, 3", "Configuration",
    ]  # fmt: skip
    places = [page.text.find(part) for part in parts]
    assert -1 not in places, [part for part, place in zip(parts, places, strict=True) if place < 0]
    assert places == sorted(places)
    figures = sum(tag == "figure" for tag, _ in page.tags)
    assert figures == 2 + 2 + 2 + 3 * 2 + 2


def test_table_has_a_row_per_policy_with_sortable_values() -> None:
    page = Page(comparison_html(comparison()))
    rows = [attributes["data-v"] for tag, attributes in page.tags if tag == "th" and "data-v" in attributes]
    assert rows[:3] == ["fifo", "quick(n=5)", "slow"]
    assert set(rows[3:5]) == {"root.default", "ann"}, "then who got worse"
    values = [attributes["data-v"] for tag, attributes in page.tags if tag == "td"]
    assert len(values) > 3 * 11
    assert all(float(value or "nan") >= 0 for value in values[: 3 * 11])


def test_same_comparison_same_bytes() -> None:
    assert comparison_html(comparison()) == comparison_html(comparison())


def test_names_cannot_inject() -> None:
    nasty = "<script>alert(1)</script>\"'&"
    text = comparison_html(comparison(policies={"fifo": 100, nasty: 50}))
    assert text.count("<script") == 1
    assert nasty in Page(text).text


def test_stalled_runs_are_shown_with_their_reason() -> None:
    html = comparison_html(stalling())
    text = Page(html).text
    assert '<small class="worse">stalled 1 of 3</small>' in html, "in the table, in colour"
    assert html.count('<tspan class="note none">stalled 1 of 3</tspan>') == 2, (
        "among the bars of two figures, in colour"
    )
    assert 'class="bar"' not in html, "no bar claims a gain"
    assert text.count("Omitted because runs stalled: stuck.") == 2
    assert "stuck, seed 2, one-node: no task can start" in text


def test_report_of_one_policy_and_one_seed() -> None:
    page = Page(comparison_html(comparison(seeds=(4,), policies={"fifo": 100})))
    assert "Nothing was compared" in page.text
    assert "Against the baseline" not in page.text


def test_each_cluster_has_its_own_verdict() -> None:
    def named(name: str, wait_ms: int) -> tuple[ComparedRun, ...]:
        cluster = {"name": name, "hash": name, "nodes": 1, "resources": ["memory_mb", "vcores_milli"]}
        return comparison(policies={"fifo": 1000, "other": wait_ms}, cluster=cluster).runs

    both = compare_runs([*named("small", 100), *named("large", 3000)], "fifo", "heddle compare")
    text = Page(below_the_contents(comparison_html(both))).text
    assert "On small" in text
    assert "other finishes jobs 45 % sooner than fifo" in text.partition("On large")[0]
    assert "fifo finishes jobs soonest" in text.partition("On large")[2]


def test_incomplete_records_are_admitted() -> None:
    assert "only each task's last" in Page(comparison_html(comparison(complete_attempts=False))).text
    assert "only each task's last" not in Page(comparison_html(comparison())).text


def test_more_policies_than_colours_stay_apart() -> None:
    assert ".s8 .line{stroke-dasharray" in style_sheet(9)
    assert ".s7 .line{" not in style_sheet(9)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        write_comparison_report(tmp_path / "file" / "report.html", comparison(seeds=(1,)))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_aa_on_page_and_panel(mode: dict[str, str]) -> None:
    for name, colour in mode.items():
        if name in ("page", "panel", "rule"):
            continue
        for ground in ("page", "panel"):
            low, high = sorted((luminance(colour), luminance(mode[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)
