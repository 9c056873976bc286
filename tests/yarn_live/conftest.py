from collections.abc import Callable, Iterator, Sequence

import pytest

from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings
from heddle.yarn.live.things_seen import NodeSeen, Size

from .fake_rm import FakeRm


class Clock:
    """Time as the test wants it."""

    def __init__(self) -> None:
        self.now_ms = 0

    def monotonic(self) -> float:
        return self.now_ms / 1000

    def time(self) -> float:
        return self.now_ms / 1000

    def sleep(self, seconds: float) -> None:
        self.now_ms += round(1000 * seconds)


def as_large_as_first_seen(node: NodeSeen) -> Size:
    return node.total


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as rm:
        yield rm


@pytest.fixture
def client(rm: FakeRm) -> Iterator[RmClient]:
    with RmClient(rm.address, timeout_s=60) as client:
        yield client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(client: RmClient, clock: Clock) -> Callable[..., Controller]:
    """control(policy, **settings): a controller that acts, and at every change, unless told otherwise."""

    def make(policy: str | Policy, others: Sequence[Policy] = (), **settings: object) -> Controller:
        chosen = {"shadow": False, "dead_band": (1, 1000), **settings}
        return Controller(
            client,
            parse_policy(policy) if isinstance(policy, str) else policy,
            as_large_as_first_seen,
            Settings(**chosen),
            clock=clock,
            others=others,
        )

    return make
