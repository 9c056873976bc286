"""The guards for a YARN that preempts: nothing that we change may make it take a container away.

A queue that holds no more than its guarantee, a share of what nodes promise, is never preempted from. So, where YARN
may preempt, nodes are not made smaller than keeps every guarantee at or above what its queue holds; while a queue holds
more, they are not made smaller at all. What grows is not counted on, since a change may fail. On labelled nodes
guarantees are shares of their label's nodes, which are not looked at: those are never made smaller there. Nor are any
where queues cannot be read (Fair).

Pools are queues whose guarantees follow the policy and between which applications move. A queue that is to have less
mostly holds more at that moment, so where YARN may preempt, pools stay as they are. Where it preempts within a queue,
by priority, so do the priorities of its applications.
"""

from __future__ import annotations

from typing import Final

from heddle.model.resources import MEMORY, VCORES
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import LEAVES, PRIORITIES, SHARES, SIZES, Part, same
from heddle.yarn.live.applying.turn import Cause, Turn, Turns
from heddle.yarn.live.queue_rows import ROOT
from heddle.yarn.live.things_seen import QueueSeen, Size

# What levers want gives way first; a machine that is full, or of which nothing is known, only if that is not enough.
_OF_LEVERS: Final = frozenset({Cause.LEVER, Cause.CAP, Cause.RISE, Cause.LARGEST})


def keep_guarantees(turns: Turns, seen: Seen) -> Turns:
    """Where YARN may preempt, no node is made so small that a queue would be due less than it holds."""
    shrinking = any(_is_open_size(turn) and _not_smaller(turn) is not turn for turn in turns)
    if not shrinking or not seen.may_preempt():
        return turns
    turns = tuple(_not_smaller(turn) if _is_open_size(turn) and seen.nodes[turn.name].label else turn for turn in turns)
    for causes in (_OF_LEVERS, frozenset(Cause)):
        if _covers(_after_shrinking(turns, seen), seen):
            break
        turns = tuple(_not_smaller(turn) if _is_open_size(turn) and turn.cause in causes else turn for turn in turns)
    return turns


def leave_pools(turns: Turns, seen: Seen) -> Turns:
    """Where YARN may preempt, no queue gets another share, and no application another queue."""
    if not any(map(_moves_a_pool, turns)) or not seen.may_preempt():
        return turns
    held = {part for turn in turns if _moves_a_pool(turn) for part, _, _ in turn.parts() if _is_of_pools(part)}
    return tuple(turn.without(held, Cause.PREEMPTION) if _moves_a_pool(turn) else turn for turn in turns)


def leave_priorities(turns: Turns, seen: Seen) -> Turns:
    """Where YARN preempts within a queue, its applications keep their priorities."""
    preempting = {queue.name for queue in seen.queues if queue.preempts_within}

    def is_held(turn: Turn) -> bool:
        return turn.what == PRIORITIES and _is_open(turn) and seen.queue_of.get(turn.name) in preempting

    return tuple(turn.left_alone(Cause.PREEMPTION) if is_held(turn) else turn for turn in turns)


def _moves_a_pool(turn: Turn) -> bool:
    return _is_open(turn) and any(_is_of_pools(part) for part, _, _ in turn.parts())


def _is_of_pools(part: Part) -> bool:
    what, _, setting = part
    return what == LEAVES or setting in SHARES


def _after_shrinking(turns: Turns, seen: Seen) -> Size:
    """What unlabelled nodes promise if all that makes one smaller comes true, and nothing that makes one larger."""
    after = {name: node.total for name, node in seen.nodes.items() if node.alive and not node.label}
    for turn in turns:
        if _is_open_size(turn) and turn.name in after:
            now, wanted = after[turn.name], turn.wanted
            after[turn.name] = min(now[MEMORY], wanted[MEMORY]), min(now[VCORES], wanted[VCORES])
    return sum(size[MEMORY] for size in after.values()), sum(size[VCORES] for size in after.values())


def _covers(promised: Size, seen: Seen) -> bool:
    """Whether every queue's guarantee, as a share of this, is at least what it holds."""
    below_root = [queue for queue in seen.queues if queue.name != ROOT]  # root is due all, and holds no more
    return bool(below_root) and all(_is_covered(queue, promised) for queue in below_root)


def _is_covered(queue: QueueSeen, promised: Size) -> bool:
    if queue.used is None or queue.guaranteed is None:
        return False
    return all(held <= queue.guaranteed * whole for held, whole in zip(queue.used, promised, strict=True))


def _is_open(turn: Turn) -> bool:
    return turn.verdict is None and not same(turn.what, turn.before, turn.wanted)


def _is_open_size(turn: Turn) -> bool:
    return turn.what == SIZES and turn.verdict is None


def _not_smaller(turn: Turn) -> Turn:
    wanted = max(turn.wanted[MEMORY], turn.before[MEMORY]), max(turn.wanted[VCORES], turn.before[VCORES])
    return turn if wanted == turn.wanted else turn._replace(wanted=wanted, cause=Cause.PREEMPTION)
