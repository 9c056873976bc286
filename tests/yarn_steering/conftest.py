from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk, desk_of
from yarn_live.fake_rm import FakeRm


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Baselines of these tests never mix with the user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    """Two nodes on which reservations are larger than use."""
    with FakeRm() as rm:
        app = rm.add_app()
        for name in ("a:1", "b:1"):
            rm.add_node(name, 8192, 8)
            rm.allocate(app, name, 4096, 1)
            rm.nodes[name].used_memory_mb = 500
        app.state = "RUNNING"
        yield rm


@pytest.fixture
def client(rm: FakeRm) -> Iterator[RmClient]:
    with RmClient(rm.address, timeout_s=2) as client:
        yield client


@pytest.fixture
def desk(client: RmClient) -> Desk:
    return desk_of(client.address)
