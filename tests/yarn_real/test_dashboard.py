"""The dashboard of a real YARN in a real browser: what heddle knows is on the page at once."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser.chromium import Chromium
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.configuration import NODE_LOST_AFTER_MS
from yarn_steering.watching import wait_for

from .live import HEDDLE, PATIENT_S, STARTS_S, answers, as_found, pid_of, steering, stopped, totals

KNOWN_WITHIN_S = 60  # 3 on a machine that has nothing else to do
STALE_S = 5
TEXT = "document.querySelector('main').innerText"
LATE = "document.body.classList.contains('old')"
ROWS = "[...document.querySelectorAll('#node-table tbody tr')].map(r => r.innerText)"


@contextmanager
def dashboard(rm: str, *more: str) -> Iterator[str]:
    """`heddle yarn dashboard`: its link."""
    command = [*HEDDLE, "yarn", "dashboard", "--rm", rm, "--stale", str(STALE_S), "--every", "0.5", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENT_S) == 0


@pytest.fixture
def board(cluster: LocalCluster, browser: Chromium) -> Iterator[Chromium]:
    """The page, with both nodes' figures seen to move."""
    with dashboard(cluster.layout.rm) as link:
        browser.visit(link)
        browser.until("!document.getElementById('board').hidden", PATIENT_S)
        browser.evaluate("document.getElementById('list').open = true")
        browser.until(f"{ROWS}.length === 2 && !{TEXT}.includes('unknown') && !{LATE}", PATIENT_S)
        yield browser


def test_a_node_that_hangs_and_one_that_dies(cluster: LocalCluster, rm: RmClient, board: Chromium) -> None:
    """A silent NodeManager is still RUNNING to the ResourceManager: its figures are stale by their age."""
    stale = f"{ROWS}.filter(r => / old/.test(r) && r.includes('was ')).length === 1"
    fresh_s = time.monotonic()
    board.until(f"!{ROWS}.some(r => / old/.test(r))", PATIENT_S)
    with stopped(pid_of(cluster, "nodemanager-1")):
        # How soon is for a quiet machine; that it is, whatever the load, and the other numbers are as fresh as before.
        counted = "document.getElementById('summary').innerText.includes('1 stale')"
        board.until(f"{stale} && {counted} && !{LATE}", PATIENT_S)
        shown = next(row for row in board.evaluate(ROWS) if " old" in row)
        age_s = float(re.findall(r"([\d.]+) s old", shown)[0])
        assert STALE_S <= age_s <= time.monotonic() - fresh_s + STALE_S + 1  # measured once a second
    board.until(f"!{TEXT}.includes('1 stale')", PATIENT_S)
    os.kill(pid_of(cluster, "nodemanager-1"), signal.SIGKILL)
    try:
        # The ResourceManager goes on to call it running, until its patience is over: the page does not.
        board.until(stale, PATIENT_S)
        wait_for(lambda: len(totals(rm)) == 1, 2 * NODE_LOST_AFTER_MS / 1000)
        lost = f"{ROWS}.filter(r => /lost|gone for/.test(r)).length === 1"  # listed as LOST, or not at all
        board.until(lost, PATIENT_S)
    finally:
        cluster.start_daemon("nodemanager-1")
        wait_for(lambda: answers(rm), STARTS_S)
    board.until(f"{ROWS}.filter(r => r.includes('running')).length === 2", PATIENT_S)


def test_an_rm_that_is_killed_and_comes_back(cluster: LocalCluster, rm: RmClient, board: Chromium) -> None:
    os.kill(pid_of(cluster, "resourcemanager"), signal.SIGKILL)
    board.until(f"{LATE} && {TEXT}.includes('The ResourceManager does not answer')", KNOWN_WITHIN_S)
    assert "use unknown" in board.evaluate("document.getElementById('summary').innerText")
    cluster.start_daemon("resourcemanager")
    wait_for(lambda: answers(rm), STARTS_S)
    board.until(f"!{LATE} && !{TEXT}.includes('does not answer.')", KNOWN_WITHIN_S)
    board.until(f"{ROWS}.filter(r => r.includes('running')).length === 2", STARTS_S)


def test_a_controller_is_seen_paused_and_its_death(
    cluster: LocalCluster, rm: RmClient, board: Chromium, tmp_path: Path
) -> None:
    buttons = "document.querySelectorAll('#buttons button').length"
    assert board.evaluate(buttons) == 0
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
        board.until(f"{buttons} === 2 && document.getElementById('state').innerText === 'live'", STARTS_S)
        board.evaluate("document.getElementById('do-pause').click()")
        board.evaluate("document.getElementById('yes').click()")
        board.until("document.getElementById('state').innerText === 'paused'", PATIENT_S)
        wait_for(lambda: as_found(rm), PATIENT_S)
        board.evaluate("document.getElementById('do-resume').click()")
        board.evaluate("document.getElementById('yes').click()")
        board.until("document.getElementById('state').innerText === 'live'", PATIENT_S)
        controller.kill()
        board.until(f"{TEXT}.includes('The controller has died') && {buttons} === 0", KNOWN_WITHIN_S)
    wait_for(lambda: not desk_of(cluster.layout.rm).has_baseline, PATIENT_S)
    assert set(totals(rm).values()) == {2048}


def test_ended_from_the_page_everything_is_put_back(
    cluster: LocalCluster, rm: RmClient, board: Chromium, tmp_path: Path
) -> None:
    with steering(cluster.layout.rm, tmp_path / "decisions.jsonl") as controller:
        board.until("document.getElementById('do-end') !== null", STARTS_S)
        board.evaluate("document.getElementById('do-end').click()")
        board.evaluate("document.getElementById('yes').click()")
        assert controller.wait(PATIENT_S) == 0
        board.until("document.getElementById('state').innerText === 'ended'", PATIENT_S)
        board.until("document.getElementById('log').innerText.includes('restored and verified')", PATIENT_S)
    assert as_found(rm)
    assert not desk_of(cluster.layout.rm).has_baseline
