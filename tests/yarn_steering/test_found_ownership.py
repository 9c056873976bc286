"""Defects that the storm found: whose change it is."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import pytest

from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.guards import leave_to_others
from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS, TRIES, Ownership
from heddle.yarn.live.applying.putting_back import PutBack, put_ours_back
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import (
    AM_SHARE,
    GUARANTEE,
    PRIORITIES,
    QUEUES,
    SIZES,
    Standing,
    changes_at_once,
)
from heddle.yarn.live.applying.turn import Cause, Turn, Turns, Verdict
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError

from .fake_world import FakeWorld
from .test_whole_session import cluster, world

__all__ = ["cluster", "world"]  # fixtures


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
    assert (QUEUES, "root.a", AM_SHARE) not in ownership.theirs
    assert len(ownership.asked[QUEUES, "root.a", AM_SHARE]) == 1 + TRIES + 2
    for number in range(60):
        ownership.asking(turn("0.3", f"0.{500 + number}"))
        ownership.accepted(turn("0.3", f"0.{500 + number}"))
    for _ in range(FOREIGN_LOOKS):
        ownership.look(standing("0.430"))  # of long ago: a person's by now
    assert (QUEUES, "root.a", AM_SHARE) in ownership.theirs


def test_what_an_earlier_controller_put_somewhere_is_not_found_there() -> None:
    """Everything is put back, but a stale answer still shows where it was before."""
    left = Ownership(Standing({"a:1": (8192, 8000)}), {("sizes", "a:1", ""): ((8192, 8000), (9000, 8000))})
    ownership = Ownership()
    ownership.owe(left, Standing())
    stale = Standing({"a:1": (9000, 8000)})
    ownership.find(stale)
    assert ownership.found == left.found
    ownership.look(stale)
    assert ("sizes", "a:1", "") not in ownership.strange_lately
    assert not ownership.turned


def test_a_change_of_ours_that_comes_true_after_a_persons_is_put_back_to_theirs() -> None:
    """The ResourceManager acts late, and a stale answer shows the person's size while ours already stands."""
    node, before, ours, theirs = "a:1", (8192, 8000), (9000, 8000), (6000, 8000)
    ownership = Ownership()
    ownership.find(Standing({node: before}))
    ownership.asking(Turn("sizes", node, before, ours))
    for _ in range(FOREIGN_LOOKS):
        ownership.look(Standing({node: theirs}))
    assert ("sizes", node, "") in ownership.theirs
    ownership.look(Standing({node: ours}))
    assert ownership.found.sizes == {node: theirs}
    assert ("sizes", node, "") not in ownership.strange_lately  # ours: whoever puts back puts it to theirs
    for _ in range(FOREIGN_LOOKS):
        ownership.look(Standing({node: before}))  # the NodeManager has started anew: YARN's own by now
    assert ownership.found.sizes == {node: before}


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
    assert (SIZES, node, "") not in ownership.strange_lately  # a late change of ours that comes true after all
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
            assert (SIZES, node, "") in ownership.strange_lately  # not turned
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
        assert (SIZES, node, "") in ownership.strange_lately
        ownership.look(Standing({node: ours}))
    assert (SIZES, node, "") not in ownership.strange_lately
    assert ownership.found.sizes == {node: before}


class FakeKnobs:
    """They stand where they are put, at once."""

    def __init__(self, stands: Standing) -> None:
        self.stands = stands

    def read(self, names: Standing) -> Standing:
        return self.stands.only(names.every_part())

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
        return self._shown.pop(0).only(names.every_part()) if self._shown else super().read(names)


def restored(world: FakeWorld, knobs: Knobs, ownership: Ownership) -> tuple[list[PutBack], Standing]:
    """What was put back, and what was left to somebody else."""
    left = [Standing()]
    done = put_ours_back(knobs, ownership, world.as_process("restore").clock, left.append)
    return done, left[-1]


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
        restored(world, knobs, ownership)
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
    done, left = restored(world, knobs, ownership)
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


POOL, OTHER = "root.pool-0", "root.pool-1"


def two_pools(ours: str = "70", ams: str = "0.2") -> tuple[Ownership, Standing]:
    """Two queues that we gave other shares and AM shares, and where they stand."""
    ownership, stands = Ownership(), Standing()
    for queue, share in ((POOL, ours), (OTHER, f"{100 - int(ours)}")):
        found: dict[str, str | None] = {GUARANTEE: "50", AM_SHARE: None}
        wanted: dict[str, str | None] = {GUARANTEE: share, AM_SHARE: ams}
        ownership.find(Standing(queues={queue: found}))
        ownership.asking(Turn(QUEUES, queue, found, wanted))
        stands = stands | Standing(queues={queue: wanted})
    return ownership, stands


def test_a_person_who_changes_one_setting_of_a_queue_does_not_own_the_others(world: FakeWorld) -> None:
    """What we made of the others would stay; and shares that are put back of one queue alone do not add up."""
    ownership, stands = two_pools()
    theirs = Standing(queues={OTHER: {AM_SHARE: "0.6"}})
    knobs = FakeKnobs(theirs | stands)
    done, left = restored(world, knobs, ownership)
    found = {GUARANTEE: "50", AM_SHARE: None}
    assert knobs.stands == Standing(queues={POOL: found, OTHER: {**found, AM_SHARE: "0.6"}})
    assert left == Standing(queues={OTHER: {AM_SHARE: None}})
    assert all(one.proven for one in done)


def test_a_person_who_changes_one_guarantee_has_chosen_them_all(world: FakeWorld) -> None:
    """A third queue takes its share from one of ours: 70 and 30 have become 60 and 30."""
    ownership, stands = two_pools()
    knobs = FakeKnobs(Standing(queues={POOL: {GUARANTEE: "60"}}) | stands)
    restored(world, knobs, ownership)
    shares = {queue: settings[GUARANTEE] for queue, settings in knobs.stands.queues.items()}
    assert shares == {POOL: "60", OTHER: "30"}
    assert {settings[AM_SHARE] for settings in knobs.stands.queues.values()} == {None}


def test_what_is_still_ours_of_a_queue_is_turned() -> None:
    ownership, stands = two_pools()
    now = Standing(queues={OTHER: {AM_SHARE: "0.6"}}) | stands
    wanted = {GUARANTEE: "40", AM_SHARE: "0.3"}
    turn = Turn(QUEUES, OTHER, now.queues[OTHER], wanted)
    for cause in (Cause.STRANGE, Cause.FOREIGN):
        ownership.look(now)
        (judged,) = leave_to_others((turn,), Seen(ownership=ownership))
        assert judged == turn._replace(before={GUARANTEE: "30"}, wanted={GUARANTEE: "40"})
        alone = turn._replace(before={AM_SHARE: "0.6"}, wanted={AM_SHARE: "0.3"})
        (judged,) = leave_to_others((alone,), Seen(ownership=ownership))
        assert (judged.verdict, judged.cause) == (Verdict.LEFT_ALONE, cause)
        for _ in range(FOREIGN_LOOKS):
            ownership.look(now)


class RefusingShares(FakeKnobs):
    """As YARN does where they do not fit together with what somebody else has set."""

    def set(self, change: Standing) -> None:
        if any(GUARANTEE in settings for settings in change.queues.values()):
            raise YarnError("http://rm", "Illegal capacity sum", 400)
        super().set(change)


def test_what_is_refused_keeps_nothing_else_from_being_put_back(world: FakeWorld) -> None:
    ownership, stands = two_pools()
    ownership.find(Standing(priorities={"app": 0}))
    ownership.asking(Turn(PRIORITIES, "app", 0, 9))
    knobs, began_s = RefusingShares(Standing(priorities={"app": 9}) | stands), world.now_s
    with pytest.raises(YarnError, match="capacity sum"):
        restored(world, knobs, ownership)
    assert knobs.stands.priorities == {"app": 0}
    assert {settings[AM_SHARE] for settings in knobs.stands.queues.values()} == {None}
    assert world.now_s == began_s  # nobody waits for what was refused to come true


def test_a_person_is_named_although_putting_back_fails(world: FakeWorld) -> None:
    """Nobody finds out a second time: it is theirs from then on (found by the storm)."""
    ownership, stands = two_pools()
    left: list[Standing] = []
    knobs = RefusingShares(Standing(queues={OTHER: {AM_SHARE: "0.6"}}) | stands)
    with pytest.raises(YarnError, match="capacity sum"):
        put_ours_back(knobs, ownership, world.as_process("restore").clock, left.append)
    assert left == [Standing(queues={OTHER: {AM_SHARE: None}})]


def test_answers_that_are_half_a_minute_old_are_not_taken_for_a_persons() -> None:
    """Some are stale and some are not, and a node has had another size at every step since."""
    node, own = "a:1", (8192, 8000)
    ownership, made = Ownership(), [(9000 + number, 8000) for number in range(30)]
    ownership.find(Standing({node: own}))
    for before, size in pairwise([own, *made]):
        turn = Turn(SIZES, node, before, size)
        ownership.asking(turn)
        ownership.accepted(turn)
    for _ in range(FOREIGN_LOOKS):
        assert ownership.look(Standing({node: made[0]})) == Standing()
    assert ownership.found == Standing({node: own})
    assert len(ownership.asked[SIZES, node, ""]) < 12  # what is written to disk stays short


def test_a_persons_node_that_starts_anew_stays_theirs_though_we_once_gave_it_that_size() -> None:
    """Long ago, at which places of ours are no longer told from its own (found by the storm)."""
    node, own, theirs = "a:1", (8192, 8000), (6000, 8000)
    ownership, made = Ownership(), [(9000, 8000), own, *((9000 + number, 8000) for number in range(30))]
    ownership.find(Standing({node: own}))
    for before, size in pairwise([own, *made]):
        turn = Turn(SIZES, node, before, size)
        ownership.asking(turn)
        ownership.accepted(turn)
    for place in (theirs, own):  # which its NodeManager tells when it starts anew
        for _ in range(FOREIGN_LOOKS):
            ownership.look(Standing({node: place}))
        assert ownership.found.sizes == {node: place}
