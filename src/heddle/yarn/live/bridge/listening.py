"""Hears of new requests as they come, so that a table knows them before the next node does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.ids import application_id
from heddle.yarn.live.rm_answers import whole
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError

POLL_S: Final = 10.0
RETRY_S: Final = 1.0


class NewRequest(NamedTuple):
    """All containers that an application now asks for at one priority and allocation id."""

    app: str
    priority: int
    allocation: int
    size: Size
    containers: int


class Listening:
    """Who misses a request waits no longer than without this."""

    def __init__(self, endpoint: BridgeEndpoint) -> None:
        self._endpoint = endpoint
        self._came, self._over = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._new: list[NewRequest] = []
        self._missed = False
        self._last = 0  # the number of the last request that it has heard of

    def wait(self, timeout_s: float) -> bool:
        """Whether a request came before the time was over."""
        return self._came.wait(max(0.0, timeout_s))

    def take(self) -> list[NewRequest] | None:
        """Those that came since this was last asked; None: some of them are not known."""
        with self._lock:
            new, missed = self._new, self._missed
            self._new, self._missed = [], False
            self._came.clear()
        return None if missed else new

    @contextmanager
    def at_work(self) -> Iterator[None]:
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            yield
        finally:
            self._over.set()

    def _listen(self) -> None:
        while not self._over.is_set():
            if not self.hear(POLL_S):
                self._over.wait(RETRY_S)

    def hear(self, wait_s: float) -> bool:
        """One question, which is answered as soon as a request comes. Whether it was answered."""
        try:
            self._last = self._take_in(self._endpoint.requests_after(self._last, wait_s))
        except (YarnError, KeyError, TypeError, ValueError):
            self._last = 0  # another ResourceManager counts from there
            return False
        return True

    def _take_in(self, heard: dict[str, Any]) -> int:
        """The number of the last."""
        new = [_new(row) for row in heard["requests"]]
        with self._lock:
            self._new += new
            self._missed = self._missed or bool(heard["missed"])
            if self._new or self._missed:
                self._came.set()
        return int(heard["last"])


def _new(row: dict[str, Any]) -> NewRequest:
    size = whole(row["memory_mb"]), whole(row["millicores"])
    return NewRequest(
        application_id(row["app"]), whole(row["priority"]), int(row["allocation"]), size, whole(row["containers"])
    )
