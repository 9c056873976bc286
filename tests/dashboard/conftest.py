from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from heddle.dashboard.access import Access
from heddle.dashboard.app import dashboard_app
from heddle.dashboard.board import Board
from heddle.dashboard.polling import look
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.other_sites import own_names
from yarn_live.fake_rm import FakeRm

from .showing_up import busy_cluster


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as fake:
        busy_cluster(fake)
        yield fake


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "desk")


@pytest.fixture
def board(rm: FakeRm, desk: Desk) -> Board:
    return Board(rm.address, desk, stale_s=15)


@pytest.fixture
def looks(rm: FakeRm, board: Board) -> Iterator[Callable[[], None]]:
    """looks(): one look at the cluster."""
    with RmClient(rm.address, timeout_s=60) as client:
        yield lambda: look(client, board)


@pytest.fixture
def access() -> Access:
    return Access(own_names("127.0.0.1") | {"desk.example"})


@pytest.fixture
def client(board: Board, access: Access) -> Iterator[TestClient]:
    """As the page asks: with the token, from its own origin."""
    headers = {"authorization": f"Bearer {access.token}", "origin": "http://127.0.0.1:8790"}
    with TestClient(dashboard_app(board, access), base_url="http://127.0.0.1:8790", headers=headers) as made:
        yield made
