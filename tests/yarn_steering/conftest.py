import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk, desk_of
from heddle.yarn.live.world import World
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
    with RmClient(rm.address, timeout_s=60) as client:
        yield client


class Clock:
    """Of this machine, and ahead of it as tests say: a lease that is short enough to wait for ends by itself, too."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    def time(self) -> float:
        return time.time() + self.ahead_s

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(client: RmClient, clock: Clock) -> Desk:
    return replace(desk_of(client.address), world=World(clock))
