"""What a controller knows of applications that have ended, or that the ResourceManager's list leaves out."""

import json
from contextlib import ExitStack
from pathlib import Path

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from yarn_live.fake_cluster import FakeApp, FakeCluster

from .fake_world import RM, FakeWorld
from .test_whole_session import LEASE_S, as_found, at_work, cluster, kill, step, world

__all__ = ["cluster", "world"]  # fixtures

NOBODY = 200, json.dumps({"apps": None})


def waiting(cluster: FakeCluster) -> FakeApp:
    app = cluster.add_app()
    app.asks = [(0, 1024, 1, 1)]
    return app


def on_disk(world: FakeWorld) -> set[str]:
    """Applications that are to be put back."""
    saved = json.loads(world.files[Path("/desk/baseline.json")])
    return {app for app in (*saved["found"]["priorities"], *(name for (_, name, _), _ in saved["asked"])) if "_" in app}


def test_what_is_kept_does_not_grow_with_applications_that_have_ended(world: FakeWorld, cluster: FakeCluster) -> None:
    """A controller of weeks sees any number of them."""
    with at_work(world, []) as session:
        for _ in range(40):
            app = waiting(cluster)
            for _ in range(2):
                step(world, session)
            assert app.priority > 0
            cluster.end_app(app)
        waiting(cluster)
        for _ in range(2):
            step(world, session)
        left = {app.id for app in cluster.apps.values() if app.state != "FINISHED"}
        assert len(left) == 3
        assert set(session.found.priorities) <= left
        assert on_disk(world) <= left
    assert as_found_of_those_left(cluster)


def as_found_of_those_left(cluster: FakeCluster) -> bool:
    for name in [name for name, app in cluster.apps.items() if app.state == "FINISHED"]:
        del cluster.apps[name]
    return as_found(cluster)


def test_an_application_that_the_list_leaves_out_has_not_ended(world: FakeWorld, cluster: FakeCluster) -> None:
    app = waiting(cluster)
    with RmClient(RM, connect=world.as_process("test").connect) as client:
        before = take_snapshot(client, 0)
        cluster.instead["/apps"] = NOBODY
        left_out = take_snapshot(client, 1000, before)
        assert (left_out.apps, left_out.ended) == (before.apps, {})
        cluster.end_app(app)
        after = take_snapshot(client, 2000, left_out)
    assert after.ended == {app.id: True}
    assert after.apps.keys() == before.apps.keys() - {app.id}


def test_an_application_that_the_list_leaves_out_gets_its_priority_back(world: FakeWorld, cluster: FakeCluster) -> None:
    """By the controller at its end, and by the watchdog when there is none."""
    with at_work(world, []) as session:
        step(world, session)
        assert any(app.priority for app in cluster.apps.values())
        cluster.instead["/apps"] = NOBODY
    assert as_found(cluster)
    cluster.instead.clear()
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [], "another")))
    assert not as_found(cluster)
    cluster.instead["/apps"] = NOBODY
    kill(world, opened, "another")
    world.pass_s(LEASE_S + 5)
    assert as_found(cluster)


def test_an_empty_answer_about_an_application_is_not_its_end(world: FakeWorld, cluster: FakeCluster) -> None:
    """Seed 2072: it costs a step, and a priority that cannot be put back now is put back later."""
    with at_work(world, []) as session:
        step(world, session)
        turned = {name: app.priority for name, app in cluster.apps.items() if app.priority}
        assert turned
        cluster.instead |= {"/apps": NOBODY, **{f"/apps/{name}": (200, "{}") for name in turned}}
        assert session.step() is None
    assert {name: cluster.apps[name].priority for name in turned} == turned
    cluster.instead.clear()
    world.pass_s(LEASE_S + 5)
    assert as_found(cluster)
