"""Every decision has its cause: a lever's word is in its plan; any other cause is there to be seen.

Seen by the storm: in its own books, in what the process was told, or in what it was told to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.storm.sight import Sight
from heddle.storm.sizes_watched import LATE_STEPS_S, told_of
from heddle.storm.timeline import Process
from heddle.storm.watch import Watch
from heddle.storm.yarn import SimulatedYarn
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.standing import GUARANTEE, LEAVES, PRIORITIES, QUEUES, SIZES, TABLE, same
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict
from heddle.yarn.live.applying.wanted import DEAD_BAND, pool_leaf
from heddle.yarn.live.controller import Step
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.things_seen import Size

_LEAVE_ALONE: Final = frozenset({Cause.OUTSIDE, Cause.FOREIGN, Cause.STRANGE, Cause.DECOMMISSIONED})
_OF_SIZES: Final = frozenset({Cause.STALE, Cause.PRESSURE, Cause.CAP, Cause.RISE, Cause.LARGEST})
_MAY_WAIT: Final = frozenset({Cause.LEVER, Cause.CAP, Cause.RISE})
REGULAR_S: Final = 3.0  # at most, from one step to the next
LATELY_S: Final = 15.0


class CausesWatched:
    """`limits`, `chooses`: what controllers were told, and whether policies take over from one another."""

    def __init__(self, watch: Watch, yarn: SimulatedYarn, limits: Limits, preempts: bool, chooses: bool) -> None:
        self._watch, self._yarn, self._limits = watch, yarn, limits
        self._preempts, self._chooses = preempts, chooses
        # Of a process: since when every step was answered truly, and soon after the last; then the last, and since when
        # nodes were in every one.
        self._regular_since_s: dict[str, float] = {}
        self._stepped_s: dict[str, float] = {}
        self._listed_since_s: dict[str, dict[str, float]] = {}

    def step(self, process: Process, step: Step, live: LiveView) -> None:
        self._note(process, step)
        sight = self._watch.sight_of(process)
        for turn in step.turns:
            if turn.what != TABLE:
                for wrong in self._wrong_with(process, turn, step.plan, live, sight):
                    self._watch.breaks(f"{process.name}: {wrong}: {turn}")

    def _note(self, process: Process, step: Step) -> None:
        now_s, name = self._watch.now_s, process.name
        if name in self._watch.hindered or now_s - self._stepped_s.get(name, -REGULAR_S) > REGULAR_S:
            self._regular_since_s[name] = now_s
        self._stepped_s[name] = now_s
        listed = self._listed_since_s.get(name, {})
        self._listed_since_s[name] = {node: listed.get(node, now_s) for node in step.snapshot.nodes}

    def _wrong_with(self, process: Process, turn: Turn, plan: Plan, live: LiveView, sight: Sight) -> Iterator[str]:
        if turn.verdict is Verdict.AWAY:
            if turn.before is not None:
                yield "away, and it was seen"
            return
        if (turn.verdict is Verdict.LEFT_ALONE) != (turn.cause in _LEAVE_ALONE) and turn.cause is not Cause.PREEMPTION:
            yield "a cause that does not say why it is left alone, or one that does, and it is not"
        if turn.verdict is Verdict.LEFT_ALONE and turn.wanted != turn.before:
            yield "left alone, and to be somewhere else"
        if turn.verdict is Verdict.UNCHANGED and not same(turn.what, turn.before, turn.wanted):
            yield "said to be where it should be"
        if turn.verdict is Verdict.DEAD_BAND and not (turn.cause in _MAY_WAIT and _is_small(turn)):
            yield "no change to put off"
        if turn.cause is Cause.OUTSIDE:
            if turn.what != SIZES or self._limits.only is None or turn.name in self._limits.only:
                yield "it may be steered"
        elif turn.cause is Cause.PREEMPTION:
            if not self._preempts and process.name not in self._watch.hindered:
                yield "this YARN does not preempt, and says so"
        elif turn.cause is Cause.DECOMMISSIONED:
            if not self._yarn.nodes[turn.name].was_decommissioned and SIZES not in sight.misled:
                yield "nobody has ever decommissioned it"
        elif turn.cause in (Cause.FOREIGN, Cause.STRANGE):
            if not self._is_theirs(turn, sight):
                yield "nobody else has touched it"
        elif turn.cause is Cause.HANDOVER:
            if not self._chooses or not self._is_as_found(turn, sight):
                yield "no policy has left that behind"
        elif turn.what == SIZES:
            yield from self._wrong_with_size(process, turn, plan, live, sight)
        elif turn.cause in _OF_SIZES:
            yield "that is a cause for sizes of nodes"
        elif not _speaks_of(plan, turn, live):
            yield "the plan does not say so"

    def _is_theirs(self, turn: Turn, sight: Sight) -> bool:
        """Guarantees add up: who changes one has changed them all."""
        if turn.what in sight.misled:
            return True
        settings = {setting for (_, _, setting), _, _ in turn.parts()}
        places = [
            place
            for (what, name, setting), place in self._yarn.truth.places.items()
            if what == turn.what and setting in settings and (name == turn.name or setting == GUARANTEE)
        ]
        is_strange = turn.cause is Cause.STRANGE
        return any(
            place.is_touched or (is_strange and self._watch.now_s - place.since_s < LATELY_S) for place in places
        )

    def _is_as_found(self, turn: Turn, sight: Sight) -> bool:
        """One setting of a queue that is handed back is enough: others may be what the next policy wants."""
        places = self._yarn.truth.places
        return turn.what in sight.misled or any(
            part not in places or places[part].was_found_as(turn.what, value) for part, _, value in turn.parts()
        )

    def _wrong_with_size(self, process: Process, turn: Turn, plan: Plan, live: LiveView, sight: Sight) -> Iterator[str]:
        row, place = sight.nodes().get(turn.name), self._yarn.truth.places[SIZES, turn.name, ""]
        if row is None or plan.node_totals is None or turn.name not in live.node_row:
            if plan.node_totals is None:
                yield "the plan does not speak of sizes"
            return
        sizes = self._watch.sizes.own(turn.name, place)
        try:
            held, _, share = told_of(row, (min(one[MEMORY] for one in sizes), min(one[VCORES] for one in sizes)))
        except (KeyError, TypeError):
            return  # garbled: what it was told there, nobody knows
        planned = tuple(plan.node_totals[live.node_row[turn.name]].tolist())
        said = max(planned[MEMORY], held[MEMORY]), max(planned[VCORES], held[VCORES])
        if turn.cause is Cause.LEVER and turn.wanted != said:
            yield f"the plan says {planned}, where {held} are held"
        elif turn.cause is Cause.CAP and not _is_cut(turn.wanted, said, held, sizes, (0, 0), self._limits.overcommit):
            yield f"the plan says {planned}, and it is not cut to {self._limits.overcommit} times {sizes}"
        elif turn.cause is Cause.RISE and not _is_cut(turn.wanted, said, held, sizes, turn.before, self._limits.rise):
            yield f"the plan says {planned}, and it is not cut to a rise by {self._limits.rise} times {sizes}"
        elif turn.cause is Cause.PRESSURE and share <= self._limits.pressure:
            yield f"{share:.0%} of its memory is in use"
        elif turn.cause is Cause.LARGEST and not self._limits.keep_largest:
            yield "it need not stay large"
        elif turn.cause is Cause.STALE and self._has_seen_it_move(process, turn.name):
            yield "its figures move"

    def _has_seen_it_move(self, process: Process, node: str) -> bool:
        """For longer than figures may stand still, it was told the truth about a node that lives."""
        if self._yarn.nodes[node].frozen is not None:
            return False
        stale_s = (self._limits.stale_ms or 0) / 1000 + LATE_STEPS_S
        since_s = max(
            self._regular_since_s[process.name],
            self._listed_since_s[process.name].get(node, self._watch.now_s),
            self._yarn.nodes[node].froze_until_s,
        )
        return self._watch.now_s - since_s > stale_s


def _is_small(turn: Turn) -> bool:
    return turn.what == SIZES and all(abs(turn.wanted[r] - turn.before[r]) < DEAD_BAND[r] for r in (MEMORY, VCORES))


def _is_cut(wanted: Size, said: Size, held: Size, sizes: tuple[Size, ...], from_there: Size, share: float) -> bool:
    """Whether a node is as large as a share of its own size allows, in a resource of which the lever wants more."""
    for r, whole in ((MEMORY, 1), (VCORES, MILLI)):
        most = {max(from_there[r] + int(own[r] * share) // whole * whole, held[r]) for own in sizes}
        if wanted[r] < said[r] and wanted[r] in most:
            return True
    return False


def _speaks_of(plan: Plan, turn: Turn, live: LiveView) -> bool:
    """Whether a lever answers the question behind the knob; of a pool, that it is this one."""
    if turn.what == LEAVES:
        return plan.job_pools is not None and turn.wanted == pool_leaf(plan.job_pools[live.job_row[turn.name]])
    if turn.what == PRIORITIES:
        return plan.request_keys is not None
    return turn.what == QUEUES and (plan.admission is not None or plan.pool_limits is not None)
