"""Looks in columns: nothing is lost on the way, and the compiled differ says what the rule in plain Python says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STOPPED,
)
from heddle.yarn.live.differ import Change, Differ
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.names import Names, Passing
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen

REPORT_MS = 1000
SIZES = [(1024, 1000), (2048, 1000)]


def node(name: str, state: str) -> NodeSeen:
    return NodeSeen(name, f"host of {name}", "/r", state, "", (8192, 8000), (1, 1), 2, 0.5, 3, 0.25, "a:80", 0.5, None)


def app(number: int, submitted_at_ms: int, asks: tuple[Ask, ...] = ()) -> AppSeen:
    name = f"application_1_{number:04d}"
    return AppSeen(name, "root.default", "ann", True, number, submitted_at_ms, True, "attempt", asks)


@st.composite
def looks(draw: st.DrawFn, names: Names, at_ms: int, live_before: frozenset[str] = frozenset()) -> Snapshot:
    states = st.sampled_from(["RUNNING", "LOST", "DECOMMISSIONING"])
    nodes = {
        name: node(name, draw(states)) for name in draw(st.sets(st.sampled_from(["a:1", "b:1", "c:1"]), min_size=1))
    }
    kinds = st.lists(st.builds(Ask, st.integers(0, 2), st.sampled_from(SIZES), st.integers(1, 3)), max_size=2)
    apps = {one.id: one for one in (app(n, 7 - n % 2, tuple(draw(kinds))) for n in draw(st.sets(st.integers(1, 4))))}
    containers = {}
    for one in apps.values():
        for number in draw(st.sets(st.integers(1, 4))):
            name, size = f"container_1_{one.id[-4:]}_01_{number:06d}", draw(st.sampled_from(SIZES))
            where = draw(st.sampled_from(sorted(nodes)))
            containers[name] = ContainerSeen(name, one.id, where, 20, size, number == 1)
    ended = {name: draw(st.booleans()) for name in sorted(live_before - apps.keys())}
    queues = (QueueSeen("root", 1000, 1000), QueueSeen("root.default", 500, 900, used=(5, 6), guaranteed=0.5))
    return Snapshot.of(names, at_ms, nodes, apps, containers, queues, ended)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Snapshot, Snapshot]:
    names = Names()
    before = draw(looks(names, 1500))
    return before, draw(looks(names, draw(st.sampled_from([1600, 2000, 4100])), frozenset(before.apps)))


def by_the_rule(before: Snapshot | None, after: Snapshot) -> list[Change]:
    """Sets and names, nothing else."""
    were = {name for name, seen in before.nodes.items() if seen.alive} if before else set()
    are = {name for name, seen in after.nodes.items() if seen.alive}
    held = {name: seen for name, seen in before.containers.items() if seen.node in were} if before else {}
    holds = {name: seen for name, seen in after.containers.items() if seen.node in are}

    def goes_on(one: ContainerSeen) -> bool:
        return any(seen.id == one.id and (seen.size, seen.node) == (one.size, one.node) for seen in holds.values())

    ended = [seen for seen in held.values() if not goes_on(seen)]
    changes = []
    for seen in ended:
        if seen.node in are:
            failed = seen.is_am or not after.ended.get(seen.app, True)
            changes.append(Change(EVENT_STOPPED if failed else EVENT_FINISHED, seen.node, seen.app, seen))
    changes += [Change(EVENT_NODE_LOST, name) for name in (before.nodes if before else ()) if name in were - are]
    changes += [Change(EVENT_NODE_RETURNED, name) for name in after.nodes if name in are - were and before]
    changes += [Change(EVENT_STOPPED, seen.node, seen.app, seen) for seen in ended if seen.node not in are]
    passed = after.at_ms // REPORT_MS - before.at_ms // REPORT_MS if before else 0
    for name in after.nodes:
        reports = passed if name in were else 1
        if name in are and reports:
            changes.append(Change(EVENT_REPORTED, name, reports=reports))
    arrived = [one for one in after.apps.values() if not before or one.id not in before.apps]
    arrived.sort(key=lambda one: (one.started_at_ms, one.id))
    changes += [Change(EVENT_ARRIVED, app=one.id) for one in arrived]
    new = [seen for seen in holds.values() if held.get(seen.id) != seen]
    numbers = {one: after.names.apps.number(one) for one in after.apps}
    new.sort(key=lambda seen: (numbers[seen.app], seen.id))
    return changes + [Change(EVENT_ALLOCATED, seen.node, seen.app, seen) for seen in new]


@settings(max_examples=150, deadline=None)
@given(pair=pairs())
def test_the_differ_says_what_the_rule_says(pair: tuple[Snapshot, Snapshot]) -> None:
    before, after = pair
    differ = Differ()
    first = differ.differences(None, before, REPORT_MS)
    assert list(first) == by_the_rule(None, before)
    changes = differ.differences(before, after, REPORT_MS)
    assert list(changes) == by_the_rule(before, after)
    assert len(changes) == len(list(changes))
    assert list(differ.differences(None, before, REPORT_MS)) == list(first), "nothing is left of an earlier look"


def test_columns_give_back_what_was_read() -> None:
    asks = Ask(20, (1024, 1000), 7), Ask(5, (2048, 2000), 1)
    apps = {one.id: one for one in (app(2, 5, asks), app(1, 9, asks[:1]), app(3, 9))}
    apps["application_1_0003"] = replace(apps["application_1_0003"], submitted_to="root.a")
    nodes = {"a:1": node("a:1", "RUNNING"), "b:1": replace(node("b:1", "NEW"), cpu_share=0.25, memory_share=None)}
    name = "container_e17_1_0002_01_000001"
    containers = {name: ContainerSeen(name, "application_1_0002", "b:1", 0, (512, 1000), True)}
    queues = (
        QueueSeen("root", 1000, 1000),
        QueueSeen("root.a", 250, 500, 50, 2000, 3, (1, 2), (3, 4), 0.25, (0, 0), 300, (200, 1000)),
    )
    made = Snapshot.of(Names(), 17, nodes, apps, containers, queues, {"application_1_0009": False})
    assert (made.nodes, made.apps, made.containers) == (nodes, apps, containers)
    seen = Snapshot(made.at_ms, made.names, made.columns)
    assert seen.nodes == nodes
    assert seen.apps == apps
    assert seen.containers == containers
    assert seen.queues == queues
    assert seen.ended == {"application_1_0009": False}


def test_the_number_of_a_container_is_given_anew_when_two_looks_have_not_shown_it() -> None:
    names = Passing()
    first, other = names.number("x"), names.number("y")
    names.end_look()
    assert names.number("y") == other
    names.end_look()  # x may still be in the look before
    assert names.number("z") not in (first, other)
    assert names.number("y") == other
    names.end_look()
    assert names.number("w") == first
    assert names.name(first) == "w"


def test_more_of_everything_than_there_was_room_for() -> None:
    """Jobs, kinds of requests, sizes, members and containers grow while they are taken in."""
    names, live = Names(), LiveView(lambda seen: seen.total, report_ms=REPORT_MS, n_pools=1, calculator="dominant")
    differ, before = Differ(), None
    nodes = {name: node(name, "RUNNING") for name in (f"n{n}:1" for n in range(90))}
    for look, n_apps in enumerate((3, 200)):
        apps, containers = {}, {}
        for number in range(1, 1 + n_apps):
            asks = tuple(Ask(priority, (100 + number + priority, 1000), 2) for priority in range(1, 4 + 5 * look))
            one = replace(app(number, number, asks), user=f"u{number}", queue=f"root.q{number % 80}")
            apps[one.id] = one
            for task in range(1, 4):
                name = f"container_1_{number:04d}_01_{task:06d}"
                containers[name] = ContainerSeen(name, one.id, f"n{number % 90}:1", 1, (100 + task, 1000), task == 1)
        seen = Snapshot.of(names, 1000 * look, nodes, apps, containers)
        live.sight(seen)
        for _ in live.absorb(differ.differences(before, seen, REPORT_MS)):
            pass
        before = seen
        view, rows = live.view, live.job_row
        assert view.node["allocated"].sum(axis=0).tolist() == [n_apps * (101 + 102 + 103), n_apps * 3000]
        assert view.queue["allocated"][0].tolist() == view.node["allocated"].sum(axis=0).tolist()
        assert view.member["allocated"].sum(axis=0).tolist() == view.queue["allocated"][0].tolist()
        assert int(view.stage["waiting"].sum()) == sum(ask.containers for one in apps.values() for ask in one.asks)
        for one in apps.values():
            first, n_stages = (int(view.job_spec[name][rows[one.id]]) for name in ("first_stage", "n_stages"))
            shapes = view.stage_spec["shape"][first : first + n_stages]
            waiting: Counter[int] = Counter()
            for memory_mb, count in zip(view.shape["demand"][shapes, 0], view.stage["waiting"][first:], strict=False):
                waiting[int(memory_mb)] += int(count)
            assert +waiting == {ask.size[0]: ask.containers for ask in one.asks}
            assert set(view.stage_spec["job"][first : first + n_stages].tolist()) == {rows[one.id]}
        assert len(view.node) == 90
        assert len(view.job) == n_apps
