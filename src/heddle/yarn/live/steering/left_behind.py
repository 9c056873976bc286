"""What a dead controller has left behind, put back by whoever finds it: the watchdog, `restore`, the next session."""

from __future__ import annotations

from collections.abc import Callable

from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.putting_back import PutBack, put_ours_back
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.world import Clock


def put_back_left(knobs: Knobs, ownership: Ownership, clock: Clock, say: Callable[[str], None]) -> list[PutBack]:
    """Puts back what a dead controller has left, but for what somebody else has changed since."""

    def release(theirs: Standing) -> None:
        say(f"changed by someone else and left alone: {', '.join(theirs.names())}")

    return put_ours_back(knobs, ownership, clock, release)
