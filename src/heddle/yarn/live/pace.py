"""How often a daemon is asked: one limit for all who ask it, so that looking is never a load on a cluster."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heddle.yarn.live.world import Clock

CALLS_PER_S: Final = 20  # what a ResourceManager answers without noticing


class Pace:
    """At most `calls_per_s` calls in any second, whichever threads make them; a further one waits for its turn.

    Changes never wait, though they count: what has to be put back is put back at once.
    """

    def __init__(self, calls_per_s: int = CALLS_PER_S, clock: Clock = time) -> None:
        self.calls_per_s = calls_per_s
        self._clock = clock
        self._last: deque[float] = deque(maxlen=calls_per_s)  # when the latest calls were made, or will be
        self._lock = threading.Lock()
        self._waited_s = 0.0
        self.calls = 0

    def turn(self, *, waits: bool = True) -> None:
        """Returns when a call may be made."""
        with self._lock:
            now_s = self._clock.monotonic()
            full = waits and len(self._last) == self.calls_per_s
            at_s = max(now_s, self._last[0] + 1.0) if full else now_s
            self._last.append(at_s)
            self._waited_s += at_s - now_s
            self.calls += 1
        if at_s > now_s:
            self._clock.sleep(at_s - now_s)

    def take_waited_s(self) -> float:
        """Seconds for which calls have waited since this was last asked."""
        with self._lock:
            waited_s, self._waited_s = self._waited_s, 0.0
        return waited_s
