"""Knobs of queues and applications against a fake RM: what is turned, what is put back, what is left to others."""

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.turn import Turn, Verdict
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings, Step
from heddle.yarn.live.steering import session as session_module
from heddle.yarn.live.steering.desk import Baseline, Desk
from heddle.yarn.live.steering.session import Session, Terms, restore
from yarn_live.fake_rm import FakeRm

DEFAULT_AM_SHARE = "yarn.scheduler.capacity.root.default.maximum-am-resource-percent"
PRIORITIES = "yarn.cluster.max-application-priority"


def session(
    client: RmClient, desk: Desk, policy: str, shadow: bool = False, queues: frozenset[str] | None = None
) -> Session:
    terms, settings = Terms(lease_s=30, accept_sizes=True), Settings(shadow=shadow, limits=Limits(queues=queues))
    return Session(client, parse_policy(policy), settings, desk, terms, lambda _: None)


def moved(step: Step | None) -> list[Turn]:
    """What is not where it should be, or was not."""
    assert step is not None
    return [turn for turn in step.turns if turn.verdict not in (Verdict.UNCHANGED, Verdict.LEFT_ALONE)]


@pytest.fixture(autouse=True)
def no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "start_watchdog", lambda desk, lease_s: None)
    monkeypatch.setattr(session_module, "watchdog_lives", lambda desk: True)


@pytest.fixture
def burst(rm: FakeRm) -> FakeRm:
    """Beside what runs, three applications that wait for their AMs."""
    for memory_mb in (4096, 2048, 1024):
        rm.add_app().asks = [(0, memory_mb, 1, 1)]
    rm.configured[PRIORITIES] = "10"
    return rm


def test_admission_becomes_the_am_share_of_each_leaf(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    # Two may run: one does already, with an AM of 4096 MB, so one more AM of 4096 MB may start. The leaf may hold all
    # of 16384 MB and 16 vcores: half of the memory, an eighth of the vcores.
    saved = []
    burst.on_post = lambda: saved.append(desk.load())
    with session(client, desk, "max-running(jobs=2)").at_work() as working:
        step = working.step()
        assert step is not None
        assert burst.settings[DEFAULT_AM_SHARE] == "0.5"
        assert {turn.name: turn.verdict for turn in moved(step)} == dict.fromkeys(
            ("root.default", "root.batch"), Verdict.POSTED
        )
    assert saved[0].found.queues["root.default"] == {"maximum-am-resource-percent": None}
    assert burst.settings == {}
    assert desk.load() is None


@pytest.mark.parametrize(("others_mb", "share"), [(8192, "0.5"), (8193, "0.75")])
def test_the_am_share_is_of_the_guarantee_only_where_that_is_more(
    others_mb: int, share: str, client: RmClient, desk: Desk, rm: FakeRm
) -> None:
    """Each leaf is guaranteed 8192 MB and 8 vcores, and may have what the other left: 12 vcores. An AM needs 6."""
    rm.leaves = {"default": (50.0, 100.0), "batch": (50.0, 100.0)}
    rm.end_app(next(iter(rm.apps.values())))
    other, waiting = rm.add_app(queue="batch"), rm.add_app()
    rm.start_am(other, "a:1", 4096, 2)
    rm.allocate(other, "b:1", others_mb - 4096, 2)
    waiting.asks = [(0, 1024, 6, 1)]
    with session(client, desk, "max-running(jobs=2)").at_work() as working:
        working.step()
        assert rm.settings[DEFAULT_AM_SHARE] == share


def test_only_the_named_queues_are_touched(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    policy, batch = "smallest-first+max-running(jobs=2)", frozenset({"root.batch"})
    theirs = burst.add_app(queue="batch")
    theirs.asks = [(0, 512, 1, 1)]
    with session(client, desk, policy).at_work() as working:
        assert len({turn.name for turn in moved(working.step())}) > 2
    with session(client, desk, policy, queues=batch).at_work() as working:
        step = working.step()
        assert step is not None
        assert {turn.name for turn in moved(step)} == {"root.batch", theirs.id}
        assert DEFAULT_AM_SHARE not in burst.settings


def test_what_was_set_before_is_put_back_as_it_was(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    burst.settings[DEFAULT_AM_SHARE] = "0.3"
    with session(client, desk, "max-running(jobs=2)").at_work() as working:
        working.step()
        assert burst.settings[DEFAULT_AM_SHARE] == "0.5"
    assert burst.settings == {DEFAULT_AM_SHARE: "0.3"}


def test_ordering_becomes_priorities_which_levers_do_not_see(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, "smallest-first").at_work() as working:
        for _ in range(2):
            step = working.step()
            assert step is not None
            # By demand: 1024, 2048, 4096; the one that runs waits for nothing.
            assert [app.priority for app in burst.apps.values()] == [0, 8, 9, 10]
            assert {app.priority for app in step.snapshot.apps.values()} == {0}
        assert moved(step) == []
        burst.end_app(list(burst.apps.values())[3])
    assert [app.priority for app in burst.apps.values()] == [0, 0, 0, 10]  # the last has ended: nothing to put back


def test_partition_moves_applications_between_two_queues(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    burst.leaves = {"pool-0": (90.0, 100.0), "pool-1": (10.0, 100.0)}
    for app in burst.apps.values():
        app.queue = "root.pool-0"
    with session(client, desk, "small-pool(share=0.2, theta=0.2)").at_work() as working:
        working.step()
        # What runs has two containers of 4096 MB of the four that fit: large. Of the others nothing is known yet.
        assert [app.queue for app in burst.apps.values()] == ["root.pool-0"] * 4
        small = list(burst.apps.values())[3]
        burst.start_am(small, next(iter(burst.nodes)), 1024, 1)
        small.asks = [(20, 1024, 1, 1)]
        working.step()
        assert [app.queue for app in burst.apps.values()] == ["root.pool-0"] * 3 + ["root.pool-1"]
        shares = {name.removeprefix("yarn.scheduler.capacity.root."): v for name, v in burst.settings.items()}
        am_shares = {name: shares.pop(name) for name in list(shares) if name.endswith("am-resource-percent")}
        assert len(am_shares) == 2
        assert shares == {
            "pool-0.capacity": "80.1", "pool-0.maximum-capacity": "80.1",
            "pool-1.capacity": "19.9", "pool-1.maximum-capacity": "19.9",
        }  # fmt: skip
    assert {app.queue for app in burst.apps.values()} == {"root.pool-0"}
    assert burst.settings == {}


@pytest.mark.parametrize(("am_share", "may_start"), [(0.1, 0), (0.5, 1)])
def test_ams_in_pools_count_in_the_am_share_that_was_found_where_others_wait(
    am_share: float, may_start: int, client: RmClient, desk: Desk, rm: FakeRm
) -> None:
    """Two nodes of 8 GB. AMs of 2 GB: within 10 % of it not even one, within 50 % four."""
    rm.leaves, rm.am_share = {"pool-0": (90.0, 100.0), "pool-1": (10.0, 100.0)}, am_share
    rm.end_app(next(iter(rm.apps.values())))
    running, waiting = [rm.add_app(queue="pool-1") for _ in range(3)], [rm.add_app(queue="pool-1") for _ in range(2)]
    for node, app in zip(("a:1", "b:1", "b:1"), running, strict=True):
        rm.start_am(app, node, 2048, 1)
        app.asks = [(20, 1024, 1, 100)]
    for app in waiting:
        app.asks = [(0, 2048, 1, 1)]
    with session(client, desk, "capacity+small-pool(share=0.2, theta=0.2)").at_work() as working:
        for _ in range(2):
            step = working.step()
            assert step is not None
            assert len(step.plan.admitted()) == may_start  # what we set ourselves does not change the answer
            # All three are large. If nobody may follow, the last one stays: YARN lets in the first AM of any leaf.
            leaves = [app.queue.rpartition(".")[2] for app in (*running, *waiting)]
            assert leaves == ["pool-0", "pool-0", "pool-0" if may_start else "pool-1", "pool-1", "pool-1"]
    assert {app.queue.rpartition(".")[2] for app in (*running, *waiting)} == {"pool-1"}
    assert rm.settings == {}


def test_somebody_elses_setting_is_left_to_them(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, "max-running(jobs=2)").at_work() as working:
        working.step()
        burst.settings[DEFAULT_AM_SHARE] = "0.77"
        working.step()
        working.step()
        assert burst.settings[DEFAULT_AM_SHARE] == "0.77"
    assert burst.settings == {DEFAULT_AM_SHARE: "0.77"}


def test_somebody_elses_priority_is_left_to_them(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    app = list(burst.apps)[1]
    with session(client, desk, "smallest-first").at_work() as working:
        working.step()
        burst.apps[app].priority = 3
        causes = []
        for _ in range(3):
            step = working.step()
            assert step is not None
            causes += [str(turn.cause) for turn in step.of("priorities") if turn.name == app]
        assert causes == ["strange", "strange", "foreign"]
        assert burst.apps[app].priority == 3
    assert [one.priority for one in burst.apps.values()] == [0, 3, 0, 0]


def test_a_change_that_the_rm_refused_is_tried_again(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    """What is there then is what we set before, and nobody else's."""
    app = list(burst.apps)[1]
    with session(client, desk, "smallest-first+max-running(jobs=2)").at_work() as working:
        working.step()
        assert (burst.apps[app].priority, burst.settings[DEFAULT_AM_SHARE]) == (8, "0.5")
        burst.end_app(list(burst.apps.values())[3])  # so it moves up
        burst.end_app(next(iter(burst.apps.values())))  # and more of them may start
        for path in (f"/apps/{app}/priority", "/scheduler-conf"):
            burst.refuses_puts[path] = (503, "not now")
        for _ in range(2):
            step = working.step()
            assert step is not None
            failed = {turn.name for turn in moved(step) if turn.verdict is Verdict.FAILED}
            assert {app, "root.default"} <= failed
        burst.refuses_puts.clear()
        step = working.step()
        assert step is not None
        assert {turn.verdict for turn in moved(step)} == {Verdict.POSTED}
        assert burst.apps[app].priority == 9
    assert burst.settings == {}


def test_after_a_restart_of_the_rm_the_setting_is_made_again(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, "max-running(jobs=2)").at_work() as working:
        working.step()
        burst.settings.clear()
        working.step()
        assert burst.settings[DEFAULT_AM_SHARE] == "0.5"


def test_shadow_says_it_and_does_nothing(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, "smallest-first+max-running(jobs=2)", shadow=True).at_work() as working:
        step = working.step()
    assert step is not None
    assert {turn.what for turn in moved(step)} == {"queues", "priorities"}
    assert {turn.verdict for turn in moved(step)} == {Verdict.SHADOW}
    assert burst.settings == {}
    assert not any(app.priority for app in burst.apps.values())


@pytest.mark.parametrize("status", [400, 403])
def test_shadow_needs_no_right_to_the_settings(burst: FakeRm, client: RmClient, desk: Desk, status: int) -> None:
    """Neither a mutable store nor a right to read the scheduler's settings: decisions are shown nevertheless, once."""
    burst.instead["/scheduler-conf"] = (status, "no")
    said: list[str] = []
    terms = Terms(lease_s=30)
    working = Session(client, parse_policy("max-running(jobs=2)"), Settings(shadow=True), desk, terms, said.append)
    with working.at_work():
        first, second = working.step(), working.step()
        burst.end_app(next(iter(burst.apps.values())))
        third = working.step()
    assert first is not None
    assert second is not None
    assert third is not None
    assert [(turn.name, turn.before, turn.wanted, turn.verdict) for turn in moved(first)] == [
        ("root.default", {"maximum-am-resource-percent": None}, {"maximum-am-resource-percent": "0.5"}, Verdict.SHADOW),
        ("root.batch", {"maximum-am-resource-percent": None}, {"maximum-am-resource-percent": "0"}, Verdict.SHADOW),
    ]
    assert moved(second) == []
    assert [turn.name for turn in moved(third)] == ["root.default"]
    assert "live mode would be refused: queues cannot be changed live" in said[0]


def test_a_refused_change_is_a_verdict(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    with session(client, desk, "smallest-first").at_work() as working:
        first = list(burst.apps)[1]
        burst.instead[f"/apps/{first}/priority"] = (403, "not yours")
        step = working.step()
        assert step is not None
        verdicts = {turn.name: turn.verdict for turn in moved(step)}
        assert verdicts[first] is Verdict.FAILED
        assert list(verdicts.values()).count(Verdict.POSTED) == 2
        del burst.instead[f"/apps/{first}/priority"]


def test_a_cluster_without_the_knobs_is_told_what_it_needs(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    burst.configured[PRIORITIES] = "0"
    burst.instead["/scheduler-conf"] = (400, "Configuration change only supported by a mutable provider")
    working = session(client, desk, "smallest-first+max-running(jobs=2)+small-pool")
    with pytest.raises(RunRefused) as refused, working.at_work():
        pass
    said = str(refused.value)
    assert "yarn.scheduler.configuration.store.class=memory" in said
    assert PRIORITIES in said
    assert "root.pool-0 and root.pool-1" in said
    assert desk.load() is None


def test_restore_puts_queues_and_applications_back(burst: FakeRm, client: RmClient, desk: Desk) -> None:
    app = list(burst.apps)[1]
    burst.settings[DEFAULT_AM_SHARE] = "0.9"
    burst.apps[app].priority, burst.apps[app].queue = 7, "root.batch"
    own = {"root.default": {"maximum-am-resource-percent": None}}
    desk.save(Baseline(client.address, None, Standing({}, own, {app: 2}, {app: "root.default"})))
    done = restore(client, desk, from_nodes=False)
    assert all(one.proven for one in done)
    assert (burst.settings, burst.apps[app].priority, burst.apps[app].queue) == ({}, 2, "root.default")
