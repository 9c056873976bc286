"""What becomes of knobs when another policy takes over.

Those that it speaks of go from where they stand to where it wants them. The others are put back as they were found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.standing import SIZES, Part, Standing, same
from heddle.yarn.live.applying.turn import Cause, Turn, Verdict

# What keeps a knob from being turned for a while only.
_WAITS: Final = frozenset({Cause.STRANGE, Cause.DECOMMISSIONED, Cause.PREEMPTION})


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
        self.owed = self.owed.without(wanted.every_part())
        return self.owed

    def saw(self, turns: list[Turn]) -> None:
        """What is back, or somebody else's, is owed no longer."""
        owed = dict(self.owed.parts())
        self.owed = self.owed.without([part for turn in turns for part in _over(turn, owed)])


def _over(turn: Turn, owed: Mapping[Part, Any]) -> Iterator[Part]:
    if turn.verdict is Verdict.AWAY:  # a node may come back as we made it; an application is over
        if turn.what != SIZES:
            yield turn.what, turn.name, ""
        return
    is_theirs = turn.verdict is Verdict.LEFT_ALONE and turn.cause not in _WAITS
    for part, now, _ in turn.parts():
        is_back = turn.verdict is Verdict.UNCHANGED and part in owed and same(part[0], now, owed[part])
        if is_theirs or is_back:
            yield part
