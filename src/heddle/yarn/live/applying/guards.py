"""What a controller may do, whatever its levers say: guards, one function each, from turns to turns.

A guard sees all turns of a step and what was seen, and answers with the turns as they may be, each with its cause.
They are applied in the order of GUARDS. What one has settled, those behind it leave alone; a size that one has chosen,
those behind it may choose anew: the last word has what matters most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.live.applying.preemption import keep_guarantees, leave_pools, leave_priorities
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import QUEUES, SIZES
from heddle.yarn.live.applying.turn import Cause, Turn, Turns
from heddle.yarn.live.things_seen import Size

Guard = Callable[[Turns, Seen], Turns]


def stay_inside(turns: Turns, seen: Seen) -> Turns:
    """Only the nodes, and only the queues with their applications, that may be steered."""
    limits = seen.limits

    def is_outside(turn: Turn) -> bool:
        if turn.what == SIZES:
            return limits.only is not None and turn.name not in limits.only
        leaf = turn.name if turn.what == QUEUES else seen.queue_of.get(turn.name)
        return limits.queues is not None and leaf not in limits.queues

    return tuple(turn.left_alone(Cause.OUTSIDE) if _open(turn) and is_outside(turn) else turn for turn in turns)


def leave_to_others(turns: Turns, seen: Seen) -> Turns:
    """What somebody else has changed is theirs; what somebody seems to have changed waits."""
    theirs, strange = seen.ownership.theirs, seen.ownership.strange_lately
    for parts, cause in ((theirs, Cause.FOREIGN), (strange, Cause.STRANGE)):
        if parts:
            turns = tuple(turn.without(parts, cause) if _open(turn) else turn for turn in turns)
    return turns


def leave_what_was_decommissioned(turns: Turns, seen: Seen) -> Turns:
    """A container may come to a node between our look and our change: on these YARN would kill for it."""
    wary = seen.ownership.kill_below
    return _every_size(turns, lambda turn: turn.left_alone(Cause.DECOMMISSIONED) if turn.name in wary else turn)


def keep_what_is_allocated(turns: Turns, seen: Seen) -> Turns:
    """No size below what containers hold."""
    return _resized(turns, lambda turn: turn._replace(wanted=at_least(turn.wanted, seen.nodes[turn.name].allocated)))


def cap_overcommit(turns: Turns, seen: Seen) -> Turns:
    """At most so many times a node's own size."""
    share = seen.limits.overcommit
    return _resized(turns, lambda turn: _at_most(turn, _part(seen.own[turn.name], share), Cause.CAP, seen))


def rise_slowly(turns: Turns, seen: Seen) -> Turns:
    """At most so much more than now."""

    def most(turn: Turn) -> Size:
        more = _part(seen.own[turn.name], seen.limits.rise)
        return turn.before[MEMORY] + more[MEMORY], turn.before[VCORES] + more[VCORES]

    return _resized(turns, lambda turn: _at_most(turn, most(turn), Cause.RISE, seen))


def promise_nothing_under_pressure(turns: Turns, seen: Seen) -> Turns:
    """A machine whose memory is nearly full keeps what it has and gets no more."""

    def is_full(turn: Turn) -> bool:
        node = seen.nodes[turn.name]
        shares = (node.memory_share or 0.0, node.containers_memory_mb / max(1, seen.own[turn.name][MEMORY]))
        return max(shares) > seen.limits.pressure

    def judged(turn: Turn) -> Turn:
        if not is_full(turn):
            return turn
        return turn._replace(wanted=seen.nodes[turn.name].allocated, cause=Cause.PRESSURE)

    return _resized(turns, judged)


def distrust_stale_metrics(turns: Turns, seen: Seen) -> Turns:
    """A node whose figures stand still gets its own size: nobody knows what it uses."""

    def judged(turn: Turn) -> Turn:
        if seen.limits.stale_ms is None or seen.ages_ms[turn.name] <= seen.limits.stale_ms:
            return turn
        wanted = at_least(seen.own[turn.name], seen.nodes[turn.name].allocated)
        return turn._replace(wanted=wanted, cause=Cause.STALE)

    return _resized(turns, judged)


def keep_one_large(turns: Turns, seen: Seen) -> Turns:
    """If all of the largest nodes would be smaller than they were, one of those that may be changed is not.

    The largest request that YARN accepts follows the largest node; below it, applications would be refused.
    """
    if not seen.limits.keep_largest:
        return turns
    largest = max((size[MEMORY] for size in seen.own.values()), default=0)
    wanted = {turn.name: turn.wanted for turn in turns if turn.what == SIZES and turn.before is not None}
    if any(size[MEMORY] >= largest and size[VCORES] >= seen.own[name][VCORES] for name, size in wanted.items()):
        return turns
    large = [turn for turn in turns if turn.what == SIZES and _open(turn) and seen.own[turn.name][MEMORY] == largest]
    best = max(large, key=lambda turn: (turn.wanted, turn.name), default=None)
    return tuple(
        turn._replace(wanted=at_least(turn.wanted, seen.own[turn.name]), cause=Cause.LARGEST) if turn is best else turn
        for turn in turns
    )


GUARDS: Final[tuple[Guard, ...]] = (
    stay_inside,
    leave_to_others,
    leave_what_was_decommissioned,
    leave_pools,
    leave_priorities,
    keep_what_is_allocated,
    cap_overcommit,
    rise_slowly,
    promise_nothing_under_pressure,
    distrust_stale_metrics,
    keep_one_large,
    keep_guarantees,
)


def at_least(size: Size, least: Size) -> Size:
    return max(size[MEMORY], least[MEMORY]), max(size[VCORES], least[VCORES])


def _open(turn: Turn) -> bool:
    return turn.verdict is None


def _every_size(turns: Turns, judged: Callable[[Turn], Turn]) -> Turns:
    return tuple(judged(turn) if turn.what == SIZES and _open(turn) else turn for turn in turns)


def _resized(turns: Turns, judged: Callable[[Turn], Turn]) -> Turns:
    """Sizes that a policy wants. One that is handed back is the node's own, which it may have at once, as at the end:
    nothing is killed, and YARN gives nothing more out there until it fits. Step by step it would fill up again."""
    return _every_size(turns, lambda turn: turn if turn.cause is Cause.HANDOVER else judged(turn))


def _at_most(turn: Turn, most: Size, cause: Cause, seen: Seen) -> Turn:
    """Never taking back what is allocated."""
    most, wanted = at_least(most, seen.nodes[turn.name].allocated), turn.wanted
    if wanted[MEMORY] <= most[MEMORY] and wanted[VCORES] <= most[VCORES]:
        return turn
    return turn._replace(wanted=(min(wanted[MEMORY], most[MEMORY]), min(wanted[VCORES], most[VCORES])), cause=cause)


def _part(own: Size, share: float) -> Size:
    """A share of a node's own size, in whole vcores."""
    if math.isinf(share):
        return 2**62, 2**62
    return int(own[MEMORY] * share), int(own[VCORES] * share) // MILLI * MILLI
