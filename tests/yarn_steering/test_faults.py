"""What a live session survives: answers that are wrong, late or cut off, clocks that jump, a disk that is full."""

import errno
import os
import time
from collections.abc import Callable

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.steering import session as session_module
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.session import Session, Terms
from yarn_live.fake_rm import FakeRm
from yarn_live.patience import patient_unless

from .conftest import Clock

OWN = {"a:1": 8192, "b:1": 8192}
HANGS_S, LEASE_S = 2.0, 30.0


@pytest.fixture(autouse=True)
def no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "start_watchdog", lambda desk, lease_s: None)
    monkeypatch.setattr(session_module, "watchdog_lives", lambda desk: True)


def session(client: RmClient, desk: Desk, say: Callable[[str], None] = lambda _: None) -> Session:
    policy, settings = parse_policy("usage-feedback(damping=1)"), Settings(shadow=False, dead_band=(1, 1000))
    return Session(client, policy, settings, desk, Terms(LEASE_S, accept_sizes=True), say)


def sizes(rm: FakeRm) -> dict[str, int]:
    return {name: node.memory_mb for name, node in rm.nodes.items()}


FAULTS: dict[str, Callable[[FakeRm], None]] = {
    "not JSON": lambda rm: rm.instead.update({"/nodes": (200, "<html>")}),
    "a field is missing": lambda rm: rm.instead.update({"/nodes": (200, '{"nodes": {"node": [{"id": "a:1"}]}}')}),
    "no nodes where a list should be": lambda rm: rm.instead.update({"/nodes": (200, '{"nodes": 7}')}),
    "401": lambda rm: rm.instead.update({"/apps": (401, "who are you")}),
    "403": lambda rm: rm.instead.update({"/apps": (403, "no")}),
    "500": lambda rm: rm.instead.update({"/scheduler": (500, "oops")}),
    "cut off": lambda rm: setattr(rm, "cuts_answers", True),
    "late": lambda rm: setattr(rm, "delay_s", HANGS_S),
}


def hasty(rm: FakeRm) -> RmClient:
    """It does not wait for what hangs."""
    return RmClient(rm.address, connect=patient_unless(lambda: rm.delay_s > 0, HANGS_S / 2))


def mend(rm: FakeRm) -> None:
    rm.instead.clear()
    rm.cuts_answers, rm.delay_s = False, 0.0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_answer_costs_a_step_and_nothing_else(rm: FakeRm, desk: Desk, fault: str) -> None:
    with hasty(rm) as client, session(client, desk).at_work() as working:
        assert working.step() is not None
        changed, posts = sizes(rm), len(rm.posts)
        assert changed != OWN
        FAULTS[fault](rm)
        assert working.step() is None
        assert (sizes(rm), len(rm.posts)) == (changed, posts)
        time.sleep(HANGS_S * (fault == "late"))  # until the fake has got rid of what it owes
        mend(rm)
        rm.nodes["a:1"].used_memory_mb = 4000
        deadline = time.monotonic() + 120
        while sizes(rm) == changed:  # levers hear of it with the next whole second
            assert working.step() is not None
            assert time.monotonic() < deadline
    assert sizes(rm) == OWN
    assert {body["overCommitTimeout"] for _, body in rm.posts} == {-1}


def test_an_rm_that_hangs_for_longer_than_the_lease_has_all_put_back_when_it_answers(
    rm: FakeRm, desk: Desk, clock: Clock
) -> None:
    """As after SIGSTOP and SIGCONT: nobody knows what was missed, so it begins anew from how everything was found."""
    with hasty(rm) as client, session(client, desk).at_work() as working:
        assert working.step() is not None
        assert sizes(rm) != OWN
        rm.delay_s = HANGS_S
        for _ in range(3):
            clock.ahead_s += LEASE_S / 2
            assert working.step() is None
        mend(rm)
        time.sleep(HANGS_S)
        seen: list[dict[str, int]] = []
        rm.on_post = lambda: seen.append(sizes(rm))
        while working.step() is None:
            pass
        assert OWN in seen  # before it changed anything again
    assert sizes(rm) == OWN


@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_moves_nothing(
    rm: FakeRm, client: RmClient, desk: Desk, jump_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lease, beats and ages go by the clock that nobody can set."""
    said: list[str] = []
    with session(client, desk, say=said.append).at_work() as working:
        assert working.step() is not None
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + jump_s)
        step = working.step()
        assert step is not None
        assert said == []  # neither put back nor begun anew
        assert 0 <= desk.beat_age_s() < 30.0
        assert max(step.metrics_age_ms.values()) < 30_000


def test_a_full_disk_under_the_baseline_means_that_nothing_is_changed(
    rm: FakeRm, client: RmClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(RunRefused, match=r"baseline.json: cannot be written \(No space left"),
        session(client, desk).at_work(),
    ):
        pass
    assert rm.posts == []


def test_a_disk_that_fills_up_later_ends_the_session_with_all_put_back(
    rm: FakeRm, client: RmClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def until_full() -> None:
        with session(client, desk).at_work() as working:
            assert working.step() is not None
            rm.add_node("c:1", 4096, 4)
            rm.nodes["c:1"].used_memory_mb = 100
            monkeypatch.setattr(os, "fsync", full)
            working.step()

    with pytest.raises(RunRefused, match="cannot be written"):
        until_full()
    assert sizes(rm) == {**OWN, "c:1": 4096}


def test_a_node_that_is_removed_and_one_that_is_added(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work() as working:
        assert working.step() is not None
        rm.lose("b:1")
        rm.add_node("c:1", 4096, 4)
        rm.nodes["c:1"].used_memory_mb = 100
        step = working.step()
        assert step is not None
        verdicts = {resize.name: str(resize.verdict) for resize in step.of("sizes")}
        assert (verdicts["b:1"], verdicts["c:1"]) == ("away", "posted")
    saved = desk.load()
    assert saved is not None  # the node that is away is still owed its size
    assert set(saved.found.sizes) >= {"b:1"}
    assert sizes(rm)["c:1"] == 4096
