"""What becomes of knobs when another policy takes over.

Those that it speaks of go from where they stand to where it wants them. The others are put back as they were found.
"""

from __future__ import annotations

from typing import Any

from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.standing import QUEUES, SIZES, Knob, Standing, same
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict


def not_spoken_of(found: Standing, wanted: Standing) -> Standing:
    """Of knobs as they were found, those that `wanted` leaves out; of a queue, the settings."""
    queues = {
        name: {key: value for key, value in settings.items() if key not in wanted.queues.get(name, {})}
        for name, settings in found.queues.items()
    }
    rest = found.without(wanted.knobs())
    return Standing(rest.sizes, {name: some for name, some in queues.items() if some}, rest.priorities, rest.leaves)


class HandingOver:
    """On a live cluster that takes its time: a turn may be refused, a node be away, YARN preempt if it became smaller.
    So what the last policy leaves behind is turned, past the guards, until it is back."""

    def __init__(self) -> None:
        self.owed = Standing()  # as it was found

    def begin(self, ownership: Ownership) -> None:
        """Another policy is in force from the next step on: at first it is owed everything that was ever turned."""
        self.owed = ownership.found.only(ownership.turned)

    def still(self, wanted: Standing) -> Standing:
        """What is to be put back beside what the policy in force wants, which is no longer ours to put back."""
        self.owed = not_spoken_of(self.owed, wanted)
        return self.owed

    def saw(self, turns: list[Turn]) -> None:
        """What is back, or somebody else's, is owed no longer."""
        self.owed = self.owed.without([knob for turn in turns if (knob := self._over(turn)) is not None])

    def _over(self, turn: Turn) -> Knob | None:
        knob = turn.what, turn.name
        found = self.owed.of(turn.what).get(turn.name)
        if found is None:
            return None
        if turn.verdict is Verdict.AWAY:  # a node may come back as we made it; an application is over
            return None if turn.what == SIZES else knob
        if turn.verdict is Verdict.LEFT_ALONE:
            return None if turn.cause in (Cause.STRANGE, Cause.DECOMMISSIONED, Cause.PREEMPTION) else knob
        return knob if turn.verdict is Verdict.UNCHANGED and _is_back(turn, found) else None


def _is_back(turn: Turn, found: Any) -> bool:
    """A turn of a queue has the settings that differ from what is wanted, among them those that are not back."""
    if turn.what != QUEUES:
        return same(turn.what, turn.before, found)
    return all(key not in turn.before or same(QUEUES, turn.before[key], value) for key, value in found.items())
