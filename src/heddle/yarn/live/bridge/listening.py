"""Hears of new requests as they come, so that a table knows them before the next node does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.wire import YarnError

POLL_S: Final = 10.0
RETRY_S: Final = 1.0


class Listening:
    """wait() ends early when a request has come. Who misses one waits no longer than without this."""

    def __init__(self, endpoint: BridgeEndpoint) -> None:
        self._endpoint = endpoint
        self._came, self._over = threading.Event(), threading.Event()

    def wait(self, timeout_s: float) -> None:
        self._came.wait(max(0.0, timeout_s))
        self._came.clear()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            yield
        finally:
            self._over.set()

    def _listen(self) -> None:
        number = 0
        while not self._over.is_set():
            try:
                heard = self._endpoint.requests_after(number, POLL_S)
                number = int(heard["last"])
                if heard["requests"]:
                    self._came.set()
            except (YarnError, KeyError, ValueError):  # another ResourceManager counts from 0
                number = 0
                self._over.wait(RETRY_S)
