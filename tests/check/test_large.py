"""A large cluster: bulk answers, windows and a sample keep a check small, however much there is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.outlines import IN_AN_ANSWER, finished, finished_mapreduce
from heddle.yarn.observe.remote_tracker import RemoteTracker
from yarn_live.fake_rm import FakeRm

from .fake_past import MINUTE_MS, MadeUpHistory, add_past

NODES, LIVE, FINISHED, JOBS = 5000, 2000, 10_000, 100_000
DAY = 24 * 60
HEDDLE = [sys.executable, "-c", "from heddle.cli.main import main; main()"]


@pytest.fixture(scope="module")
def rm() -> Iterator[FakeRm]:
    """Half of its nodes do not say what their containers use."""
    with FakeRm() as fake:
        for number in range(NODES):
            fake.add_node(f"n{number}:1", 65_536, 32)
            fake.nodes[f"n{number}:1"].containers_memory_mb = 1500 * (number % 2)
            fake.nodes[f"n{number}:1"].containers_vcores = 0.5 * (number % 2)
        add_past(fake, FINISHED, minutes=DAY, kind="MAPREDUCE")
        for number in range(LIVE):
            app = fake.add_app()
            app.submitted_at_ms = fake.now_ms - 5 * MINUTE_MS
            fake.start_am(app, f"n{number}:1", 1536, 1)
            fake.allocate(app, f"n{number + 1}:1", 2048, 1)
            app.asks = [(20, 2048, 1, 3)] if number % 4 == 0 else []
        yield fake


@pytest.fixture(scope="module")
def history() -> Iterator[MadeUpHistory]:
    with MadeUpHistory(JOBS, minutes=DAY) as fake:
        yield fake


def test_windows_hold_every_job_once(rm: FakeRm, history: MadeUpHistory) -> None:
    since_ms, until_ms = rm.now_ms - 2 * DAY * MINUTE_MS, rm.now_ms + MINUTE_MS
    with RmClient(rm.address) as client, RmClient(history.address) as server:
        found = finished(client, since_ms, until_ms, 10 * FINISHED)
        assert len(found) == len({one.id for one in found}) == FINISHED
        some = finished_mapreduce(server, since_ms, until_ms, 5000)
    assert len(some) == len({one.id for one in some}) == 5000
    assert [one.ended_at_ms for one in some] == sorted((one.ended_at_ms for one in some), reverse=True)
    newest = rm.now_ms - some[-1].ended_at_ms
    assert newest < DAY * MINUTE_MS * 6000 / JOBS, "the latest ones"
    assert max(len(rm.apps), JOBS) > IN_AN_ANSWER, "or no window was ever cut"


def test_a_check_of_a_large_cluster_is_small(rm: FakeRm, history: MadeUpHistory, tmp_path: Path) -> None:
    history.asked.clear()
    page = tmp_path / "check.html"
    command = [*HEDDLE, "check", rm.address, "--history", history.address, "--json", "--report", str(page)]
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen([*command, "--max-calls-per-s", "300"], stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), (tmp_path / "err").read_text()
    assert used.ru_maxrss < 1 << 20, "kB: a gigabyte"
    told = json.loads((tmp_path / "out").read_text())
    assert told["cluster"]["nodes"] == NODES
    assert told["jobs"]["mapreduce"] > FINISHED
    assert told["jobs"]["mapreduce_read"] == 150
    kinds = Counter(path.rpartition("/")[2] for path in history.asked)
    assert kinds["tasks"] == kinds["counters"] == kinds["conf"] == 150
    assert kinds["jobs"] < 200, "windows, not jobs"
    assert sum(one["applications"] for one in told["waiting"]) == LIVE // 4
    assert "what containers use on" in json.dumps(told["could_not_be_known"]), "half of the nodes are silent"
    assert told["use"]["nodes_report_now"]["memory"] > 0
    assert "were read in detail, chosen at random" in page.read_text()
    assert page.stat().st_size < 3_000_000


def test_only_some_nodemanagers_are_asked(rm: FakeRm, tmp_path: Path) -> None:
    with RmClient(rm.address) as client:
        tracker = RemoteTracker(client, Journal(tmp_path / "samples.jsonl"), lambda _: None, most_nodes=20)
        for node in rm.nodes.values():
            node.http = "127.0.0.1:1"  # nobody listens there
        try:
            tracker.sample()
            assert tracker.telling == (0, 20)
        finally:
            tracker.close()
            for node in rm.nodes.values():
                node.http = ""
