"""What a controller says it has decided, against what it asked for on the wire: neither more nor less."""

from __future__ import annotations

from typing import Any, Final

from heddle.storm.machine import Asked
from heddle.storm.sight import turned
from heddle.storm.timeline import Process
from heddle.storm.watch import Watch
from heddle.storm.yarn import SimulatedYarn
from heddle.yarn.live.applying.standing import TABLE, Part, same
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict

_ASKED_FOR: Final = (Verdict.POSTED, Verdict.FAILED)


class DecisionsWatched:
    def __init__(self, watch: Watch, yarn: SimulatedYarn) -> None:
        self._watch, self._yarn = watch, yarn
        self._asked: dict[str, dict[Part, Any]] = {}  # of a process, since its step began
        self._changed: dict[str, dict[Part, Any]] = {}  # of that, what puts nothing back

    def step_begins(self, process: Process) -> None:
        self._asked[process.name], self._changed[process.name] = {}, {}

    def before(self, process: Process, asked: Asked) -> None:
        """A change, just before it comes true."""
        if process.name not in self._asked:
            return
        misled = self._watch.sight_of(process).misled
        for part, value in turned(asked):
            self._asked[process.name][part] = value
            place = self._yarn.truth.places.get(part)
            if place is not None and part[0] not in misled and not place.was_found_as(part[0], value):
                self._changed[process.name][part] = value

    def step(self, process: Process, turns: list[Turn]) -> None:
        """Every decision has an end, and every change a decision."""
        breaks, asked = self._watch.breaks, self._asked[process.name]
        decided: dict[Part, Any] = {}
        for turn in turns:
            if turn.verdict is None or (turn.verdict is Verdict.FAILED) != bool(turn.problem):
                breaks(f"a decision without an end: {turn}")
            if turn.what == TABLE or turn.verdict not in _ASKED_FOR:  # a table is watched by others
                continue
            changed = not same(turn.what, turn.before, turn.wanted)
            if turn.verdict is Verdict.POSTED and not changed and turn.cause is not Cause.HANDOVER:
                breaks(f"a change of nothing: {turn}")
            for part, _, value in turn.parts():
                decided[part] = value
                if turn.verdict is Verdict.POSTED and (part not in asked or not same(part[0], value, asked[part])):
                    breaks(f"{process.name} says that it has changed {part} to {value}, and never asked for that")
        for part, value in self._changed[process.name].items():
            if part not in decided or not same(part[0], value, decided[part]):
                breaks(f"{process.name} changes {part} to {value}, which none of its decisions says")
