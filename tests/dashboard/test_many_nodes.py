"""5,000 nodes: three calls a look, and viewers are told what has moved, not everything again."""

import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from heddle.dashboard.board import Board
from heddle.dashboard.polling import look
from heddle.dashboard.serving import served
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.steering.desk import Desk
from yarn_live.fake_rm import FakeRm

from .showing_up import busy_cluster, move

NODES = 5000


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as fake:
        busy_cluster(fake, NODES)
        yield fake


def size(board: Board, version: int, epoch: int) -> int:
    return len(json.dumps(board.news(version, epoch), separators=(",", ":")))


def test_what_an_event_weighs(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    looks()
    first = board.news(0, -1)
    assert len(first["nodes"]) == NODES
    everything = size(board, 0, -1)
    move(rm, 2)
    looks()
    all_moved = size(board, first["version"], first["epoch"])
    second = board.news(first["version"], first["epoch"])
    for number in range(50):
        rm.nodes[f"worker-{number}:8041"].containers_memory_mb += 1
    looks()
    some_moved = size(board, second["version"], second["epoch"])
    nothing = size(board, board.version, second["epoch"])
    print(f"bytes: everything {everything}, all moved {all_moved}, 50 moved {some_moved}, nothing new {nothing}")
    assert everything < 700_000
    assert all_moved < 450_000
    assert some_moved < 10_000
    assert nothing < 200


def test_a_look_is_three_calls(rm: FakeRm, desk: Desk) -> None:
    pace = Pace()
    board = Board(rm.address, desk, 15)
    with RmClient(rm.address, pace=pace) as client:
        look(client, board)
    assert pace.calls == 3


def test_the_stream_begins_with_everything_and_goes_on_with_what_is_new(
    rm: FakeRm, board: Board, looks: Callable[[], None]
) -> None:
    looks()
    with served(board, "127.0.0.1", 0) as link:
        parts = urlsplit(link)
        connection = HTTPConnection(parts.netloc, timeout=120)
        token = parts.fragment.removeprefix("token=")
        connection.request("GET", "/stream", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        assert answer.getheader("Content-Type", "").startswith("text/event-stream")
        events = (json.loads(line[6:]) for line in answer if line.startswith(b"data: "))
        assert len(next(events)["nodes"]) == NODES
        rm.nodes["worker-77:8041"].containers_memory_mb += 1
        looks()
        moved = next(news["nodes"] for news in events if news["nodes"])
        assert [row[0] for row in moved] == [77]
        connection.close()
