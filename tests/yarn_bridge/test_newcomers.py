"""Requests that come between two looks: a table names them as one that is made from another look would."""

from __future__ import annotations

import time
from typing import Any

import pytest

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.listening import Listening, NewRequest
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.names import Names
from heddle.yarn.live.newcomers import with_newcomers
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.steering.between_steps import BetweenSteps
from heddle.yarn.live.steering.bridging import TABLES_PER_S
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.session import Session
from heddle.yarn.live.things_seen import AppSeen, Ask
from yarn_live.conftest import Clock
from yarn_live.fake_rm import FakeRm
from yarn_steering.watching import wait_for

from .test_steering import LIVE, FakeKnob, alone, client, desk, one_step, replace, rm, session

__all__ = ["alone", "client", "desk", "rm"]  # fixtures

APP = "application_0_0001"
SMALL, LARGE = (1024, 1000), (2048, 2000)


def look(*asks: Ask, running: bool = True) -> Snapshot:
    app = AppSeen(APP, "root.default", "ann", running, 0, 0, True, "", asks)
    return Snapshot.of(Names(), 7, {}, {APP: app})


def asks_after(seen: Snapshot, *new: NewRequest) -> set[tuple[int, Any, int, tuple[int, ...]]] | None:
    after = with_newcomers(seen, new)
    if after is None:
        return None
    assert after.at_ms == seen.at_ms
    in_columns = {(ask.priority, ask.size, ask.containers) for ask in after.app(0).asks}
    asks = {(ask.priority, ask.size, ask.containers, ask.allocations) for ask in after.apps[APP].asks}
    assert in_columns == {ask[:3] for ask in asks}
    return asks


def test_what_an_application_asks_for_now_replaces_what_it_asked_for() -> None:
    maps, reduces = Ask(20, SMALL, 5, (-1,)), Ask(10, LARGE, 3, (-1,))
    seen = look(maps, reduces)
    told = {(20, SMALL, 5, (-1,)), (10, LARGE, 3, (-1,))}
    assert asks_after(seen) == told
    assert asks_after(seen, NewRequest(APP, 5, -1, SMALL, 2)) == told | {(5, SMALL, 2, (-1,))}  # another kind
    assert asks_after(seen, NewRequest(APP, 20, -1, SMALL, 9)) == {(20, SMALL, 9, (-1,)), (10, LARGE, 3, (-1,))}
    assert asks_after(seen, NewRequest(APP, 20, -1, LARGE, 1)) == {(20, LARGE, 1, (-1,)), (10, LARGE, 3, (-1,))}
    assert asks_after(seen, NewRequest(APP, 20, 4, SMALL, 2)) == {(20, SMALL, 7, (-1, 4)), (10, LARGE, 3, (-1,))}
    twice = NewRequest(APP, 5, 1, SMALL, 2), NewRequest(APP, 5, 1, SMALL, 3)
    assert asks_after(seen, *twice) == told | {(5, SMALL, 3, (1,))}


def test_what_only_another_look_can_tell() -> None:
    new = NewRequest(APP, 20, 1, SMALL, 2)
    assert asks_after(look(), new._replace(app="application_0_0009")) is None
    assert asks_after(look(running=False), new) is None  # what it asks for is its AM
    assert asks_after(look(Ask(20, SMALL, 5, (1, 2))), new) is None  # how many of the five were of 1?


@pytest.mark.parametrize(
    "policy", ["haste", "haste(initial=false)", "haste-a", "ffd-dp", "smallest-first", "capacity+haste"]
)
def test_a_table_without_a_look_is_that_of_a_look(rm: FakeRm, client: RmClient, desk: Desk, policy: str) -> None:
    """A new kind of one application, and more of what another waits for."""
    one, other, _ = rm.apps.values()
    knob = FakeKnob()
    with session(client, desk, knob, policy).at_work() as working:
        one_step(working)
        new = [NewRequest(one.id, 5, -1, (512, 3000), 4), NewRequest(other.id, 20, -1, (4096, 4000), 6)]
        assert working.name_newcomers(new)
        one.asks.append((5, 512, 3, 4))
        other.asks = [(20, 4096, 4, 6)]
        one_step(working)
    first, named, looked, _ = knob.tables
    assert named == looked
    assert named != first


def test_when_there_is_no_look_to_go_by(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    new, knob = [NewRequest(next(iter(rm.apps)), 5, -1, (512, 1000), 1)], FakeKnob()
    with session(client, desk, knob, "haste", replace(LIVE, shadow=True)).at_work() as working:
        one_step(working)
        assert not working.name_newcomers(new)
    with session(client, desk, knob, "haste").at_work() as working:
        assert not working.name_newcomers(new)  # nobody has looked yet
        one_step(working)
        assert working.name_newcomers(new)
        assert len(knob.tables) == 2
        assert not working.name_newcomers([new[0]._replace(app="application_0_0099")])
        rm.instead["/nodes"] = (500, "not now")
        assert working.step() is None
        assert not working.name_newcomers(new)  # the last look failed
        del rm.instead["/nodes"]
        one_step(working)
        desk.pause(True)
        assert not working.name_newcomers(new)
        desk.pause(False)
        knob.refuses = True
        assert not working.name_newcomers(new)
        assert len(knob.tables) == 3
        knob.refuses = False


class Telling(BridgeEndpoint):
    """Answers a long poll with what it is given, once."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.after: list[int] = []

    def requests_after(self, number: int, wait_s: float) -> dict[str, Any]:
        self.after.append(number)
        if self.answers:
            return self.answers.pop(0)
        time.sleep(0.01)
        return {"requests": [], "last": number, "missed": False}


ROW = {"number": 3, "app": APP, "priority": 5, "allocation": -1, "queue": "root.default", "memory_mb": 512,
       "millicores": 1000, "containers": 2}  # fmt: skip


def test_requests_are_heard_as_they_come() -> None:
    endpoint = Telling({"requests": [ROW], "last": 3, "missed": False})
    listening = Listening(endpoint)
    assert not listening.wait(0)
    with listening.at_work():
        assert listening.wait(60)
        assert listening.take() == [NewRequest(APP, 5, -1, (512, 1000), 2)]
        assert listening.take() == []
        assert not listening.wait(0.05)
        wait_for(lambda: 3 in endpoint.after, 60)


def test_what_was_missed_or_cannot_be_read_takes_a_look() -> None:
    with (listening := Listening(Telling({"requests": [], "last": 9, "missed": True}))).at_work():
        assert listening.wait(60)
        assert listening.take() is None
        assert listening.take() == []
    garbled = Telling({"requests": [{**ROW, "containers": "two"}], "last": 3, "missed": False})
    with (listening := Listening(garbled)).at_work():
        wait_for(lambda: garbled.after[-1:] == [0], 60)
        assert not listening.wait(0.05)


class Coming(Listening):
    """A request every so often."""

    def __init__(self, clock: Clock, every_ms: int) -> None:
        self._clock, self._every_ms, self._next_ms = clock, every_ms, clock.now_ms + every_ms

    def wait(self, timeout_s: float) -> bool:
        until_ms = self._clock.now_ms + max(0, round(1000 * timeout_s))
        self._clock.now_ms = max(self._clock.now_ms, min(until_ms, self._next_ms))
        return self._clock.now_ms >= self._next_ms

    def take(self) -> list[NewRequest] | None:
        while self._next_ms <= self._clock.now_ms:
            self._next_ms += self._every_ms
        return [NewRequest(APP, 5, -1, SMALL, 1)]


class Naming(Session):
    """Notes when it was asked to name anything."""

    def __init__(self, clock: Clock, most: int = 1000) -> None:
        self.at_ms, self._of, self._most = list[int](), clock, most

    def name_newcomers(self, new: Any) -> bool:
        self.at_ms.append(self._of.now_ms)
        return len(self.at_ms) <= self._most


def test_tables_between_steps_come_at_once_and_never_too_many() -> None:
    clock = Clock()
    naming = Naming(clock)
    between = BetweenSteps(naming, Coming(clock, 300), clock)
    between.wait(1.0)
    assert naming.at_ms == [300, 600, 900]
    assert (between.take_tables(), between.take_tables()) == (3, 0)
    assert clock.now_ms == 1000
    clock = Clock()
    naming = Naming(clock)
    BetweenSteps(naming, Coming(clock, 1), clock).wait(5.0)
    assert len(naming.at_ms) > TABLES_PER_S
    for first, last in zip(naming.at_ms, naming.at_ms[TABLES_PER_S:], strict=False):
        assert last - first >= 1000


def test_what_cannot_be_named_takes_a_step_now() -> None:
    clock = Clock()
    between = BetweenSteps(Naming(clock, most=1), Coming(clock, 100), clock)
    between.wait(1.0)
    assert clock.now_ms == 200
    assert between.take_tables() == 1
