"""A turn of one knob: where it is, where it should be, who had the last word on that, and what became of it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from heddle.yarn.live.applying.standing import QUEUES, Part


class Verdict(StrEnum):
    """What became of a decided change."""

    POSTED = "posted"
    SHADOW = "shadow"  # would have been posted
    UNCHANGED = "unchanged"
    DEAD_BAND = "dead-band"  # too small a change to trouble the RM with
    AWAY = "away"  # the node is lost or being decommissioned, the application has ended
    FAILED = "failed"  # the RM refused or did not answer
    LEFT_ALONE = "left-alone"  # not ours to change


class Cause(StrEnum):
    """What had the last word."""

    LEVER = "lever"
    HANDOVER = "handover"  # the policy in force does not speak of it, one before it did: as it was found
    STALE = "stale"  # the node's metrics do not move: back to its own size
    PRESSURE = "pressure"  # its memory is nearly full: nothing more is promised
    CAP = "cap"  # as much as may be promised at most
    RISE = "rise"  # as much more as may be promised at once
    LARGEST = "largest"  # one node stays as large as it was, so that no request becomes too large for the cluster
    PREEMPTION = "preemption"  # YARN might preempt: a queue would be due less than it holds, or priorities would differ
    STRANGE = "strange"  # it stands where neither we nor anybody before us had put it: wait and see
    FOREIGN = "foreign"  # somebody else has changed it: it is theirs
    OUTSIDE = "outside"  # not among what may be steered
    DECOMMISSIONED = (
        "decommissioned"  # it was being decommissioned: YARN would kill what a smaller size has no room for
    )


class Turn(NamedTuple):
    """Guards look at turns without a verdict; the others are settled."""

    what: str  # as in Standing: sizes, queues, leaves, priorities
    name: str
    before: Any  # None: it is away
    wanted: Any
    cause: Cause = Cause.LEVER
    verdict: Verdict | None = None
    problem: str = ""

    def parts(self) -> Sequence[tuple[Part, Any, Any]]:
        """Every part with where it is and where it should be; of a queue every setting on its own."""
        if self.what != QUEUES:
            return (((self.what, self.name, ""), self.before, self.wanted),)
        return [((self.what, self.name, key), self.before[key], value) for key, value in self.wanted.items()]

    def without(self, parts: Container[Part], cause: Cause) -> Turn:
        """Of a queue, other settings may still be turned; where there are none, it is left alone for this cause."""
        all_of_it = self.parts()
        kept = [one for one in all_of_it if one[0] not in parts]
        if not kept:
            return self.left_alone(cause)
        if len(kept) == len(all_of_it):
            return self
        before, wanted = ({part[2]: value[at] for part, *value in kept} for at in (0, 1))
        return self._replace(before=before, wanted=wanted)

    def left_alone(self, cause: Cause) -> Turn:
        return self._replace(wanted=self.before, cause=cause, verdict=Verdict.LEFT_ALONE)


Turns = tuple[Turn, ...]
