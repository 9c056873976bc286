"""A fake server that answers as long as a `with` lasts."""

from __future__ import annotations

from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Self


class Served:
    """Set `_server` before it is entered."""

    _server: ThreadingHTTPServer

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
