"""The dashboard in a real browser: what is seen, how old it says that it is, and what its buttons do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import pytest

from browser.chromium import Chromium
from browser.test_report_in_chromium import LOWEST_CONTRAST, VIEWS
from dashboard.showing_up import busy_cluster, controller, decision, move
from heddle.dashboard.board import Board
from heddle.dashboard.polling import look
from heddle.dashboard.serving import served
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk
from security.nasty_names import RAN, nasty, nasty_word
from yarn_live.fake_rm import FakeRm

STALE_S = 4
LATE = "document.body.classList.contains('old')"
TEXT = "document.querySelector('main').innerText"


@dataclass
class Shown:
    """A dashboard of a fake cluster whose nodes report, but for those that hang."""

    rm: FakeRm
    desk: Desk
    link: str = ""
    hangs: set[str] = field(default_factory=set)
    ended: Event = field(default_factory=Event)
    server: ExitStack = field(default_factory=ExitStack)

    def feed(self, client: RmClient, board: Board) -> None:
        turn = 0
        while not self.ended.wait(0.5):
            turn += 1
            kept = {name: vars(self.rm.nodes[name]).copy() for name in self.hangs}
            move(self.rm, turn)
            for name, figures in kept.items():
                vars(self.rm.nodes[name]).update(figures)
            look(client, board)


@pytest.fixture
def nodes() -> int:
    return 12


@pytest.fixture
def shown(tmp_path: Path, nodes: int) -> Iterator[Shown]:
    with FakeRm() as rm, RmClient(rm.address, timeout_s=30) as client:
        busy_cluster(rm, nodes)
        made = Shown(rm, Desk(tmp_path / "desk"))
        board = Board(rm.address, made.desk, STALE_S)
        with made.server:
            made.link = made.server.enter_context(served(board, "127.0.0.1", 0))
            thread = Thread(target=made.feed, args=(client, board))
            thread.start()
            try:
                yield made
            finally:
                made.ended.set()
                thread.join()


def open_board(browser: Chromium, shown: Shown, width: int = 1200, dark: bool = False) -> None:
    browser.visit(shown.link, width=width, dark=dark)
    browser.until(f"!document.getElementById('board').hidden && !{LATE}")


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_it_renders_without_a_word_on_the_console(browser: Chromium, shown: Shown, width: int, dark: bool) -> None:
    with controller(shown.desk):
        open_board(browser, shown, width, dark)
        browser.evaluate("document.getElementById('list').open = true")
        browser.until("document.querySelectorAll('#node-table tbody tr').length === 12")
        browser.until("document.querySelectorAll('#log li').length >= 1 && document.querySelectorAll('.stack').length")
        assert browser.complaints() == []  # nothing but its own files was asked for
        assert browser.evaluate("location.hash") == ""  # the token is not left in sight
        ratio, text = browser.evaluate(LOWEST_CONTRAST)
        assert 4.5 <= ratio < 99, f"{text} has less than the contrast of AA"
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        outside = f"""[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') &&
          e.getClientRects().length && e.getBoundingClientRect().right > {width} + .5).map(e => e.outerHTML)"""
        assert browser.evaluate(outside) == []
        painted = """(c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]
          .filter((v, i) => i % 4 == 3 && v).length / (c.width * c.height))(document.getElementById('tiles'))"""
        assert browser.evaluate(painted) > 0.5
        said = browser.evaluate(TEXT)
        for part in (
            "live",
            "usage-feedback(damping=0.5)",
            "root.batch",
            "user-2",
            "its AM",
            "worker-3:8041",
            "(lever)",
        ):
            assert part in said


def test_without_the_token_it_says_so_and_shows_nothing(browser: Chromium, shown: Shown) -> None:
    browser.visit(shown.link)
    browser.evaluate("sessionStorage.clear()")
    browser.visit(shown.link.partition("#")[0])
    browser.until(f"{TEXT}.includes('Open the link that heddle printed')")
    assert browser.evaluate("document.getElementById('board').hidden")
    assert "worker" not in browser.evaluate(TEXT)


def test_a_reload_needs_no_token_again(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    browser.call("Page.reload")
    browser.until(f"document.getElementById('board') && !document.getElementById('board').hidden && !{LATE}")


def test_a_node_that_stands_still_is_stale_and_one_that_is_gone_has_no_numbers(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    browser.evaluate("document.getElementById('list').open = true")
    row = "[...document.querySelectorAll('#node-table tbody tr')].find(r => r.cells[0].innerText === '{}').innerText"
    hung, lost = row.format("worker-5:8041"), row.format("worker-7:8041")
    shown.hangs.add("worker-5:8041")
    shown.rm.lose("worker-7:8041")
    browser.until(f"{lost}.includes('gone for')")
    assert "?" in browser.evaluate(lost)
    counted = "document.getElementById('summary').innerText.includes('1 gone, 1 stale')"
    browser.until(f"{hung}.includes('old') && {hung}.includes('was ') && {counted} && !{LATE}")


def test_numbers_of_an_rm_that_is_away_are_old(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    shown.rm.instead["/nodes"] = 503, "away"
    browser.until(f"{LATE} && {TEXT}.includes('The ResourceManager does not answer')")
    browser.until("document.querySelectorAll('.age.late').length >= 4")
    assert "use unknown" in browser.evaluate("document.getElementById('summary').innerText")
    del shown.rm.instead["/nodes"]
    browser.until(f"!{LATE} && !{TEXT}.includes('does not answer.')")


def test_a_dashboard_that_has_ended_is_not_taken_for_the_present(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    shown.server.close()
    browser.until(f"{LATE} && {TEXT}.includes('No word from heddle')")
    browser.until("document.querySelectorAll('.age.late').length >= 4")


def test_buttons_ask_first_and_then_the_desk(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    browser.until("document.getElementById('state').innerText === 'not steered'")
    assert browser.evaluate("document.querySelectorAll('#buttons button').length") == 0
    with controller(shown.desk) as running:
        browser.until("document.querySelectorAll('#buttons button').length === 2")
        browser.evaluate("document.getElementById('do-pause').click()")
        assert browser.evaluate("document.getElementById('sure').open")
        browser.evaluate("document.getElementById('no').click()")
        time.sleep(0.3)
        assert not shown.desk.paused  # not confirmed
        browser.evaluate("document.getElementById('do-pause').click()")
        browser.evaluate("document.getElementById('yes').click()")
        browser.until("document.getElementById('do-resume') !== null")
        assert shown.desk.paused
        assert "asked to pause" in browser.evaluate("document.getElementById('doing').innerText")
        running.stepped(decision(), paused=True)
        browser.until("document.getElementById('state').innerText === 'paused'")
        browser.evaluate("document.getElementById('do-end').click()")
        browser.evaluate("document.getElementById('yes').click()")
        browser.until("document.querySelectorAll('#buttons button').length === 0")
        assert shown.desk.is_to_end(running.name)
    browser.until("document.getElementById('state').innerText === 'ended'")
    assert "asked to put everything back and end" in browser.evaluate("document.getElementById('log').innerText")
    assert browser.complaints() == []


def test_names_from_the_cluster_are_text(browser: Chromium, shown: Shown) -> None:
    shown.rm.add_app("default", user="<img src=x onerror=document.title='hit'>").asks = [(0, 1024, 1, 1)]
    open_board(browser, shown)
    browser.until(f"{TEXT}.includes('<img src=x')")
    assert browser.evaluate("document.querySelectorAll('main img').length") == 0
    assert browser.evaluate("document.title") != "hit"


def test_names_that_turn_the_direction_of_writing_show_it(browser: Chromium, shown: Shown) -> None:
    shown.rm.add_app("default", user="nimda\u202e").asks = [(0, 1024, 1, 1)]
    open_board(browser, shown)
    browser.until(rf"{TEXT}.includes('nimda\\u202e')")
    assert browser.evaluate(f"{TEXT}.includes('\\u202e')") is False


@pytest.mark.parametrize("nodes", [5000])
def test_5000_nodes_stay_usable(browser: Chromium, shown: Shown) -> None:
    open_board(browser, shown)
    assert browser.evaluate("document.getElementById('tiles').clientHeight") < 700
    assert "5,000" in browser.evaluate("document.getElementById('summary').innerText")
    browser.evaluate("""(() => { const f = document.getElementById('filter'); f.value = 'worker-4321:';
      f.dispatchEvent(new Event('input')); })()""")
    browser.evaluate("document.getElementById('list').open = true")
    browser.until("document.querySelectorAll('#node-table tbody tr').length === 1")
    redraw = """(() => { const f = document.getElementById('filter'); f.value = '';
      const began = performance.now(); f.dispatchEvent(new Event('input')); return performance.now() - began; })()"""
    print(f"a redraw of 5,000 tiles: {min(browser.evaluate(redraw) for _ in range(3)):.0f} ms")


def test_names_with_markup_in_them_are_text(browser: Chromium, shown: Shown) -> None:
    for node in shown.rm.nodes.values():
        node.rack = f"/{nasty_word('rack')}"
    for app in shown.rm.apps.values():
        app.user = nasty("user")
    with controller(shown.desk) as showing:
        showing.said(nasty("said"))
        showing.stepped(
            decision({"node": nasty("node"), "problem": nasty("problem"), "verdict": "failed"}), paused=False
        )
        open_board(browser, shown)
        for word in ("node", "user", "said", "problem"):
            browser.until(f"{TEXT}.includes('{word}|') && {TEXT}.includes('onmouseover')")
        assert browser.evaluate(f"typeof {RAN}") == "undefined"
        assert browser.evaluate("document.querySelectorAll('img, main script, [onerror], [onmouseover]').length") == 0
        assert browser.complaints() == []
