"""Hears of new requests in a storm, where nothing waits for an answer in a thread of its own."""

from __future__ import annotations

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.listening import Listening
from heddle.yarn.live.world import Clock


class AskedNow(Listening):
    """It asks halfway through each wait, and hears of whatever has come until then."""

    def __init__(self, endpoint: BridgeEndpoint, clock: Clock) -> None:
        super().__init__(endpoint)
        self._clock = clock

    def wait(self, timeout_s: float) -> bool:
        until_s = self._clock.monotonic() + max(0.0, timeout_s)
        self._clock.sleep(max(0.0, timeout_s) / 2)
        self.hear(0.0)
        if super().wait(0.0):
            return True
        self._clock.sleep(max(0.0, until_s - self._clock.monotonic()))
        return False
