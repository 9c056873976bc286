"""A controller's session against a fake RM: what is on disk when, and what is put back."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from heddle.model.errors import BadInput, CheckFailed, RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.applying.wanted import without_knob
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.steering import session as session_module
from heddle.yarn.live.steering.desk import Baseline, Desk
from heddle.yarn.live.steering.session import Session, Terms, restore
from yarn_live.fake_rm import FakeRm

from .conftest import Clock

OWN = {"a:1": (8192, 8000), "b:1": (8192, 8000)}
LIVE = Settings(shadow=False, dead_band=(1, 1000))
TERMS = Terms(lease_s=30, accept_sizes=True)
BEYOND_S = 40  # the lease has run out


def session(client: RmClient, desk: Desk, settings: Settings = LIVE, terms: Terms = TERMS) -> Session:
    return Session(client, parse_policy("usage-feedback(damping=1)"), settings, desk, terms, lambda _: None)


def sizes(rm: FakeRm) -> dict[str, tuple[int, int]]:
    return {name: (node.memory_mb, node.vcores * 1000) for name, node in rm.nodes.items()}


@pytest.fixture(autouse=True)
def no_watchdog(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """These tests are about the session alone; test_watchdog.py has the rest."""
    started: list[float] = []
    monkeypatch.setattr(session_module, "start_watchdog", lambda desk, lease_s: started.append(lease_s))
    monkeypatch.setattr(session_module, "watchdog_lives", lambda desk: bool(started))
    return started


def test_the_baseline_is_on_disk_before_the_first_change(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    saved = []
    rm.on_post = lambda: saved.append(desk.load())
    with session(client, desk).at_work() as working:
        working.step()
        assert sizes(rm) != OWN
        assert rm.posts
    assert [baseline.found.sizes for baseline in saved[:1]] == [OWN]
    assert sizes(rm) == OWN
    assert desk.load() is None
    assert {body["overCommitTimeout"] for _, body in rm.posts} == {-1}


def test_a_node_that_joins_later_is_saved_before_it_is_changed(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work() as working:
        working.step()
        rm.add_node("c:1", 4096, 4)
        rm.nodes["c:1"].used_memory_mb = 100
        working.step()
        saved = desk.load()
        assert saved is not None
        assert saved.found.sizes == {**OWN, "c:1": (4096, 4000)}
        assert sizes(rm)["c:1"] == (3996, 4000)
    assert sizes(rm) == {**OWN, "c:1": (4096, 4000)}


def test_what_a_dead_controller_left_is_mended_first(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    desk.save(Baseline(client.address, None, Standing(OWN)))
    rm.nodes["a:1"].memory_mb = 20_000
    with session(client, desk).at_work() as working:
        assert sizes(rm) == OWN
        step = working.step()
        assert step is not None
        assert step.of("sizes")[0].before == OWN["a:1"]


def test_one_controller_at_a_time(client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work():
        with pytest.raises(RunRefused, match="another controller"), session(client, desk).at_work():
            pass
        with pytest.raises(RunRefused, match="another controller"):
            restore(client, desk, from_nodes=False)


def test_shadow_needs_no_right_to_change_anything(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    rm.instead["/nodes/a:1/resource"] = (403, "no")
    with session(client, desk, replace(LIVE, shadow=True)).at_work() as working:
        step = working.step()
    assert step is not None
    assert {resize.verdict for resize in step.of("sizes")} == {Verdict.SHADOW}
    assert rm.posts == []
    assert desk.load() is None  # nothing is owed; that a session was there is told to dashboards alone


@pytest.mark.parametrize("answer", [(401, ""), (403, "no"), (500, "oops"), (200, "<html>"), (200, "[]")])
def test_a_refused_change_is_data_and_the_rest_goes_on(
    rm: FakeRm, client: RmClient, desk: Desk, answer: tuple[int, str]
) -> None:
    with session(client, desk).at_work() as working:
        rm.instead["/nodes/a:1/resource"] = answer
        step = working.step()
        assert step is not None
        assert [resize.verdict for resize in step.of("sizes")] == [Verdict.FAILED, Verdict.POSTED]
        del rm.instead["/nodes/a:1/resource"]
    assert sizes(rm) == OWN


@pytest.mark.parametrize("answer", [(500, "standby"), (200, '{"nodes": 3}'), (200, '{"nodes": {"node": [{}]}}')])
def test_an_answer_that_cannot_be_read_changes_nothing(
    rm: FakeRm, client: RmClient, desk: Desk, answer: tuple[int, str]
) -> None:
    with session(client, desk).at_work() as working:
        working.step()
        before, posts = sizes(rm), len(rm.posts)
        rm.instead["/nodes"] = answer
        assert working.step() is None
        assert (sizes(rm), len(rm.posts)) == (before, posts)
        del rm.instead["/nodes"]
        assert working.step() is not None
    assert sizes(rm) == OWN


def test_after_more_than_the_lease_it_begins_anew(rm: FakeRm, client: RmClient, desk: Desk, clock: Clock) -> None:
    said: list[str] = []
    working = Session(client, parse_policy("usage-feedback(damping=1)"), LIVE, desk, TERMS, said.append)
    with working.at_work():
        working.step()
        changed = sizes(rm)
        assert changed != OWN
        clock.ahead_s += BEYOND_S  # as if it had been stopped
        seen = []
        rm.on_post = lambda: seen.append(sizes(rm))
        working.step()
        assert OWN in seen or sizes(rm) == OWN  # all back, before anything else is decided
    assert "began anew" in said


def test_somebody_elses_size_is_not_put_back(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work() as working:
        working.step()
        rm.nodes["a:1"].memory_mb = 6000
        for _ in range(FOREIGN_LOOKS):
            working.step()
        saved = desk.load()
        assert saved is not None
        assert saved.found.sizes == {"a:1": (6000, 8000), "b:1": OWN["b:1"]}
    assert sizes(rm) == {"a:1": (6000, 8000), "b:1": OWN["b:1"]}


def test_a_size_that_somebody_else_set_just_before_the_end_is_theirs(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    """It is looked at until that is certain, and no longer."""
    said: list[str] = []
    policy = parse_policy("usage-feedback(damping=1)")
    with Session(client, policy, LIVE, desk, TERMS, said.append).at_work() as working:
        working.step()
        rm.nodes["a:1"].memory_mb = 6000
    assert sizes(rm) == {"a:1": (6000, 8000), "b:1": OWN["b:1"]}
    assert "changed by someone else and left alone from now on: a:1" in said
    assert desk.load() is None


def test_a_node_that_we_never_changed_is_somebody_elses_too(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, replace(LIVE, dead_band=(4000, 8000))).at_work() as working:
        rm.add_node("c:1", 4096, 4)
        rm.nodes["c:1"].used_memory_mb = 100  # too little of a change for a call
        working.step()
        rm.nodes["c:1"].memory_mb = 20_000
        for _ in range(FOREIGN_LOOKS):
            working.step()
    assert sizes(rm) == {**OWN, "c:1": (20_000, 4000)}
    assert not any("c:1" in path for path, _ in rm.posts)


def test_pause_and_resume(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work() as working:
        working.step()
        assert sizes(rm) != OWN
        desk.pause(True)
        working.step()
        assert sizes(rm) == OWN
        desk.pause(False)
        working.step()
        assert sizes(rm) != OWN


def test_a_watchdog_that_was_killed_is_replaced(client: RmClient, desk: Desk, no_watchdog: list[float]) -> None:
    with session(client, desk).at_work() as working:
        assert no_watchdog == [30]
        no_watchdog.clear()
        working.step()
        assert no_watchdog == [30]


def test_sizes_that_no_nodemanager_has_are_refused(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    rm.configured = {"yarn.nodemanager.resource.memory-mb": "8192", "yarn.nodemanager.resource.cpu-vcores": "8"}
    for node in rm.nodes.values():
        node.http = rm.address.removeprefix("http://")
    rm.nodes["b:1"].memory_mb = 9000
    strict = Terms(lease_s=30)
    with pytest.raises(RunRefused, match=r"b:1 has \(9000, 8000\)"), session(client, desk, terms=strict).at_work():
        pass
    done = restore(client, desk, from_nodes=True)
    assert all(one.proven for one in done)
    assert sizes(rm) == OWN
    rm.nodes["b:1"].state, rm.nodes["b:1"].memory_mb = "DECOMMISSIONING", 4096  # what it holds
    with session(client, desk, terms=strict).at_work() as working:
        assert working.step() is not None


def test_restore_says_when_it_cannot_prove(rm: FakeRm, client: RmClient, desk: Desk, tmp_path: Path) -> None:
    desk.save(Baseline(client.address, None, Standing(OWN)))
    rm.nodes["a:1"].memory_mb = 20_000
    rm.instead["/nodes/a:1/resource"] = (200, '{"memory": 8192, "vCores": 8}')  # says yes and does nothing
    with pytest.raises(CheckFailed, match="a:1 has"):
        restore(client, desk, from_nodes=False)
    assert desk.load() is not None
    desk.baseline_file.write_text("{")
    with pytest.raises(BadInput, match="--from-nodes"):
        restore(client, desk, from_nodes=False)


def test_what_has_no_knob_is_named() -> None:
    assert without_knob(parse_policy("capacity+usage-feedback+max-running(jobs=3)")) == []
    assert without_knob(parse_policy("drf+usage-feedback")) == []
    fixed = without_knob(parse_policy("drf+usage-feedback+max-running(jobs=3)+small-pool+smallest-first"))
    assert [why.partition(" ")[0] for why in fixed] == ["smallest-first", "max-running", "small-pool"]
    missing = without_knob(parse_policy("tetris+usage-feedback+best-fit"))
    assert [why.partition(" ")[0] for why in missing] == ["tetris", "best-fit"]


def test_nodes_that_come_back_as_we_made_them_get_their_own_size(
    rm: FakeRm, client: RmClient, desk: Desk, clock: Clock
) -> None:
    """An RM that was restarted knows no node at first; NodeManagers then register with the size that we gave them."""
    working = session(client, desk)
    with working.at_work():
        working.step()
        changed = sizes(rm)
        assert changed != OWN
        rm.nodes["a:1"].lost = rm.nodes["b:1"].lost = True
        clock.ahead_s += BEYOND_S
        working.step()
        away = desk.load()
        assert away is not None
        assert away.found.sizes == OWN  # whoever must put them back now knows how they were
        rm.nodes["a:1"].lost = rm.nodes["b:1"].lost = False
        step = working.step()
        assert step is not None
        saved = desk.load()
        assert saved is not None
        assert saved.found.sizes == OWN
    assert sizes(rm) == OWN


def test_an_rm_that_was_away_for_longer_than_the_lease(rm: FakeRm, client: RmClient, desk: Desk, clock: Clock) -> None:
    """As soon as it answers everything is put back, and then steered anew, although the controller never stopped."""
    working = session(client, desk)
    with working.at_work():
        working.step()
        rm.instead["/nodes"] = (500, "starting")
        for _ in range(10):
            clock.ahead_s += BEYOND_S / 10
            assert working.step() is None
        del rm.instead["/nodes"]
        seen = []
        rm.on_post = lambda: seen.append(sizes(rm))
        assert working.step() is not None
        assert OWN in seen
    assert sizes(rm) == OWN


def test_a_baseline_that_vanished_is_written_again_before_a_change(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk).at_work() as working:
        working.step()
        desk.forget()
        saved = []
        rm.on_post = lambda: saved.append(desk.load())
        rm.nodes["a:1"].used_memory_mb = 3000
        rm.now_ms += 1
        time.sleep(1)  # a further report
        working.step()
        assert saved
        assert all(baseline is not None for baseline in saved)


def test_what_is_owed_to_a_node_that_is_away_is_not_forgotten(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    desk.save(Baseline(client.address, None, Standing(OWN)))
    rm.nodes["a:1"].memory_mb = 20_000
    rm.nodes["a:1"].lost = True
    with session(client, desk).at_work() as working:
        saved = desk.load()
        assert saved is not None
        assert saved.found.sizes == OWN
        rm.nodes["a:1"].lost = False
        seen = []
        rm.on_post = lambda: seen.append(sizes(rm)["a:1"])
        working.step()
        assert rm.posts[0][1]["resource"] == {"memory": 8192, "vCores": 8}  # its own size, before anything else
        assert OWN["a:1"] in seen or sizes(rm)["a:1"] == OWN["a:1"]
    assert sizes(rm) == OWN


@pytest.mark.parametrize("lost", ["before", "meanwhile"])
def test_a_node_that_went_away_as_it_was_is_owed_nothing(rm: FakeRm, client: RmClient, desk: Desk, lost: str) -> None:
    """Every large cluster has nodes that are lost for good: a watchdog must not wait for them."""
    if lost == "before":
        rm.lose("b:1")
    with session(client, desk).at_work() as working:
        if lost == "meanwhile":
            rm.lose("b:1")
        working.step()
        assert sizes(rm)["a:1"] != OWN["a:1"]
        assert sizes(rm)["b:1"] == OWN["b:1"]
    assert sizes(rm) == OWN
    assert desk.load() is None


def test_a_pause_outlasts_a_fresh_start(rm: FakeRm, client: RmClient, desk: Desk, clock: Clock) -> None:
    desk.pause(True)
    working = session(client, desk)
    with working.at_work():
        working.step()
        clock.ahead_s += BEYOND_S
        working.step()
        working.step()
        assert sizes(rm) == OWN
        assert rm.posts == []
