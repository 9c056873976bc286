"""Defects that the storm found: answers that are stale or nonsense."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path

import pytest

from heddle.yarn.live.applying.rm_knobs import RmKnobs
from heddle.yarn.live.applying.standing import GUARANTEE, Standing
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import OVERLAP_MS, Observer
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld
from .test_whole_session import LEASE_S, OWN, as_found, at_work, cluster, desk_of_process, kill, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def test_settings_without_a_value_are_an_error_of_the_rm(world: FakeWorld, cluster: FakeCluster) -> None:
    cluster.instead["/scheduler-conf"] = 200, json.dumps({"property": [{"name": "a"}]})
    with (
        RmClient(RM, connect=world.as_process("test").connect) as client,
        pytest.raises(YarnError, match="'value' is missing"),
    ):
        client.scheduler_settings()


@pytest.mark.parametrize(
    ("path", "field"), [("/apps", "elapsedTime"), ("/apps", "name"), ("containers", "startedTime")]
)
def test_an_observer_that_is_told_nonsense_says_so_and_goes_on(
    world: FakeWorld, cluster: FakeCluster, tmp_path: Path, path: str, field: str
) -> None:
    cluster.allocate(cluster.add_app(), "a:1", 512, 1)

    def without(target: str, text: str) -> str:
        return text.replace(field, "else") if path in target else text

    with RmClient(RM, connect=world.as_process("observer").connect) as client:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl", print))
        whole = cluster.get
        cluster.get = lambda path, query: (  # type: ignore[method-assign]
            (answer := whole(path, query))[0], without(path, answer[1])
        )  # fmt: skip
        with pytest.raises(YarnError, match=field):
            observer.poll()
        cluster.get = whole  # type: ignore[method-assign]
        observer.poll()
    assert observer.seen.containers.keys() == {one for app in cluster.apps.values() for one in app.containers}


def test_a_clock_that_jumps_while_nothing_runs_hides_no_application_from_the_observer(
    world: FakeWorld, cluster: FakeCluster, tmp_path: Path
) -> None:
    """The machine's clock is an hour ahead of the ResourceManager's for good."""
    asked: list[int] = []
    whole = cluster.get

    def get(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        asked.extend(int(since) for since in query.get("finishedTimeBegin", []))
        return whole(path, query)

    cluster.apps.clear()
    cluster.get = get  # type: ignore[method-assign]
    now_ms = [1_700_000_000_000]
    with RmClient(RM, connect=world.as_process("observer").connect) as client:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl", print), lambda: now_ms[0])
        observer.poll()
        now_ms[0] += 3_600_000
        observer.poll()
        observer.poll()
    assert asked == [1_700_000_000_000 - OVERLAP_MS] * 3


def test_a_stale_answer_does_not_bring_an_ended_application_back(
    world: FakeWorld, cluster: FakeCluster, tmp_path: Path
) -> None:
    app = cluster.add_app()
    cluster.start_am(app, next(iter(cluster.nodes)), 512, 1)
    whole, stale = cluster.get, {}

    def get(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        asks_for_live = path.endswith("/apps") and "finishedTimeBegin" not in query
        return stale.setdefault(path, whole(path, query)) if asks_for_live else whole(path, query)

    with RmClient(RM, connect=world.as_process("observer").connect) as client:
        journal = Journal(tmp_path / "journal.jsonl", print)
        observer = Observer(client, journal, lambda: 1_700_000_000_000)
        cluster.get = get  # type: ignore[method-assign]
        observer.poll()
        cluster.end_app(app)
        for _ in range(3):
            observer.poll()
    ends = [one for one in journal.read() if one["what"] == "app" and one["id"] == app.id and one["ended_at_ms"]]
    assert len(ends) == 1


def test_a_field_that_is_no_text_is_an_error_of_the_rm(world: FakeWorld, cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.add_app()
    whole = cluster.get

    def get(path: str, query: dict[str, list[str]]) -> tuple[int, str]:
        status, told = whole(path, query)
        return status, told.replace('"finalStatus": "UNDEFINED"', '"finalStatus": {"no": "such"}')

    cluster.get = get  # type: ignore[method-assign]
    with RmClient(RM, connect=world.as_process("observer").connect) as client:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl", print), lambda: 1_700_000_000_000)
        with pytest.raises(YarnError, match="is not a text"):
            observer.poll()


def answer_as_of_now(cluster: FakeCluster) -> Callable[[], None]:
    """Changes are made, but answers stay as they would be now. What it gives ends that."""
    whole = cluster.get
    cluster.get = deepcopy(cluster).get  # type: ignore[method-assign]

    def fresh() -> None:
        cluster.get = whole  # type: ignore[method-assign]

    return fresh


def test_what_stale_answers_show_as_found_is_put_back_all_the_same(world: FakeWorld, cluster: FakeCluster) -> None:
    """A controller that begins and ends while they are stale never sees what it did."""
    said: list[str] = []
    with at_work(world, said) as session:
        fresh = answer_as_of_now(cluster)
        for _ in range(5):
            step(world, session)
        assert sizes(cluster) != OWN
        assert cluster.settings
        assert any(app.priority for app in cluster.apps.values())
    fresh()
    assert as_found(cluster)
    assert said[-1].startswith("restored and verified: 2 nodes")


def test_a_watchdog_does_not_believe_stale_answers_either(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    session = opened.enter_context(at_work(world, []))
    fresh = answer_as_of_now(cluster)
    step(world, session)
    kill(world, opened)
    world.pass_s(LEASE_S + 5)
    fresh()
    assert as_found(cluster)
    assert world.watchdogs == {}


def test_settings_that_lack_a_guarantee_are_not_taken_for_none(world: FakeWorld, cluster: FakeCluster) -> None:
    """What was taken for none would be put back as none, and no queue is without."""
    cluster.leaves = {"pool-0": (90.0, 100.0), "pool-1": (10.0, 100.0)}
    names = Standing(queues={f"root.{name}": {GUARANTEE: None} for name in cluster.leaves})
    with RmClient(RM, connect=desk_of_process(world, "controller").world.connect) as client:
        shares = {queue: settings[GUARANTEE] for queue, settings in RmKnobs(client).read(names).queues.items()}
        assert shares == {"root.pool-0": "90", "root.pool-1": "10"}
        del cluster.leaves["pool-1"]
        with pytest.raises(YarnError, match=r"capacity of root\.pool-1"):
            RmKnobs(client).read(names)
