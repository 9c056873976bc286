"""A web server of a thread for each connection that takes only so many, and ends those that take too long."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import suppress
from http.server import ThreadingHTTPServer
from threading import Lock
from typing import Any, Final

from heddle.yarn.live.steering.few_connections import REQUEST_S, WAITING, most_connections

_NO_FILE_LEFT_S: Final = 0.2  # until a connection that could not be taken is tried again


class FewServed(ThreadingHTTPServer):
    """Quiet about connections that fail: whoever makes them would fill our stderr."""

    daemon_threads = True
    request_queue_size = WAITING

    def __init__(self, *given: Any) -> None:
        self._lock = Lock()
        self._due_s: dict[Any, float] = {}  # connection -> when it is to be over
        super().__init__(*given)

    def get_request(self) -> tuple[Any, Any]:
        try:
            return super().get_request()
        except OSError:
            time.sleep(_NO_FILE_LEFT_S)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:
        with self._lock:
            if len(self._due_s) >= most_connections():
                return False
            self._due_s[request] = time.monotonic() + REQUEST_S
        return True

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._due_s.pop(request, None)
        super().close_request(request)

    def service_actions(self) -> None:
        """Called several times a second."""
        now_s = time.monotonic()
        with self._lock:
            late = [request for request, due_s in self._due_s.items() if due_s <= now_s]
        for request in late:
            with suppress(OSError):  # it has just ended by itself
                request.shutdown(socket.SHUT_RDWR)  # its thread then reads or writes in vain, and ends

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
