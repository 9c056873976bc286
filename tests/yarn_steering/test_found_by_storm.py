"""Every defect that the storm has found, by itself."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS, TRIES, Ownership
from heddle.yarn.live.applying.putting_back import put_ours_back
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import AM_SHARE, QUEUES, SIZES, Standing, changes_at_once
from heddle.yarn.live.applying.turn import Cause, Turn, Turns, Verdict
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.files import DISK
from heddle.yarn.live.steering.session import restore
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import OVERLAP_MS, Observer
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld, _Disk
from .test_whole_session import LEASE_S, OWN, as_found, at_work, cluster, desk_of_process, kill, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def read_only(monkeypatch: pytest.MonkeyPatch, *methods: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for method in methods:
        monkeypatch.setattr(_Disk, method, refuse)


def test_settings_without_a_value_are_an_error_of_the_rm(world: FakeWorld, cluster: FakeCluster) -> None:
    cluster.instead["/scheduler-conf"] = 200, json.dumps({"property": [{"name": "a"}]})
    with (
        RmClient(RM, connect=world.as_process("test").connect) as client,
        pytest.raises(YarnError, match="'value' is missing"),
    ):
        client.scheduler_settings()


def test_a_disk_that_becomes_read_only_ends_a_session_in_words(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    opened = ExitStack()
    session = opened.enter_context(at_work(world, said))
    step(world, session)
    read_only(monkeypatch, "overwrite", "write", "remove")
    with pytest.raises(RunRefused, match=r"beat: cannot be written \(Read-only"):
        session.step()
    opened.close()
    assert as_found(cluster)
    assert said[-1].startswith("restored and verified")


def test_a_watchdog_on_a_read_only_disk_puts_back_once_and_waits_for_the_disk(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    with monkeypatch.context() as while_it_lasts:
        read_only(while_it_lasts, "write", "remove")
        world.pass_s(5)
        assert as_found(cluster)
        assert list(world.watchdogs) == ["watchdog 1"]
        cluster.nodes["a:1"].memory_mb = 9000  # by a person, now that all is back
        world.pass_s(5)
    world.pass_s(1)
    assert world.watchdogs == {}
    assert sizes(cluster) == {**OWN, "a:1": 9000}


def test_a_watchdog_whose_disk_is_full_goes_on_while_a_node_is_away(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    cluster.nodes["b:1"].lost = True
    world.full_disk = True
    world.pass_s(60)
    cluster.nodes["b:1"].lost = False
    world.pass_s(5)
    assert as_found(cluster)


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


def test_what_was_accepted_stays_ours_however_often_it_is_refused_meanwhile() -> None:
    """The ResourceManager leaves a setting out of its answer and refuses changes: both lie about where it stands."""

    def turn(before: str | None, wanted: str) -> Turn:
        return Turn(QUEUES, "root.a", {AM_SHARE: before}, {AM_SHARE: wanted})

    def standing(value: str | None) -> Standing:
        return Standing(queues={"root.a": {AM_SHARE: value}})

    ownership = Ownership()
    ownership.find(standing(None))
    ownership.asking(turn(None, "0.3"))
    ownership.accepted(turn(None, "0.3"))
    for number in range(2 * TRIES):
        ownership.asking(turn(None, f"0.{400 + number}"))
    for _ in range(FOREIGN_LOOKS):
        assert ownership.look(standing("0.3")) == Standing()
    assert not ownership.is_theirs((QUEUES, "root.a"))
    assert len(ownership.asked[QUEUES, "root.a", AM_SHARE]) == 1 + TRIES + 2
    for wanted in ("0.51", "0.52", "0.53", "0.54", "0.55"):
        ownership.asking(turn("0.3", wanted))
        ownership.accepted(turn("0.3", wanted))
    for _ in range(FOREIGN_LOOKS):
        ownership.look(standing("0.430"))  # of long ago: a person's by now
    assert ownership.is_theirs((QUEUES, "root.a"))


def test_a_journal_on_a_read_only_disk_is_refused_in_words(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only(monkeypatch, "overwrite")
    with pytest.raises(RunRefused, match=r"journal\.jsonl: cannot be written \(Read-only"):
        Journal(Path("/journal.jsonl"), print, world.as_process("observer").files)


def test_what_an_earlier_controller_put_somewhere_is_not_found_there() -> None:
    """Everything is put back, but a stale answer still shows where it was before."""
    left = Ownership(Standing({"a:1": (8192, 8000)}), {("sizes", "a:1", ""): ((8192, 8000), (9000, 8000))})
    ownership = Ownership()
    ownership.owe(left, Standing())
    stale = Standing({"a:1": (9000, 8000)})
    ownership.find(stale)
    assert ownership.found == left.found
    ownership.look(stale)
    assert not ownership.is_strange(("sizes", "a:1"))
    assert not ownership.turned


def test_a_disk_that_has_become_read_only_still_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else controller and watchdog would both end with a traceback, and nobody would put anything back."""
    file, really_open = tmp_path / "lock", os.open

    def read_only_open(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return really_open(path, flags, mode)

    with DISK.lock(file, "held"):
        pass
    monkeypatch.setattr(os, "open", read_only_open)
    with DISK.lock(file, "held"), pytest.raises(RunRefused, match="held"), DISK.lock(file, "held"):
        pass
    with DISK.lock(file, "held"):
        pass
    with (
        pytest.raises(RunRefused, match=r"none: cannot be locked \(No such file"),
        DISK.lock(tmp_path / "none", "held"),
    ):
        pass


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


def test_a_change_of_ours_that_comes_true_after_a_persons_is_put_back_to_theirs() -> None:
    """The ResourceManager acts late, and a stale answer shows the person's size while ours already stands."""
    node, before, ours, theirs = "a:1", (8192, 8000), (9000, 8000), (6000, 8000)
    ownership = Ownership()
    ownership.find(Standing({node: before}))
    ownership.asking(Turn("sizes", node, before, ours))
    for _ in range(FOREIGN_LOOKS):
        ownership.look(Standing({node: theirs}))
    assert ownership.is_theirs(("sizes", node))
    ownership.look(Standing({node: ours}))
    assert ownership.found.sizes == {node: theirs}
    assert not ownership.is_strange(("sizes", node))  # ours: whoever puts back puts it to theirs
    for _ in range(FOREIGN_LOOKS):
        ownership.look(Standing({node: before}))  # the NodeManager has started anew: YARN's own by now
    assert ownership.found.sizes == {node: before}


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


def test_what_was_put_back_and_what_is_a_persons_is_not_asked_for_again() -> None:
    """Each such change might overwrite another of theirs, made since we looked: YARN has no compare-and-set."""
    node, other, before, ours, theirs = "a:1", "b:1", (8192, 8000), (9000, 8000), (6000, 8000)
    ownership = Ownership()
    ownership.find(Standing({node: before, other: before}))
    assert ownership.is_confirmed((SIZES, other, ""), before)  # nobody ever turned it
    ownership.asking(Turn(SIZES, node, before, ours))
    assert not ownership.is_confirmed((SIZES, node, ""), before)
    ownership.was_put_back(Standing({node: before, other: before}))
    assert ownership.is_confirmed((SIZES, node, ""), before)
    assert ownership.is_confirmed((SIZES, other, ""), before)
    ownership.look(Standing({node: ours}))
    assert not ownership.is_strange((SIZES, node))  # a late change of ours that comes true after all
    ownership.asking(Turn(SIZES, node, before, ours))
    for _ in range(FOREIGN_LOOKS):
        ownership.look(Standing({node: theirs}))
    assert ownership.found.sizes[node] == theirs
    assert ownership.is_confirmed((SIZES, node, ""), theirs)


def test_a_stale_answer_does_not_hide_what_a_person_set_once_it_was_seen() -> None:
    """Some answers are fresh and some are not: what they set is seen, and the next answer shows ours again."""
    node, before, ours, theirs = "a:1", (8192, 8000), (9000, 8000), (6000, 8000)
    ownership = Ownership()
    ownership.find(Standing({node: before}))
    ownership.asking(Turn(SIZES, node, before, ours))
    for _ in range(FOREIGN_LOOKS - 1):
        ownership.look(Standing({node: theirs}))
        for _ in range(FOREIGN_LOOKS - 1):
            ownership.look(Standing({node: ours}))
            assert ownership.is_strange((SIZES, node))  # not turned
    given_up = ownership.look(Standing({node: theirs}))
    assert given_up.sizes == {node: before}
    assert ownership.found.sizes == {node: theirs}


def test_a_knob_that_has_left_a_strange_place_is_ours_again() -> None:
    node, before, ours, theirs = "a:1", (8192, 8000), (9000, 8000), (6000, 8000)
    ownership = Ownership()
    ownership.find(Standing({node: before}))
    ownership.asking(Turn(SIZES, node, before, ours))
    ownership.look(Standing({node: theirs}))
    for _ in range(FOREIGN_LOOKS):
        assert ownership.is_strange((SIZES, node))
        ownership.look(Standing({node: ours}))
    assert not ownership.is_strange((SIZES, node))
    assert ownership.found.sizes == {node: before}


class FakeKnobs:
    """They stand where they are put, at once."""

    def __init__(self, stands: Standing) -> None:
        self.stands = stands

    def read(self, names: Standing) -> Standing:
        return self.stands.only(names.knobs())

    def requests(self, what: str, values: Mapping[str, Any]) -> Iterable[Standing]:
        return changes_at_once(what, values)

    def held(self, nodes: Iterable[str]) -> Mapping[str, Size]:
        return {}

    def set(self, change: Standing) -> None:
        self.stands = change | self.stands


class KnobsThatShow(FakeKnobs):
    """The first looks are shown these, the last of which is true."""

    def __init__(self, shown: list[Standing]) -> None:
        super().__init__(shown[-1])
        self._shown = shown

    def read(self, names: Standing) -> Standing:
        return self._shown.pop(0).only(names.knobs()) if self._shown else super().read(names)


def test_most_looks_decide_whose_a_knob_is_when_it_is_put_back(world: FakeWorld) -> None:
    """At the end, too, some answers are stale."""
    node, before, ours, theirs = "a:1", (8192, 8000), (9000, 8000), (6000, 8000)
    for shown, left in (
        ((theirs, ours, theirs, ours, theirs), theirs),
        ((theirs, ours, ours, theirs, ours), before),
    ):
        ownership = Ownership()
        ownership.find(Standing({node: before}))
        ownership.asking(Turn(SIZES, node, before, ours))
        knobs = KnobsThatShow([Standing({node: size}) for size in shown])
        put_ours_back(knobs, ownership, world.as_process("restore").clock)
        assert knobs.stands == Standing({node: left})


def test_what_a_person_sets_while_other_things_are_put_back_is_left_alone(world: FakeWorld) -> None:
    """Sizes come first, and proving them takes a while; then a queue is not as it was when we looked."""
    node, own, ours = "a:1", (8192, 8000), (9000, 8000)
    leaf, ours_in_queue, theirs = "root.batch", {AM_SHARE: "0.04"}, {AM_SHARE: "0.6"}
    ownership = Ownership()
    ownership.find(Standing({node: own}, {leaf: {AM_SHARE: None}}))
    ownership.asking(Turn(SIZES, node, own, ours))
    ownership.asking(Turn(QUEUES, leaf, {AM_SHARE: None}, ours_in_queue))
    knobs = ChangedMeanwhile(Standing({node: ours}, {leaf: ours_in_queue}), Standing(queues={leaf: theirs}))
    done, left = put_ours_back(knobs, ownership, world.as_process("restore").clock)
    assert knobs.stands == Standing({node: own}, {leaf: theirs})
    assert left.queues == {leaf: {AM_SHARE: None}}  # theirs from now on, and said so
    assert all(one.proven for one in done)


class ChangedMeanwhile(FakeKnobs):
    """As soon as one is changed, somebody else changes something, once."""

    def __init__(self, stands: Standing, then: Standing) -> None:
        super().__init__(stands)
        self._then = then

    def set(self, change: Standing) -> None:
        super().set(self._then | change)
        self._then = Standing()


def test_what_a_person_sets_while_guards_ask_is_not_overwritten() -> None:
    leaf, ours, theirs = "root.batch", {AM_SHARE: "0.04"}, {AM_SHARE: "0.6"}
    knobs = FakeKnobs(Standing(queues={leaf: {AM_SHARE: None}}))

    def guard_that_takes_its_time(turns: Turns, seen: Seen) -> Turns:
        knobs.stands = Standing(queues={leaf: theirs})
        return turns

    for found in (knobs.stands, Standing()):  # also where nobody knows yet how it was
        ownership = Ownership()
        ownership.find(found)
        knobs.stands = Standing(queues={leaf: {AM_SHARE: None}})
        applier = Applier(knobs, ownership, guards=(guard_that_takes_its_time,))
        (turn,) = applier.apply(Standing(queues={leaf: ours}), Seen())
        assert (turn.cause, turn.verdict) == (Cause.STRANGE, Verdict.LEFT_ALONE)
        assert knobs.stands.queues == {leaf: theirs}
        assert not ownership.found.queues or ownership.found.queues == {leaf: {AM_SHARE: None}}
