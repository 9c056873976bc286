"""Connections that lose patience while a server is late on purpose: a busy machine is late, too, and no fault."""

from __future__ import annotations

from collections.abc import Callable

from heddle.yarn.live.connection import Answer, HttpConnection
from heddle.yarn.live.wire import Connect

PATIENT_S = 60.0


def patient_unless(is_late: Callable[[], bool], hasty_s: float) -> Connect:
    """Waits `hasty_s` for an answer while `is_late()`, and long otherwise."""

    class Unless(HttpConnection):
        def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
            self._timeout_s = self._http.timeout = hasty_s if is_late() else PATIENT_S
            return super().ask(method, target, body, headers)

    return Unless
