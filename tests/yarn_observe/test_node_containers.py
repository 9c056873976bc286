"""Where more applications run than the ResourceManager may be asked about, NodeManagers are asked for containers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import Observer
from yarn_live.fake_cluster import FakeApp
from yarn_live.fake_rm import FakeRm
from yarn_live.serving import Served

APPS = 12


class FakeNodeManager(Served):
    """Lists the containers that the fake cluster has on its node, and one that is over."""

    def __init__(self, rm: FakeRm, node: str) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert self.path.startswith("/ws/v1/node/containers")
                rows = [
                    {
                        "id": name,
                        "state": "RUNNING",
                        "totalMemoryNeededMB": one.memory_mb,
                        "totalVCoresNeeded": one.vcores,
                    }
                    for app in rm.apps.values()
                    for name, one in app.containers.items()
                    if one.node == node
                ]
                rows.append({**rows[0], "id": rows[0]["id"][:-6] + "000099", "state": "DONE"})
                data = json.dumps({"containers": {"container": rows}}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        rm.nodes[node].http = f"127.0.0.1:{self._server.server_address[1]}"


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    """Twelve applications on two nodes, each with an AM on the first and a task on the second."""
    with FakeRm() as fake, ExitStack() as servers:
        for node in ("n1:1", "n2:1"):
            fake.add_node(node, 65536, 64)
        for number in range(APPS):
            app = fake.add_app()
            fake.start_am(app, "n1:1", 256, 1)
            fake.allocate(app, "n2:1", 1024 + 64 * (number % 2), 1)
        for node in ("n1:1", "n2:1"):
            servers.enter_context(FakeNodeManager(fake, node))
        yield fake


def first(rm: FakeRm) -> FakeApp:
    return next(iter(rm.apps.values()))


def test_both_ways_see_the_same_containers(rm: FakeRm, tmp_path: Path) -> None:
    rm.restart()
    rm.allocate(first(rm), "n2:1", 1024, 1)  # has the AM's number, in another epoch
    first(rm).asks = [(20, 1024, 1, 2)]
    seen = {}
    for way, calls_per_s in (("applications", 1000), ("nodes", 10)):
        pace = Pace(calls_per_s)
        with RmClient(rm.address, pace=pace) as client:
            observer = Observer(client, Journal(tmp_path / f"{way}.jsonl"))
            observer.poll()
            assert pace.calls == (3 + APPS if way == "applications" else 3)
        seen[way] = {name: (c.app, c.node, c.size, c.is_am) for name, c in observer.seen.containers.items()}
    assert seen["nodes"] == seen["applications"]
    assert len(seen["nodes"]) == 2 * APPS + 1
    assert sum(is_am for *_, is_am in seen["nodes"].values()) == APPS
    priorities = {c.priority for c in observer.seen.containers.values() if c.app == first(rm).id}
    assert priorities == {0, 20}, "that of the only request of this size"


def test_an_end_is_seen_and_a_silent_node_ends_nothing(rm: FakeRm, tmp_path: Path) -> None:
    with RmClient(rm.address, pace=Pace(10)) as client:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl"))
        observer.poll()
        gone = next(name for name, one in first(rm).containers.items() if one.node == "n2:1")
        rm.end_container(gone)
        rm.nodes["n1:1"].http = "127.0.0.1:1"  # nobody listens there
        observer.poll()
    ended = {name for name, life in observer.seen.containers.items() if life.ended_at_ms is not None}
    assert ended == {gone}
