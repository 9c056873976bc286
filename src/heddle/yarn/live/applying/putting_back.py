"""Puts everything back as it was found and proves it by reading it again: nodes, queues, applications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS, Ownership
from heddle.yarn.live.applying.standing import LEAVES, PRIORITIES, QUEUES, SIZES, Part, Standing, same
from heddle.yarn.live.wire import YarnError
from heddle.yarn.live.world import Clock

PROOF_TRIES: Final = 10
PROOF_EVERY_S: Final = 0.3
ROUNDS: Final = 3  # of putting back, where somebody changes what we are about to put back
# NodeManagers hear of their size with the next heartbeat, every second by default. A ResourceManager that is restarted
# before that learns from them what it was: so long nothing that was just put back is forgotten.
HEARD_S: Final = 2.0
# Sizes first: they are what can do harm. Queues before applications, which may have to go back into them.
_IN_TURN: Final = (SIZES, QUEUES, LEAVES, PRIORITIES)
_NOT_THIS: Final = (400, 404)  # an answer that is about this change; any other is about all of them


@dataclass(frozen=True)
class PutBack:
    """One thing: what it must be, was and is. A node that is away is None, an application that has ended as wanted.

    So is one that cannot be put back yet without a container being killed.
    """

    what: str  # as in Standing
    name: str
    wanted: Any
    before: Any
    now: Any

    @property
    def proven(self) -> bool:
        return same(self.what, self.now, self.wanted)

    @property
    def resized(self) -> bool:
        """A node that had another size a moment ago."""
        return self.what == SIZES and not self.away and not same(self.what, self.before, self.now)

    @property
    def away(self) -> bool:
        """A node that may come back, and is owed its size then."""
        return self.what == SIZES and self.now is None


def put_ours_back(
    knobs: Knobs,
    ownership: Ownership,
    clock: Clock,
    release: Callable[[Standing], None],
    only: Standing | None = None,
) -> list[PutBack]:
    """What was put back. `release` hears of what is left to somebody else, as it was found, in the end, even if that is
    an error: nobody finds out twice. `only`: of these knobs.

    What seems to be somebody else's is looked at again, and most of these looks decide. Raises YarnError as put_back()
    does.
    """
    theirs = list[Standing]()
    try:
        return _put_ours_back(knobs, ownership, clock, theirs.append, only)
    finally:
        if theirs:
            release(reduce(or_, theirs))


def _put_ours_back(
    knobs: Knobs,
    ownership: Ownership,
    clock: Clock,
    release: Callable[[Standing], None],
    only: Standing | None,
) -> list[PutBack]:
    done = list[PutBack]()
    for _ in range(ROUNDS):
        _look(knobs, ownership, clock, release, only)
        done = _put_found_back(knobs, ownership, clock, _among(ownership.found, only))
        if not ownership.strange(_as_seen(done)):
            break
    return done


def _look(
    knobs: Knobs,
    ownership: Ownership,
    clock: Clock,
    release: Callable[[Standing], None],
    only: Standing | None,
) -> None:
    """Until it is known what is somebody else's."""
    for _ in range(2 * FOREIGN_LOOKS - 1):
        if theirs := ownership.look(knobs.read(_among(ownership.found, only))):
            release(theirs)
        if ownership.strange_lately.isdisjoint(_among(ownership.found, only).every_part()):
            break
        clock.sleep(PROOF_EVERY_S)


def _put_found_back(knobs: Knobs, ownership: Ownership, clock: Clock, found: Standing) -> list[PutBack]:
    """All of these but what would kill, and what somebody has changed since the last look."""
    later = _would_kill(knobs, ownership.kill_below, found)
    away = [PutBack(SIZES, name, size, None, None) for name, size in later.sizes.items()]
    found = found.without(later.every_part())
    doubted = {part for part, value in found.parts() if not ownership.is_confirmed(part, value)}
    done = put_back(knobs, found, clock, doubted, ownership.strange)
    ownership.was_put_back(found.without(still_owed(done).every_part()))
    return [*done, *away]


def _as_seen(done: list[PutBack]) -> Standing:
    """Where these stand, as far as they are there and not as they were found."""
    return _standing((one.what, one.name, one.now) for one in done if not one.proven and not one.away)


def _would_kill(knobs: Knobs, kill_below: frozenset[str], found: Standing) -> Standing:
    """Of nodes on which YARN kills what does not fit, those that hold anything: they must wait. What fits now may not
    fit any more when our change arrives; on an empty node there is room for what comes in between."""
    wary = kill_below & found.sizes.keys()
    held = knobs.held(wary) if wary else {}
    return Standing({name: found.sizes[name] for name in sorted(wary) if name not in held or any(held[name])})


def put_back(
    knobs: Knobs,
    found: Standing,
    clock: Clock,
    doubted: Set[Part] = frozenset(),
    strange: Callable[[Standing], Set[Part]] = lambda _: frozenset(),
) -> list[PutBack]:
    """Raises YarnError if the RM cannot be asked or refuses; whoever calls tries again. What it refuses keeps nothing
    else from being put back.

    `doubted`: what is asked for even where it seems to be back. YARN takes that for no change. `strange`: what seems to
    be somebody else's, by where it stands just before it would be changed; it is left as it is.
    """
    refused = list[YarnError]()
    done = [
        one
        for what in _IN_TURN
        for one in _with_proof(knobs, what, found.of(what), clock, doubted, strange, refused.append)
    ]
    if refused:
        raise refused[0]
    return done


def _among(found: Standing, only: Standing | None) -> Standing:
    return found if only is None else found.only(only.every_part())


def in_words(done: list[PutBack]) -> str:
    """How many of what."""
    words = {
        SIZES: "nodes have their own sizes again",
        QUEUES: "queues have their own settings again",
        LEAVES: "applications are back in their own queues",
        PRIORITIES: "applications have their own priorities again",
    }
    counts = Counter(one.what for one in done)
    return (
        ", ".join(f"{counts[what]} {said}" for what, said in words.items() if counts[what])
        or "nothing was left to restore"
    )


def still_owed(done: list[PutBack]) -> Standing:
    """What is not back yet."""
    return _standing((one.what, one.name, one.wanted) for one in done if not one.proven)


def _standing(knobs: Iterable[tuple[str, str, Any]]) -> Standing:
    """Of each knob what it is, its name, and its value."""
    values: dict[str, dict[str, Any]] = {what: {} for what in _IN_TURN}
    for what, name, value in knobs:
        values[what][name] = value
    return Standing(**values)


def _with_proof(
    knobs: Knobs,
    what: str,
    wanted: Mapping[str, Any],
    clock: Clock,
    doubted: Set[Part],
    strange: Callable[[Standing], Set[Part]],
    refuses: Callable[[YarnError], None],
) -> list[PutBack]:
    """Changes what is there and different, then reads until it has come true; the RM answers before it acts."""
    if not wanted:
        return []
    whole = Standing(**{what: wanted})

    def read() -> Standing:
        return knobs.read(whole)

    def differing(now: Standing) -> list[Part]:
        places = dict(now.parts())
        return [part for part, value in ours.parts() if part in places and not same(what, places[part], value)]

    def shown(at: Standing, name: str) -> Any:
        """An application that has ended needs nothing."""
        return at.of(what).get(name, None if what == SIZES else wanted[name])

    before = now = read()
    ours = whole.without(strange(before))
    unsure = doubted & set(before.every_part())
    for change in knobs.requests(what, ours.only({*differing(before), *unsure}).of(what)):
        try:
            knobs.set(change)
        except YarnError as error:
            if error.status not in _NOT_THIS:
                raise
            refuses(error)
            ours = ours.without(change.every_part())
    for _ in range(PROOF_TRIES):
        now = read()
        if not differing(now):
            break
        clock.sleep(PROOF_EVERY_S)
    return [PutBack(what, name, value, shown(before, name), shown(now, name)) for name, value in wanted.items()]
