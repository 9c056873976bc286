"""Brings knobs where they should be: turns, guards, and what is left is posted. One for real and simulated YARN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from heddle.yarn.live.applying.guards import GUARDS, Guard
from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import IN_TURN, QUEUES, SIZES, Knob, Standing, changes_at_once, same
from heddle.yarn.live.applying.turn import Cause, Turn, Turns, Verdict
from heddle.yarn.live.applying.wanted import DEAD_BAND
from heddle.yarn.live.snapshot import Size
from heddle.yarn.live.wire import YarnError

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
    ) -> None:
        self._knobs, self._dead_band, self._guards = knobs, dead_band, guards
        self._remember, self._forget = remember, forget
        self.ownership = ownership
        self._said = Standing()  # in shadow mode, where settings cannot be read: what was last decided

    def apply(
        self, wanted: Standing, seen: Seen, shown: Mapping[str, Mapping[str, Any]] | None = None, shadow: bool = False
    ) -> list[Turn]:
        """Every knob that `wanted` speaks of, with what became of it. `shown`: kinds of knobs that need no reading."""
        now = self._read(wanted, shown or {}, shadow)
        if theirs := self.ownership.look(now):
            self._forget(theirs)
        turns = _between(now, wanted)
        for guard in self._guards:
            turns = guard(turns, replace(seen, ownership=self.ownership))
        turns = tuple(self._settled(turn, shadow) for turn in turns)
        return self._posted(turns) if any(turn.verdict is None for turn in turns) else list(turns)

    def _read(self, wanted: Standing, shown: Mapping[str, Mapping[str, Any]], shadow: bool) -> Standing:
        """As the RM says. One that does not let us read settings of queues (no mutable store, no right to) is no
        reason not to show decisions: then they are compared with the last ones."""
        asked = replace(wanted, **{what: {} for what in shown})
        try:
            now = self._knobs.read(asked)
        except YarnError as error:
            if not shadow or error.status is None:
                raise
            said = self._said.queues
            queues = {name: {key: said.get(name, {}).get(key) for key in keys} for name, keys in asked.queues.items()}
            self._said, now = wanted, Standing(queues=queues)
        return replace(now, **{what: _of(wanted.of(what), values) for what, values in shown.items()})

    def _settled(self, turn: Turn, shadow: bool) -> Turn:
        """Without a verdict stays only what is to be posted."""
        if turn.verdict is not None:
            return turn
        if same(turn.what, turn.before, turn.wanted):
            return turn._replace(verdict=Verdict.UNCHANGED)
        if turn.what == SIZES and turn.cause in _CAN_WAIT and not self._is_worth_posting(turn):
            return turn._replace(verdict=Verdict.DEAD_BAND)
        return turn._replace(verdict=Verdict.SHADOW) if shadow else turn

    def _is_worth_posting(self, turn: Turn) -> bool:
        steps = zip(turn.wanted, turn.before, self._dead_band, strict=True)
        return any(abs(wanted - before) >= band for wanted, before, band in steps)

    def _posted(self, turns: Turns) -> list[Turn]:
        """The only place where levers change anything."""
        ready = [turn for turn in turns if turn.verdict is None]
        self.ownership.find(_standing((turn.what, turn.name, turn.before) for turn in ready))
        for turn in ready:  # all of them before the first: what is remembered on disk is written once
            self.ownership.asking(turn)
        became: dict[Knob, tuple[Verdict, str]] = {}
        for what in IN_TURN:
            wanted = {turn.name: turn.wanted for turn in ready if turn.what == what}
            for change in changes_at_once(what, wanted):
                self._remember()
                became |= dict.fromkeys(change.knobs(), self._try(change))
        return [turn if turn.verdict is not None else _done(turn, *became[turn.what, turn.name]) for turn in turns]

    def _try(self, change: Standing) -> tuple[Verdict, str]:
        try:
            self._knobs.set(change)
        except YarnError as error:
            return Verdict.FAILED, str(error)
        return Verdict.POSTED, ""


def _done(turn: Turn, verdict: Verdict, problem: str) -> Turn:
    return turn._replace(verdict=verdict, problem=problem)


def _of(names: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _standing(knobs: Iterable[tuple[str, str, Any]]) -> Standing:
    values: dict[str, dict[str, Any]] = {what: {} for what in IN_TURN}
    for what, name, value in knobs:
        values[what][name] = value
    return Standing(**values)


def _between(now: Standing, wanted: Standing) -> Turns:
    """A turn for each knob; of a queue, only the settings that differ, unless none does."""
    turns = []
    for what, name in wanted.knobs():
        value, before = wanted.of(what)[name], now.of(what).get(name)
        if before is None:
            turns.append(Turn(what, name, None, value, verdict=Verdict.AWAY))
            continue
        if what == QUEUES:
            differ = [key for key in value if not same(QUEUES, before[key], value[key])] or list(value)
            before, value = {key: before[key] for key in differ}, {key: value[key] for key in differ}
        turns.append(Turn(what, name, before, value))
    return tuple(turns)
