"""The report in a real browser with the network off: it renders, is readable, sorts, and asks for nothing."""

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
def test_it_renders_without_a_word_on_the_console(browser: Chromium, report: Path, width: int, dark: bool) -> None:
    browser.open(report, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.evaluate("document.querySelector('.verdict').innerText").strip().endswith(".")
    assert browser.evaluate("document.querySelectorAll('.tile').length") == 3
    empty = "[...document.querySelectorAll('svg')].filter(s => s.getClientRects().length && s.getBBox().height < 50)"
    assert browser.evaluate("document.querySelectorAll('svg').length") >= 12
    assert browser.evaluate(f"{empty}.length") == 0


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_all_text_has_the_contrast_of_aa(browser: Chromium, report: Path, width: int, dark: bool) -> None:
    browser.open(report, width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    ratio, text = browser.evaluate(LOWEST_CONTRAST)
    assert 4.5 <= ratio < 99, text


def test_dark_mode_is_dark(browser: Chromium, report: Path) -> None:
    shades = []
    for dark in (False, True):
        browser.open(report, dark=dark)
        shades.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert shades == ["rgb(255, 255, 255)", "rgb(20, 23, 28)"]


def test_nothing_is_cut_off_at_400_pixels(browser: Chromium, report: Path) -> None:
    browser.open(report, width=400)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    outside = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, details:not([open])')
      && e.getClientRects().length && e.getBoundingClientRect().right > 400.5).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.evaluate(outside) == []
    smallest = "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))"
    assert browser.evaluate(smallest) >= 9


def test_axes_have_units(browser: Chromium, report: Path) -> None:
    browser.open(report)
    labels = browser.evaluate("[...document.querySelectorAll('svg .label')].map(t => t.textContent)")
    assert len(labels) >= 20
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
