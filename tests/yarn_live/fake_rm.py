"""A ResourceManager for tests: a real HTTP server in front of a fake cluster."""

from __future__ import annotations

import json
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .fake_cluster import FakeCluster
from .serving import Served


class FakeRm(FakeCluster, Served):
    """Start it with `with FakeRm() as rm`."""

    def __init__(self, tls: tuple[Path, Path] | None = None) -> None:
        """`tls`: certificate and key; None: plain HTTP."""
        super().__init__()
        self.challenge = ""  # how a 401 wants to be answered
        self.cuts_answers = False  # half of each, then the connection ends
        self.delay_s = 0.0  # before each answer
        self._lock = Lock()
        rm = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                with rm._lock:
                    self._answer(*rm.get(unquote(parts.path), parse_qs(parts.query)))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with rm._lock:
                    self._answer(*rm.post(unquote(urlsplit(self.path).path), body))

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with rm._lock:
                    self._answer(*rm.put(unquote(urlsplit(self.path).path), body))

            def _answer(self, status: int, text: str) -> None:
                data = text.encode()
                time.sleep(rm.delay_s)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                if status == 401 and rm.challenge:
                    self.send_header("WWW-Authenticate", rm.challenge)
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if rm.cuts_answers else data)
                self.close_connection = rm.cuts_answers

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that does not trust it
        self.address = f"http{'s' * (tls is not None)}://127.0.0.1:{self._server.server_address[1]}"
