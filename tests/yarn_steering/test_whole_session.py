"""Session, controller, watchdog and put-back, the real ones, in a world of their own: no socket, no file, no sleep."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.session import Session, Terms, restore
from heddle.yarn.live.steering.watchdog import watchdog_lives
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld, Killed

LEASE_S = 10.0
OWN = {"a:1": 8192, "b:1": 8192}
POLICY = "smallest-first+usage-feedback(damping=1)+max-running(jobs=1)"


@pytest.fixture
def cluster() -> FakeCluster:
    """Two nodes on which reservations are larger than use, and an application that waits."""
    cluster = FakeCluster()
    cluster.configured["yarn.cluster.max-application-priority"] = "10"
    app = cluster.add_app()
    for name in OWN:
        cluster.add_node(name, 8192, 8)
        cluster.allocate(app, name, 4096, 1)
        cluster.nodes[name].used_memory_mb = 500
    app.state = "RUNNING"
    cluster.add_app().asks = [(0, 1024, 1, 1)]
    return cluster


@pytest.fixture
def world(cluster: FakeCluster) -> FakeWorld:
    return FakeWorld(cluster)


@pytest.fixture(autouse=True)
def nothing_real(monkeypatch: pytest.MonkeyPatch) -> None:
    others = set(threading.enumerate()) - {threading.current_thread()}  # what tests before have left in this process

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(*arguments: Any, **named: Any) -> Any:
            if threading.current_thread() in others:
                return real(*arguments, **named)
            raise AssertionError("this world has a clock, a disk, a network and processes of its own")

        return refuse

    for name in ("time.sleep", "time.monotonic", "socket.socket", "os.fsync", "fcntl.flock", "subprocess.run"):
        monkeypatch.setattr(name, refusing(resolve_name(name)))


def desk_of_process(world: FakeWorld, name: str = "controller") -> Desk:
    return Desk(Path("/desk"), world.as_process(name))


@contextmanager
def at_work(world: FakeWorld, said: list[str], name: str = "controller") -> Iterator[Session]:
    desk = desk_of_process(world, name)
    settings = Settings(shadow=False, dead_band=(1, 1000))
    with RmClient(RM, connect=desk.world.connect) as client:
        session = Session(client, parse_policy(POLICY), settings, desk, Terms(LEASE_S, accept_sizes=True), said.append)
        with session.at_work():
            yield session


def step(world: FakeWorld, session: Session) -> None:
    session.step()
    world.pass_s(1.0)


def sizes(cluster: FakeCluster) -> dict[str, int]:
    return {name: node.memory_mb for name, node in cluster.nodes.items()}


def as_found(cluster: FakeCluster) -> bool:
    return sizes(cluster) == OWN and not cluster.settings and not any(app.priority for app in cluster.apps.values())


def kill(world: FakeWorld, opened: ExitStack, name: str = "controller") -> None:
    """What it would do at its end has no effect any more."""
    world.kill(name)
    with suppress(Killed):
        opened.close()


def test_a_session_from_beginning_to_end(world: FakeWorld, cluster: FakeCluster) -> None:
    said: list[str] = []
    with at_work(world, said) as session:
        for _ in range(30):
            step(world, session)
        assert min(sizes(cluster).values()) > 8192
        assert cluster.settings
        assert any(app.priority for app in cluster.apps.values())
        assert watchdog_lives(desk_of_process(world, "somebody"))
    assert as_found(cluster)
    assert said[-1].startswith("restored and verified: 2 nodes")
    world.pass_s(1.0)
    assert world.watchdogs == {}  # its work is done
    assert {body["overCommitTimeout"] for _, body in cluster.posts} == {-1}


@pytest.mark.parametrize("who", ["controller", "watchdog", "restore"])
def test_a_resourcemanager_that_restarts_before_nodemanagers_have_heard(
    who: str, world: FakeWorld, cluster: FakeCluster
) -> None:
    """It learns from them the sizes that we had made: what was put back a moment ago is put back again."""
    opened = ExitStack()
    session = opened.enter_context(at_work(world, []))
    step(world, session)
    restarts = restarting_after(0.7, world, cluster)
    if who == "controller":
        opened.close()
    else:
        kill(world, opened)
    if who == "restore":
        for watchdog in list(world.watchdogs):
            world.kill(watchdog)
        desk = desk_of_process(world, "restore")
        with RmClient(RM, connect=desk.world.connect) as client:
            restore(client, desk, from_nodes=False)
    world.pass_s(LEASE_S + 5)
    assert restarts()
    assert as_found(cluster)
    assert desk_of_process(world, "somebody").load() is None
    assert world.watchdogs == {}


def restarting_after(seconds: float, world: FakeWorld, cluster: FakeCluster) -> Callable[[], bool]:
    """So long after all nodes have their own sizes, they have those of now again, once. Whether it has happened."""
    ours, back_s, over = sizes(cluster), list[float](), list[bool]()
    assert ours != OWN

    def look(*_: str) -> bool:
        if sizes(cluster) == OWN and not over:
            back_s.append(world.now_s)
            if world.now_s - back_s[0] >= seconds:
                over.append(True)
                for name, memory_mb in ours.items():
                    cluster.nodes[name].memory_mb = memory_mb
        return bool(over)

    world.before_request = look  # type: ignore[assignment]
    return look


def test_a_controller_that_is_killed_at_any_request(world: FakeWorld, cluster: FakeCluster) -> None:
    """Before any request of its first two steps: a lease later everything is as it was, and nobody holds anything."""
    left_behind = [kill_before_request(number, world, cluster) for number in range(60)]
    requests = left_behind.index(None)  # so many are there in two steps
    assert requests > 10
    assert any(left_behind[:requests])


def kill_before_request(number: int, world: FakeWorld, cluster: FakeCluster) -> bool | None:
    """Whether it left anything to put back; None: it was not killed, since it made fewer requests."""
    name, requests, opened = f"controller {number}", 0, ExitStack()

    def count(method: str, target: str) -> None:
        nonlocal requests
        requests += 1
        if requests == number + 1:
            world.kill(name)

    session = opened.enter_context(at_work(world, [], name))
    world.before_request = count
    with suppress(Killed):
        for _ in range(2):
            step(world, session)
    killed, left_behind = name in world.dead, not as_found(cluster)
    kill(world, opened, name)
    world.pass_s(LEASE_S + 5)
    assert as_found(cluster), f"killed before request {number}"
    assert (world.watchdogs, world.locks) == ({}, {})
    assert desk_of_process(world, "somebody").load() is None
    return left_behind if killed else None


def test_a_controller_that_hangs_and_goes_on(world: FakeWorld, cluster: FakeCluster) -> None:
    said: list[str] = []
    with at_work(world, said) as session:
        step(world, session)
        assert not as_found(cluster)
        world.pass_s(LEASE_S + 1)
        assert as_found(cluster)
        step(world, session)
        assert "began anew" in said
        assert not as_found(cluster)
        assert desk_of_process(world, "somebody").load() is not None
    assert as_found(cluster)


def test_a_step_that_takes_longer_than_the_lease(world: FakeWorld, cluster: FakeCluster) -> None:
    """Its watchdog has put everything back meanwhile, and has nothing more to guard: nothing more is changed."""
    said: list[str] = []
    with at_work(world, said) as session:
        changes = []

        def hang_once(method: str, target: str) -> None:
            if method != "GET":
                changes.append(target)
                world.before_request = lambda method, target: changes.append(target) if method != "GET" else None
                world.pass_s(LEASE_S + 1)

        world.before_request = hang_once
        session.step()
        put_back = len(changes)
        assert world.watchdogs  # a new one: what was under way came true after all
        assert "a step took longer than the lease" in said[-1]
        session.step()
        assert "began anew" in said
        assert len(changes) > put_back
        world.before_request = lambda method, target: None
    assert as_found(cluster)


def test_a_last_change_that_takes_longer_than_the_lease(world: FakeWorld, cluster: FakeCluster) -> None:
    """The step is done and was answered, but what it changed was put back before its end."""
    said: list[str] = []
    with at_work(world, said) as session:

        def hang_once(method: str, target: str) -> None:
            if method == "POST" and "b:1" in target:
                world.before_request = lambda method, target: None
                world.pass_s(LEASE_S + 1)

        world.before_request = hang_once
        assert session.step() is not None
        assert session.step() is not None
        assert said == [
            "inactive for longer than the lease: restoring everything and starting over",
            "began anew",
        ]
    assert as_found(cluster)


def test_an_rm_that_is_away_when_the_controller_dies(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.reachable = False
    kill(world, opened)
    world.pass_s(3600)
    assert not as_found(cluster)
    world.reachable = True
    world.pass_s(5)
    assert as_found(cluster)


def test_both_die(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.kill("watchdog 1")
    kill(world, opened)
    world.pass_s(10 * LEASE_S)
    assert not as_found(cluster)
    desk = desk_of_process(world, "restore")
    with RmClient(RM, connect=desk.world.connect) as client:
        assert all(one.proven for one in restore(client, desk, from_nodes=False))
    assert as_found(cluster)


def test_a_watchdog_that_is_killed_is_replaced(world: FakeWorld, cluster: FakeCluster) -> None:
    with at_work(world, []) as session:
        step(world, session)
        world.kill("watchdog 1")
        step(world, session)
        assert list(world.watchdogs) == ["watchdog 2"]


def test_a_disk_that_is_full(world: FakeWorld, cluster: FakeCluster) -> None:
    world.full_disk = True
    with pytest.raises(RunRefused, match="cannot be written"), at_work(world, []):
        pass
    assert cluster.posts == []


def test_a_second_controller_is_refused(world: FakeWorld) -> None:
    with (
        at_work(world, []),
        pytest.raises(RunRefused, match="another controller"),
        at_work(world, [], "second"),
    ):
        pass


def test_a_watchdog_asks_at_a_pace(world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    paces: list[Pace] = []
    really = Pace.turn

    def turn(pace: Pace, *, waits: bool = True) -> None:
        paces.append(pace)
        really(pace, waits=waits)

    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    monkeypatch.setattr(Pace, "turn", turn)
    world.pass_s(5)
    assert as_found(cluster)
    assert len(paces) > 1
    assert len(set(paces)) == 1, "one for all that it asks"
