"""Defects that the storm found: what becomes of a session's changes when others change something too."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.session import restore
from heddle.yarn.live.steering.watchdog import Watchdog
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld
from .test_whole_session import LEASE_S, OWN, as_found, at_work, cluster, desk_of_process, kill, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def change_by_a_person(cluster: FakeCluster) -> dict[str, int]:
    cluster.nodes["a:1"].memory_mb = 5000
    return {**OWN, "a:1": 5000}


def test_what_a_person_sets_when_the_controller_is_dead_the_watchdog_leaves_alone(
    world: FakeWorld, cluster: FakeCluster
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    wanted = change_by_a_person(cluster)
    world.pass_s(LEASE_S + 5)
    assert sizes(cluster) == wanted
    assert world.watchdogs == {}


@pytest.mark.parametrize("mended_by", ["restore", "the next session"])
def test_what_a_person_sets_when_both_are_dead_is_left_alone(
    world: FakeWorld, cluster: FakeCluster, mended_by: str
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.kill("watchdog 1")
    kill(world, opened)
    wanted = change_by_a_person(cluster)
    if mended_by == "restore":
        desk = desk_of_process(world, "restore")
        said: list[str] = []
        with RmClient(RM, connect=desk.world.connect) as client:
            restore(client, desk, from_nodes=False, say=said.append)
        assert said == ["changed by someone else and left alone: a:1"]
    else:
        with at_work(world, [], "controller 2"):
            pass
    assert sizes(cluster) == wanted


def test_what_a_person_sets_while_the_controller_hangs_is_left_alone(world: FakeWorld, cluster: FakeCluster) -> None:
    with at_work(world, []) as session:
        step(world, session)
        wanted = change_by_a_person(cluster)
        world.now_s += LEASE_S + 1
        session.step()
        assert cluster.nodes["a:1"].memory_mb == 5000
    assert sizes(cluster) == wanted


def test_what_a_person_sets_while_a_step_asks_about_applications_is_left_alone(
    world: FakeWorld, cluster: FakeCluster
) -> None:
    """Of a hundred applications, that takes seconds (found by the soak)."""
    whole, asked = cluster.get, list[str]()

    def get(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        if path.endswith("/containers"):
            cluster.nodes["a:1"].memory_mb = 5000
            asked.append(path)
        return whole(path, query)

    with at_work(world, []) as session:
        step(world, session)
        assert sizes(cluster) != OWN
        cluster.get = get  # type: ignore[method-assign]
        step(world, session)
        assert asked
        assert cluster.nodes["a:1"].memory_mb == 5000
    assert sizes(cluster) == {**OWN, "a:1": 5000}


def test_a_baseline_of_an_earlier_version_is_put_back_whole(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.kill("watchdog 1")
    kill(world, opened)
    file = Path("/desk/baseline.json")
    saved = json.loads(world.files[file])
    world.files[file] = json.dumps({key: saved[key] for key in ("rm", "user", "found")}).encode()
    desk = desk_of_process(world, "restore")
    with RmClient(RM, connect=desk.world.connect) as client:
        restore(client, desk, from_nodes=False)
    assert as_found(cluster)


def test_a_pause_holds_though_the_resourcemanager_refuses_what_is_put_back(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again with every step, and nothing else is changed meanwhile (seed 2058)."""
    said: list[str] = []
    with at_work(world, said) as session:
        step(world, session)
        turned = sizes(cluster)
        assert turned != OWN
        desk_of_process(world).pause(True)
        with monkeypatch.context() as while_it_lasts:
            while_it_lasts.setattr(cluster, "post", lambda *_: (500, "no"))
            for _ in range(3):
                step(world, session)
        assert sizes(cluster) == turned
        for _ in range(5):
            step(world, session)
            assert as_found(cluster)
        assert [text for text in said if text.startswith("paused")] == [
            "paused: everything is restored, and nothing will change"
        ]
        desk_of_process(world).pause(False)
        step(world, session)
        assert sizes(cluster) != OWN
    assert as_found(cluster)


def test_a_node_that_is_first_seen_while_it_is_decommissioned_is_nobody_elses(
    world: FakeWorld, cluster: FakeCluster
) -> None:
    """Meanwhile it has the size of what it holds, which is not how it was found (seed 1039)."""
    node, said = cluster.nodes["a:1"], list[str]()
    node.state, node.memory_mb = "DECOMMISSIONING", 4096
    with at_work(world, said) as session:
        step(world, session)
        node.state, node.memory_mb = "RUNNING", OWN["a:1"]
        for _ in range(FOREIGN_LOOKS + 1):
            step(world, session)
    assert as_found(cluster)
    assert not any("someone else" in text for text in said)


def test_a_node_that_was_decommissioned_is_made_smaller_only_when_nothing_is_killed(
    world: FakeWorld, cluster: FakeCluster
) -> None:
    """YARN decommissions with an overcommit timeout of 0, which sticks to the node."""
    node, said = cluster.nodes["a:1"], list[str]()
    with at_work(world, said) as session:
        for _ in range(20):
            step(world, session)
        large_mb = node.memory_mb
        assert large_mb > OWN["a:1"]
        node.state = "DECOMMISSIONING"
        step(world, session)
        node.state = "RUNNING"
        busy = cluster.add_app()
        container = cluster.allocate(busy, "a:1", 5000, 1)
        taken = session.step()
        assert taken is not None
        about = {turn.name: (str(turn.verdict), str(turn.cause)) for turn in taken.of("sizes")}
        assert about["a:1"] == ("left-alone", "decommissioned")
    assert sizes(cluster) == {**OWN, "a:1": large_mb}
    assert said[-1].startswith("the watchdog keeps")
    world.pass_s(20)
    assert node.memory_mb == large_mb
    cluster.end_container(container)
    world.pass_s(5)
    assert node.memory_mb == large_mb  # what it holds would fit, but more may come before our change does
    for app in cluster.apps.values():
        for name in [name for name, one in app.containers.items() if one.node == "a:1"]:
            cluster.end_container(name)
    world.pass_s(5)
    assert as_found(cluster)


def test_a_watchdog_stops_when_a_controller_steers_again(world: FakeWorld, cluster: FakeCluster) -> None:
    """It began to put back since nobody beat, without the lock. A slow ResourceManager answers when another one has
    begun, and what stands there by then, and on disk, is that one's."""
    with at_work(world, []) as session:
        step(world, session)
        made, desk = sizes(cluster), desk_of_process(world, "controller")
        saved, answer = desk.load(), cluster.get
        world.now_s += LEASE_S + 1

        def late(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
            desk.beat()
            return answer(path, query)

        cluster.get = late  # type: ignore[method-assign]
        assert not Watchdog(desk_of_process(world, "a slow watchdog"), LEASE_S).look()
        cluster.get = answer  # type: ignore[method-assign]
        assert made != OWN
        assert sizes(cluster) == made
        assert desk.load() == saved


def test_a_controller_beats_before_it_puts_back_what_was_left(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.kill("watchdog 1")
    kill(world, opened)
    world.now_s += LEASE_S + 1
    ages: list[float] = []
    answer, desk = cluster.get, desk_of_process(world, "controller 2")

    def noted(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        ages.append(desk.beat_age_s())
        return answer(path, query)

    cluster.get = noted  # type: ignore[method-assign]
    with at_work(world, [], "controller 2"):
        assert ages
        assert max(ages) < LEASE_S


def test_a_node_whose_size_cannot_be_put_back_does_not_keep_us_from_steering(
    world: FakeWorld, cluster: FakeCluster
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    world.kill("watchdog 1")
    kill(world, opened)
    cluster.nodes["a:1"].lost = True
    said: list[str] = []
    with at_work(world, said, "controller 2") as session:
        cluster.nodes["a:1"].lost = False
        cluster.instead["/nodes/a:1/resource"] = (400, "not this one")
        answered = [session.step() for _ in range(3)]
        assert None not in answered
        assert any("cannot restore yet" in line for line in said)
        cluster.instead.clear()
    assert as_found(cluster)
