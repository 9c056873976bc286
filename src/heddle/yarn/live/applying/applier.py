"""Brings knobs where they should be: turns, guards, and what is left is posted. One for real and simulated YARN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from heddle.model.resources import MEMORY, VCORES
from heddle.yarn.live.applying.guards import GUARDS, Guard
from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import (
    AM_SHARE,
    IN_TURN,
    QUEUES,
    SIZES,
    TABLE,
    QueueSettings,
    Standing,
    same,
)
from heddle.yarn.live.applying.table_knob import TableKnob
from heddle.yarn.live.applying.turn import Cause, Turn, Turns, Verdict
from heddle.yarn.live.applying.wanted import DEAD_BAND, AmNeed
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError

_NOTHING: Final = Standing()
_MADE: Final = (Verdict.POSTED, "")
BEFORE_SIZES: Final = tuple(what for what in IN_TURN if what != SIZES)
_CAN_WAIT: Final = (Cause.LEVER, Cause.CAP, Cause.RISE)  # a change too small for a call, unless safety wants it


class Applier:
    """`remember` is called before each change: how things were found is in `ownership`. What it raises ends all.

    `forget` is called with what turns out to be somebody else's, as it was found.
    """

    def __init__(
        self,
        knobs: Knobs,
        ownership: Ownership,
        dead_band: Size = DEAD_BAND,
        remember: Callable[[], None] = lambda: None,
        forget: Callable[[Standing], None] = lambda _: None,
        guards: tuple[Guard, ...] = GUARDS,
        bridge: TableKnob | None = None,
    ) -> None:
        self._knobs, self._dead_band, self._guards = knobs, dead_band, guards
        self._remember, self._forget = remember, forget
        self.ownership = ownership
        self.bridge = bridge
        self._tabled = 0  # the version that was accepted last
        self._said = Standing()  # in shadow mode, where settings cannot be read: what was last decided

    def apply(
        self,
        wanted: Standing,
        seen: Seen,
        shown: Mapping[str, Mapping[str, Any]] | None = None,
        shadow: bool = False,
        handed_back: Standing = _NOTHING,
        ams: Mapping[str, AmNeed] = MappingProxyType({}),
    ) -> list[Turn]:
        """Every knob that `wanted` speaks of, with what became of it. `shown`: kinds of knobs that need no reading.

        `handed_back`: further knobs, which a policy before has turned, as they were found. `ams`: of leaves whose AM
        share is wanted. A share of what nodes promise is a share of what they promise next, too: where they grow, it
        is made smaller first, or YARN would start further AMs before the next look.
        """
        wanted = wanted | handed_back if handed_back else wanted
        now = self._read(wanted, shown or {}, shadow)
        if theirs := self.ownership.look(now):
            self._forget(theirs)
        if self._guards:
            seen = replace(seen, ownership=self.ownership)
        sizes = self._judged(_between(now, wanted, (SIZES,)), seen, shadow, handed_back)
        if ams and any(growth := _growth(sizes)):
            wanted = replace(wanted, queues=_for_ams(wanted.queues, ams, growth))
        settled = self._judged(_between(now, wanted, BEFORE_SIZES), seen, shadow, handed_back) + sizes
        if self._guards:
            settled = self._seen_again(settled)
        ready = [turn for turn in settled if turn.verdict is None]
        return self._posted(settled, ready) if ready else settled

    def _judged(self, turns: Turns, seen: Seen, shadow: bool, handed_back: Standing) -> list[Turn]:
        """What guards make of them. Without a verdict stays only what is to be posted."""
        if handed_back:
            turns = tuple(_as_handover(turn) if _hands_back(turn, handed_back) else turn for turn in turns)
        for guard in self._guards:
            turns = guard(turns, seen)
        if handed_back:
            turns = tuple(turn if _hands_back(turn, handed_back) else _as_levers(turn) for turn in turns)
        return [turn if turn.verdict is not None else self._settled(turn, shadow) for turn in turns]

    def put_table(self, table: Table, seen: Seen, shadow: bool = False) -> Turn:
        """A table for the bridge, within the limits that hold for all that is steered. Each begins a lease anew."""
        assert self.bridge is not None
        limits = seen.limits
        if limits.queues is not None or limits.only is not None:
            inside = frozenset(table.leaves if limits.queues is None else limits.queues)
            table = table.within(inside, limits.only)
        turn = Turn(TABLE, "bridge", self._tabled, len(table.requests))
        if shadow:
            return _done(turn, Verdict.SHADOW)
        self._remember()
        try:
            self._tabled = self.bridge.put(table)
        except YarnError as error:
            return _done(turn, Verdict.FAILED, str(error))
        return _done(turn, Verdict.POSTED)

    def _read(self, wanted: Standing, shown: Mapping[str, Mapping[str, Any]], shadow: bool) -> Standing:
        """As the RM says. One that does not let us read settings of queues (no mutable store, no right to) is no
        reason not to show decisions: then they are compared with the last ones."""
        asked = replace(wanted, **{what: {} for what in shown}) if shown else wanted
        try:
            now = self._knobs.read(asked)
        except YarnError as error:
            if not shadow or error.status is None:
                raise
            said = self._said.queues
            queues = {name: {key: said.get(name, {}).get(key) for key in keys} for name, keys in asked.queues.items()}
            self._said, now = wanted, Standing(queues=queues)
        return replace(now, **{what: _of(wanted.of(what), values) for what, values in shown.items()}) if shown else now

    def _settled(self, turn: Turn, shadow: bool) -> Turn:
        """Without a verdict stays only what is to be posted."""
        if same(turn.what, turn.before, turn.wanted) and not self._is_to_be_confirmed(turn):
            return _done(turn, Verdict.UNCHANGED)
        if turn.what == SIZES and turn.cause in _CAN_WAIT and not self._is_worth_posting(turn):
            return _done(turn, Verdict.DEAD_BAND)
        return _done(turn, Verdict.SHADOW) if shadow else turn

    def _seen_again(self, turns: list[Turn]) -> list[Turn]:
        """Guards ask the ResourceManager, too, and that takes a while: settings that are no longer as we saw them
        wait for the next step."""
        changing = {turn.name: turn.wanted for turn in turns if turn.verdict is None and turn.what == QUEUES}
        if not changing:
            return turns
        now = self._knobs.read(Standing(queues=changing)).queues
        return [
            turn.left_alone(Cause.STRANGE)
            if turn.what == QUEUES and turn.name in changing and not same(QUEUES, now[turn.name], turn.before)
            else turn
            for turn in turns
        ]

    def _is_to_be_confirmed(self, turn: Turn) -> bool:
        """Whatever a lever wants is looked at again at the next step; what is handed back is not, once it is back."""
        confirmed = self.ownership.is_confirmed
        return turn.cause is Cause.HANDOVER and not all(confirmed(part, value) for part, _, value in turn.parts())

    def _is_worth_posting(self, turn: Turn) -> bool:
        wanted, before, band = turn.wanted, turn.before, self._dead_band
        return bool(
            abs(wanted[MEMORY] - before[MEMORY]) >= band[MEMORY] or abs(wanted[VCORES] - before[VCORES]) >= band[VCORES]
        )

    def _posted(self, turns: list[Turn], ready: list[Turn]) -> list[Turn]:
        """The only place where levers change anything."""
        by_kind: dict[str, dict[str, Turn]] = {}
        for turn in ready:
            by_kind.setdefault(turn.what, {})[turn.name] = turn
        if any(map(self.ownership.is_new, ready)):
            befores = {what: {name: turn.before for name, turn in knobs.items()} for what, knobs in by_kind.items()}
            self.ownership.find(Standing(**befores))
        for turn in ready:  # all of them before the first: what is remembered on disk is written once
            self.ownership.asking(turn)
        became: dict[tuple[str, str], tuple[Verdict, str]] = {}
        for what in IN_TURN:
            if not (of_kind := by_kind.get(what)):
                continue
            for change in self._knobs.requests(what, {name: turn.wanted for name, turn in of_kind.items()}):
                self._remember()
                outcome = self._try(change)
                for name in change.of(what):
                    if became.get((what, name), _MADE)[0] is Verdict.POSTED:  # settings of a queue may go in two
                        became[what, name] = outcome
        for turn in ready:  # after the last: until it is saved again, what is on disk says more rather than less
            if became[turn.what, turn.name][0] is Verdict.POSTED:
                self.ownership.accepted(turn)
        return [turn if turn.verdict is not None else _done(turn, *became[turn.what, turn.name]) for turn in turns]

    def _try(self, change: Standing) -> tuple[Verdict, str]:
        try:
            self._knobs.set(change)
        except YarnError as error:
            return Verdict.FAILED, str(error)
        return _MADE


def _done(turn: Turn, verdict: Verdict, problem: str = "") -> Turn:
    return Turn(turn.what, turn.name, turn.before, turn.wanted, turn.cause, verdict, problem)


def _hands_back(turn: Turn, standing: Standing) -> bool:
    """Of a queue, if any of the settings that differ is handed back."""
    mine = standing.of(turn.what).get(turn.name)
    return mine is not None and not (
        turn.what == QUEUES and turn.before is not None and mine.keys().isdisjoint(turn.before)
    )


def _as_handover(turn: Turn) -> Turn:
    return turn._replace(cause=Cause.HANDOVER)


def _as_levers(turn: Turn) -> Turn:
    """Of a queue, guards may have left no setting but those that the policy in force wants."""
    return turn._replace(cause=Cause.LEVER) if turn.cause is Cause.HANDOVER else turn


def _of(names: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _growth(sizes: list[Turn]) -> Size:
    """How much more nodes will promise; those that shrink count as they are."""
    grow = [turn for turn in sizes if turn.verdict in (None, Verdict.SHADOW)]
    return (
        sum(max(0, turn.wanted[MEMORY] - turn.before[MEMORY]) for turn in grow),
        sum(max(0, turn.wanted[VCORES] - turn.before[VCORES]) for turn in grow),
    )


def _for_ams(queues: Mapping[str, QueueSettings], ams: Mapping[str, AmNeed], growth: Size) -> dict[str, QueueSettings]:
    return {
        name: {**settings, AM_SHARE: ams[name].share(growth)} if name in ams else settings
        for name, settings in queues.items()
    }


def _between(now: Standing, wanted: Standing, kinds: tuple[str, ...]) -> Turns:
    """A turn for each knob of these kinds; of a queue, only the settings that differ, unless none does."""
    turns = []
    for what in kinds:
        are_now = now.of(what)
        for name, value in wanted.of(what).items():
            before = are_now.get(name)
            if before is None:
                turns.append(Turn(what, name, None, value, verdict=Verdict.AWAY))
                continue
            if what == QUEUES:
                differ = [key for key in value if not same(QUEUES, before[key], value[key])] or list(value)
                before, value = {key: before[key] for key in differ}, {key: value[key] for key in differ}
            turns.append(Turn(what, name, before, value))
    return tuple(turns)
