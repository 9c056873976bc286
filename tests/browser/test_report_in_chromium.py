"""Every report in a real browser with the network off: it renders, is readable, sorts, and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.chromium import Chromium

VIEWS = [(1200, False), (1200, True), (400, False), (400, True)]

# The lowest contrast of any text against what lies behind it, with the text: 4.5 is AA for normal sizes.
LOWEST_CONTRAST = """
(() => {
 const rgb = text => text.match(/[\\d.]+/g).map(Number);
 const light = c => { const f = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  return .2126 * f(c[0]) + .7152 * f(c[1]) + .0722 * f(c[2]); };
 const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
 let worst = [99, "nothing"];
 const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
 while (walk.nextNode()) {
  const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
  if (!text || !e.getClientRects().length || e.tagName === "title") continue;
  const style = getComputedStyle(e), a = light(rgb(e instanceof SVGElement ? style.fill : style.color));
  const b = light(behind(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < worst[0]) worst = [ratio, text];
 }
 return worst;
})()
"""


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_it_renders_without_a_word_on_the_console(browser: Chromium, any_report: Path, width: int, dark: bool) -> None:
    browser.open(any_report, width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.complaints() == []
    assert browser.evaluate("document.querySelector('.verdict').innerText").strip().endswith(".")
    empty = "[...document.querySelectorAll('svg')].filter(s => s.getClientRects().length && s.getBBox().height < 50)"
    assert browser.evaluate("document.querySelectorAll('svg').length") >= 1
    assert browser.evaluate(f"{empty}.length") == 0
    ratio, text = browser.evaluate(LOWEST_CONTRAST)
    assert 4.5 <= ratio < 99, f"{text} has less than the contrast of AA"
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    outside = f"""[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') &&
      e.getClientRects().length && e.getBoundingClientRect().right > {width} + .5).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.evaluate(outside) == []
    smallest = "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))"
    assert browser.evaluate(smallest) >= 9


def test_a_comparison_has_three_numbers_and_all_of_its_sections(browser: Chromium, report: Path) -> None:
    browser.open(report)
    assert browser.evaluate("document.querySelectorAll('.tile').length") == 3
    heads = browser.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)")
    wanted = ["All numbers", "Against the baseline", "Who got worse", "All jobs", "Over time", "Reserved and used",
              "Shares of queues", "Delayed jobs, and why", "Where the capacity went"]  # fmt: skip
    assert [head for head in wanted if head not in heads] == []
    assert browser.evaluate("document.querySelectorAll('svg').length") >= 16


def test_every_metric_is_seen_at_1280_pixels_and_details_on_demand(browser: Chromium, report: Path) -> None:
    browser.open(report, width=1280)
    hidden = "(t => t.scrollWidth - t.clientWidth)(document.querySelector('.numbers .scroll'))"
    details = "[...document.querySelectorAll('.numbers .more')].filter(e => e.getClientRects().length).length"
    assert browser.evaluate(hidden) <= 0
    assert browser.evaluate(details) == 0
    browser.evaluate("document.querySelector('.numbers input').click()")
    assert browser.evaluate(details) > 20


def test_the_contents_lead_to_every_part(browser: Chromium, report: Path) -> None:
    browser.open(report)
    links = browser.evaluate("[...document.querySelectorAll('.contents a')].map(a => [a.hash, a.textContent])")
    assert len(links) >= 9
    assert len({hash for hash, _ in links}) == len(links)
    for hash, title in links:
        assert browser.evaluate(f"document.querySelector('{hash}').textContent") == title


def test_dark_mode_is_dark(browser: Chromium, report: Path) -> None:
    shades = []
    for dark in (False, True):
        browser.open(report, dark=dark)
        shades.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert shades == ["rgb(255, 255, 255)", "rgb(20, 23, 28)"]


def test_axes_have_units(browser: Chromium, any_report: Path) -> None:
    browser.open(any_report)
    labels = browser.evaluate("[...document.querySelectorAll('svg .label')].map(t => t.textContent)")
    assert len(labels) >= 1
    assert [label for label in labels if "(" not in label and label != "containers"] == []


def test_tables_sort_both_ways(browser: Chromium, report: Path) -> None:
    browser.open(report)
    column = """n => [...document.querySelector('table').tBodies[0].rows].map(r => r.cells[n].dataset.v)"""
    click = "document.querySelectorAll('table')[0].querySelectorAll('thead button')[{}].click()"
    before = browser.evaluate(f"({column})(0)")
    browser.evaluate(click.format(2))
    rising = [float(value) for value in browser.evaluate(f"({column})(2)")]
    browser.evaluate(click.format(2))
    falling = [float(value) for value in browser.evaluate(f"({column})(2)")]
    assert rising == sorted(rising)
    assert falling == rising[::-1] != rising
    browser.evaluate(click.format(0))
    assert browser.evaluate(f"({column})(0)") == sorted(before)
    assert browser.complaints() == []


def test_a_policy_can_be_hidden_in_all_figures(browser: Chromium, report: Path) -> None:
    browser.open(report)
    shown = "[...document.querySelectorAll('.s.s1')].filter(g => g.getClientRects().length).length"
    assert browser.evaluate(shown) > 0
    browser.evaluate("document.querySelector('.legend button[data-s=\"1\"]').click()")
    assert browser.evaluate(shown) == 0


def test_waste_has_its_ledger_nodes_distributions_wasters_and_what_was_set_aside(
    browser: Chromium, waste_report: Path
) -> None:
    browser.open(waste_report)
    titles = browser.evaluate("[...document.querySelectorAll('h2, h3')].map(h => h.textContent)")
    wanted = ["Memory: where it went", "Vcores: where it went", "The ledger", "Memory reserved, node by node",
              "Vcores used, node by node", "Memory: used of reserved", "By job", "By user", "By queue", "By node",
              "Every row, counted once"]  # fmt: skip
    assert [title for title in wanted if title not in titles] == []
    assert "1 of 62 rows" in browser.evaluate("document.querySelector('main').innerText")
    shades = browser.evaluate(
        "new Set([...document.querySelectorAll('svg path[class^=h]')].map(p => p.className)).size"
    )
    assert shades >= 1


def test_rows_can_be_filtered_and_still_sort(browser: Chromium, waste_report: Path) -> None:
    browser.open(waste_report)
    shown = """(() => { const table = document.querySelector('[aria-label="wasters by job"] table');
      return [...table.tBodies[0].rows].filter(r => r.getClientRects().length).map(r => r.cells[0].dataset.v); })()"""
    everybody = browser.evaluate(shown)
    assert len(everybody) == 60
    browser.evaluate("""(() => { const f = document.querySelector('[aria-label="filter wasters by job"]');
      f.value = 'ETL-1'; f.dispatchEvent(new Event('input')); })()""")
    assert set(browser.evaluate(shown)) == {name for name in everybody if "etl-1" in name}
    browser.evaluate("""document.querySelectorAll('[aria-label="wasters by job"] thead button')[0].click()""")
    assert browser.evaluate(shown) == sorted(name for name in everybody if "etl-1" in name)
    assert browser.complaints() == []
