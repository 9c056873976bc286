"""Names with HTML and scripts in them do nothing in any page that heddle writes or serves."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from browser.chromium import Chromium
from heddle import compare, simulate
from heddle.analysis.comparison.real_trial import JobShown, PolicyShown, Spread
from heddle.model.visible_text import visible
from heddle.report.page import page
from heddle.report.real_trial import trial_html
from heddle.report.set_aside import set_aside_section
from heddle.report.tables import Cell, Says, sortable_table

from .nasty_names import RAN, nasty, nasty_word, write_pages, write_world
from .pages_as_parsed import Parsed

WRITTEN = ("simulate", "compare", "waste", "ledger", "explain", "sweep", "tune", "check")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_pages(tmp_path_factory.mktemp("pages"))


def source_of(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def assert_only_its_own(text: str) -> Parsed:
    parsed = Parsed(text)
    assert parsed.strange == []
    assert len(parsed.scripts) == len(parsed.styles) == 1
    assert "unsafe" not in parsed.policy
    assert f"script-src {source_of(parsed.scripts[0])};" in parsed.policy
    assert f"style-src {source_of(parsed.styles[0])};" in parsed.policy
    assert "\u202e" not in text, "nothing turns the direction of what follows"
    assert "\x1b" not in text
    return parsed


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_has_only_its_own_elements_and_scripts(name: str, pages: dict[str, Path]) -> None:
    parsed = assert_only_its_own(pages[name].read_text(encoding="utf-8"))
    assert "onmouseover" in "".join(parsed.texts), "the names are in it, as text"


@pytest.mark.parametrize("name", WRITTEN)
def test_in_a_browser_no_name_runs_and_the_page_still_works(
    name: str, pages: dict[str, Path], browser: Chromium
) -> None:
    browser.open(pages[name])
    hover = "document.querySelectorAll('main *').forEach(e => e.dispatchEvent(new MouseEvent('mouseover')))"
    browser.evaluate(hover)
    browser.evaluate("document.querySelectorAll('thead button, .legend button').forEach(b => b.click())")
    assert browser.evaluate(f"typeof {RAN}") == "undefined"
    assert browser.evaluate("document.querySelectorAll('img, svg svg, main script').length") == 0
    assert browser.evaluate("document.querySelectorAll('thead button').length") == browser.evaluate(
        "document.querySelectorAll('thead th[aria-sort], table:has(th[aria-sort]) thead th').length"
    ), "every table was sorted by the page's own script"
    assert browser.evaluate("getComputedStyle(document.querySelector('h1')).fontSize") == "24px", "its style applies"
    assert browser.complaints() == []


def test_a_script_that_is_not_the_pages_own_does_not_run(tmp_path: Path, browser: Chromium) -> None:
    """Even if something escaped nothing: what the policy of the page is for."""
    path = tmp_path / "hole.html"
    hole = f'<p style="color:red" onclick="{RAN}=1">x</p><script>{RAN}=1</script><style>p{{color:red}}</style>'
    path.write_text(page("hole", hole, 0), encoding="utf-8")
    browser.open(path)
    browser.evaluate("document.querySelector('p').click()")
    assert browser.evaluate(f"typeof {RAN}") == "undefined"
    assert browser.evaluate("getComputedStyle(document.querySelector('p')).color") != "rgb(255, 0, 0)"
    refused = browser.complaints()
    assert len(refused) == 4
    assert all("Content Security Policy" in one for one in refused)


def test_a_trial_on_a_real_yarn_has_only_its_own_elements() -> None:
    spread = Spread(10.0, (9.0, 11.0))
    rows = [
        PolicyShown(name, spread, spread, change, change, 3, 0, 1, 0.5, spread, spread)
        for name, change in ((nasty("stock"), None), (nasty("other"), spread))
    ]
    jobs = [JobShown(nasty("job"), {row.policy: 4.0 for row in rows})]
    running = {row.policy: (np.array([0.0, 1.0]), np.array([1.0, 2.0])) for row in rows}
    assert_only_its_own(trial_html(nasty("work"), 2, rows, jobs, running, f"heddle {nasty('command')}"))


def test_the_account_of_an_import_has_only_its_own_elements() -> None:
    """Reasons, examples and notes come from files that are no traces at all."""
    found = {
        "rows": 3, "task_rows": 1, "merged": {nasty("merged"): 1}, "metadata": {nasty("metadata"): 1},
        "set_aside": {nasty("reason"): 1}, "examples": {nasty("reason"): [nasty("example")]},
    }  # fmt: skip
    account = {
        "reconciliation": found, "files": [nasty("file")], "format": nasty("format"), "tasks": 1, "jobs": 1,
        "set_aside_rows": nasty("rows"), "notes": [nasty("note")], "assumed": {nasty("name"): nasty("value")},
    }  # fmt: skip
    assert_only_its_own(page(nasty("import"), set_aside_section(account), 0))


def test_results_in_a_notebook_have_only_elements_of_tables(tmp_path: Path) -> None:
    trace, cluster = write_world(tmp_path)
    result = simulate(trace, "fifo", cluster, record=True)
    compared = compare(trace, ["fifo", "capacity"], cluster, seeds=1)
    for shown in (result, result.explain(0), compared):
        assert Parsed(shown._repr_html_()).strange == []
        assert "\x1b" not in shown._repr_html_() + repr(shown)
    assert escape(visible(nasty("job0"))) in result.explain(0)._repr_html_()


def test_the_second_line_of_a_cell_is_one_of_three() -> None:
    rows = [[Cell(nasty_word("queue"), nasty_word("queue"), says)] for says in (None, *Says)]
    html = sortable_table(nasty("title"), [nasty("head")], rows, nasty("label"))
    assert Parsed(html).strange == []
    assert html.count("<small") == 3
    assert html.count(f'data-v="{escape(nasty_word("queue"))}"') == 4, "a bar in a name is nothing but a bar"


def test_the_dashboard_writes_no_markup_at_all() -> None:
    """Its page holds no data; what fills it puts names in as text, never as markup."""
    folder = files("heddle.dashboard") / "page"
    scripts = [file.read_text() for file in folder.iterdir() if file.name.endswith(".js")]
    assert len(scripts) > 3
    for markup in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "createContextualFragment",
        "eval(",
    ):
        assert not any(markup in script for script in scripts), markup
