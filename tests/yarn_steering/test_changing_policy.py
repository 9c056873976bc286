"""Another policy takes over in a live session: what the last one turned is put back or handed over, inside all guards.

In a world of its own: no socket, no file, no sleep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heddle.policy.parse import parse_policy
from heddle.yarn.live.applying.handing_over import HandingOver
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.standing import PRIORITIES, QUEUES, SIZES, Standing
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings, Step
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.session import Session, Terms
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld, Killed
from .test_found_answers import answer_as_of_now
from .test_whole_session import LEASE_S, OWN, POLICY, as_found, cluster, sizes, world

__all__ = ["cluster", "world"]  # fixtures

EVERYTHING, STOCK, SIZING, ORDER = 0, 1, 2, 3
POLICIES = (
    POLICY,
    "capacity",
    "usage-feedback(damping=1)",
    "smallest-first",
)


@contextmanager
def at_work(world: FakeWorld, shadow: bool = False, limits: Limits | None = None) -> Iterator[Session]:
    desk = Desk(Path("/desk"), world.as_process("controller"))
    settings = Settings(shadow=shadow, dead_band=(1, 1000), limits=limits or Limits())
    policy, *others = (parse_policy(name) for name in POLICIES)
    with RmClient(RM, connect=desk.world.connect) as client:
        terms = Terms(LEASE_S, accept_sizes=True)
        session = Session(client, policy, settings, desk, terms, lambda _: None, others=others)
        with session.at_work():
            yield session


def step(world: FakeWorld, session: Session) -> Step:
    taken = session.step()
    assert taken is not None
    world.pass_s(1.0)
    return taken


def settle(world: FakeWorld, session: Session) -> None:
    """Until levers know what is used."""
    for _ in range(3):
        step(world, session)


def priorities(cluster: FakeCluster) -> list[int]:
    return [app.priority for app in cluster.apps.values()]


def handed_back(taken: Step) -> set[str]:
    return {turn.what for turn in taken.turns if turn.cause is Cause.HANDOVER and turn.verdict is Verdict.POSTED}


def test_what_nobody_speaks_of_any_more_is_put_back(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        step(world, session)
        assert sizes(cluster) != OWN
        assert cluster.settings
        assert any(priorities(cluster))
        session.put_in_force(STOCK)
        assert handed_back(step(world, session)) == {SIZES, QUEUES, PRIORITIES}
        assert as_found(cluster)
        assert step(world, session).turns  # once more, to see that it is back
        assert step(world, session).turns == []
    assert as_found(cluster)


def test_what_stale_answers_show_as_handed_back_is_handed_back_all_the_same(
    cluster: FakeCluster, world: FakeWorld
) -> None:
    with at_work(world) as session:
        fresh = answer_as_of_now(cluster)
        settle(world, session)
        assert sizes(cluster) != OWN
        assert cluster.settings
        assert any(priorities(cluster))
        session.put_in_force(STOCK)
        for _ in range(3):
            step(world, session)
        fresh()
        step(world, session)
        assert as_found(cluster)


def test_what_the_next_one_speaks_of_stays_where_it_is(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        settle(world, session)
        before, posts = sizes(cluster), len(cluster.posts)
        session.put_in_force(SIZING)
        taken = step(world, session)
        assert sizes(cluster) == before
        assert len(cluster.posts) == posts
        assert handed_back(taken) == {QUEUES, PRIORITIES}
        assert {turn.cause for turn in taken.of(SIZES)} == {Cause.LEVER}


def test_a_size_is_handed_back_at_once_and_kills_nothing(cluster: FakeCluster, world: FakeWorld) -> None:
    """Though containers hold more: as long as it is larger than its own, YARN fills it up again."""
    with at_work(world) as session:
        settle(world, session)
        full = next(iter(cluster.apps.values()))
        for _ in range(3):
            cluster.allocate(full, "a:1", 2048, 1)  # 10240 of its own 8192
        session.put_in_force(STOCK)
        step(world, session)
        assert sizes(cluster) == OWN
        assert {body["overCommitTimeout"] for _, body in cluster.posts} == {-1}
        step(world, session)
        assert sizes(cluster) == OWN


def test_what_is_refused_is_handed_back_later(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        step(world, session)
        session.put_in_force(STOCK)
        cluster.refuses_puts["/scheduler-conf"] = 500, "no"
        failed = [turn for turn in step(world, session).turns if turn.verdict is Verdict.FAILED]
        assert {(turn.what, turn.cause) for turn in failed} == {(QUEUES, Cause.HANDOVER)}
        cluster.refuses_puts.clear()
        step(world, session)
        assert as_found(cluster)


def test_what_is_not_to_be_steered_is_not_handed_back_either(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world, limits=Limits(only=frozenset({"b:1"}))) as session:
        step(world, session)
        session.put_in_force(STOCK)
        cluster.nodes["a:1"].memory_mb = 5000  # a person
        step(world, session)
        assert sizes(cluster) == {"a:1": 5000, "b:1": 8192}


def test_what_a_person_changed_meanwhile_is_left_to_them(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        step(world, session)
        cluster.nodes["a:1"].memory_mb = 5000
        session.put_in_force(STOCK)
        for _ in range(5):
            step(world, session)
        assert sizes(cluster) == {"a:1": 5000, "b:1": 8192}
    assert sizes(cluster) == {"a:1": 5000, "b:1": 8192}


def test_there_and_back_again_the_first_finds_its_knobs(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        settle(world, session)
        wanted = sizes(cluster), dict(cluster.settings), priorities(cluster)
        for other in (ORDER, STOCK, SIZING, EVERYTHING):
            session.put_in_force(other)
            step(world, session)
        assert (sizes(cluster), dict(cluster.settings), priorities(cluster)) == wanted
    assert as_found(cluster)


def test_killed_in_the_middle_of_a_hand_over_everything_is_put_back(cluster: FakeCluster, world: FakeWorld) -> None:
    changes = 0

    def kill_at_the_third(method: str, target: str) -> None:
        nonlocal changes
        changes += method != "GET"
        if changes == 3:
            world.kill("controller")

    with suppress(Killed), at_work(world) as session:
        step(world, session)
        session.put_in_force(STOCK)
        world.before_request = kill_at_the_third
        step(world, session)
        raise AssertionError("it is dead")
    world.before_request = lambda method, target: None
    assert not as_found(cluster)
    world.pass_s(LEASE_S + 5)
    assert as_found(cluster)


def test_a_session_that_begins_anew_goes_on_under_the_same_policy(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world) as session:
        step(world, session)
        session.put_in_force(SIZING)
        step(world, session)
        world.reachable = False
        world.pass_s(2 * LEASE_S)
        assert session.step() is None
        world.reachable = True
        world.pass_s(1.0)
        session.step()
        taken = step(world, session)
        assert {turn.what for turn in taken.turns} == {SIZES}
        assert not cluster.settings


def test_in_shadow_mode_the_turns_are_those_of_the_policy_in_force(cluster: FakeCluster, world: FakeWorld) -> None:
    with at_work(world, shadow=True) as session:
        assert {turn.what for turn in step(world, session).turns} == {SIZES, QUEUES, PRIORITIES}
        session.put_in_force(ORDER)
        taken = step(world, session)
        assert {turn.what for turn in taken.turns} == {PRIORITIES}
        assert {turn.verdict for turn in taken.turns} <= {Verdict.SHADOW, Verdict.UNCHANGED}
    assert as_found(cluster)
    assert not cluster.posts


def test_one_that_was_never_in_force_has_learnt(cluster: FakeCluster, world: FakeWorld) -> None:
    """New containers count in full for a while, which only somebody who has seen them come can know."""
    young = "usage-feedback(young_reports=3)"

    def first_turns(in_force_after: int) -> list[Turn]:
        desk = Desk(Path(f"/desk-{in_force_after}"), world.as_process("controller"))
        with RmClient(RM, connect=desk.world.connect) as client:
            settings = Settings(dead_band=(1, 1000))
            policies = parse_policy("capacity"), parse_policy(young)
            session = Session(client, policies[0], settings, desk, Terms(LEASE_S), lambda _: None, others=policies[1:])
            with session.at_work():
                for number in range(6):
                    if number == in_force_after:
                        session.put_in_force(1)
                    taken = step(world, session)
                return taken.of(SIZES)

    late, all_along = first_turns(5), first_turns(0)
    assert [turn.wanted for turn in late] == [turn.wanted for turn in all_along]
    assert {turn.wanted[0] > OWN[turn.name] for turn in late} == {True}


def test_a_node_that_is_away_is_owed_its_size_and_an_application_that_is_over_nothing() -> None:
    own = 8192, 8000
    handing_over, size = HandingOver(), Standing(sizes={"n": own})
    handing_over.begin(Ownership(size | Standing(priorities={"app": 0})))
    gone = [Turn(SIZES, "n", None, own), Turn(PRIORITIES, "app", None, 0)]
    handing_over.saw([turn._replace(verdict=Verdict.AWAY) for turn in gone])
    assert handing_over.owed == size


def test_what_seems_back_while_nobody_knows_whose_it_is_stays_owed() -> None:
    """It was seen in a strange place: the answer that shows it back may be stale, and it is not turned for now."""
    own = 8192, 8000
    handing_over, size = HandingOver(), Standing(sizes={"n": own})
    handing_over.begin(Ownership(size))
    handing_over.saw([Turn(SIZES, "n", own, own).left_alone(Cause.STRANGE)])
    assert handing_over.owed == size
    handing_over.saw([Turn(SIZES, "n", own, own, verdict=Verdict.UNCHANGED)])
    assert not handing_over.owed


def test_a_node_that_a_guard_keeps_as_we_made_it_is_still_owed_its_size() -> None:
    """The largest node, while a request needs it: unchanged, but not back."""
    own, made = (8192, 8000), (16_384, 16_000)
    handing_over, size = HandingOver(), Standing(sizes={"n": own})
    handing_over.begin(Ownership(size))
    handing_over.saw([Turn(SIZES, "n", made, made, Cause.LARGEST, Verdict.UNCHANGED)])
    assert handing_over.owed == size
