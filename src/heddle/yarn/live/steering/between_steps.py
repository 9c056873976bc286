"""What a session with the bridge does until its next step: requests that come are named at once, without a look."""

from __future__ import annotations

from heddle.yarn.live.bridge.listening import Listening
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.steering.bridging import TABLES_PER_S
from heddle.yarn.live.steering.session import Session
from heddle.yarn.live.world import Clock


class BetweenSteps:
    def __init__(self, session: Session, listening: Listening, clock: Clock) -> None:
        self._session, self._listening, self._clock = session, listening, clock
        self._pace = Pace(TABLES_PER_S, clock)
        self._tables = 0

    def wait(self, seconds: float) -> None:
        """Ends early where requests have come that only a look can make known."""
        until_s = self._clock.monotonic() + seconds
        while self._listening.wait(until_s - self._clock.monotonic()):
            self._pace.turn()
            new = self._listening.take()
            if new is None or not self._session.name_newcomers(new):
                return
            self._tables += 1

    def take_tables(self) -> int:
        """How many were sent since this was last asked."""
        tables, self._tables = self._tables, 0
        return tables
