"""Stands between a controller and a real ResourceManager, and answers wrongly on demand."""

import time
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from yarn_live.serving import Served

LATE_S: Final = 1.5
FAULTS: Final = ("not JSON", "half a document", "another document", "cut off", "late", "401", "403", "500")


class FaultyProxy(Served):
    """`fault`: one of FAULTS for whatever is asked; "" is none. `denies`: changes are made, and then denied."""

    def __init__(self, address: str) -> None:
        self.fault, self.denies = "", False
        proxy, real = self, urlsplit(address).netloc

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._pass_on()

            def do_POST(self) -> None:
                self._pass_on()

            def do_PUT(self) -> None:
                self._pass_on()

            def do_DELETE(self) -> None:
                self._pass_on()

            def _pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy.fault in ("401", "403", "500"):
                    self._answer(int(proxy.fault), b"no", "text/plain")
                    return
                of_bridge = [name for name in self.headers if name.startswith("X-Heddle-")]
                asked = {
                    name: self.headers[name] for name in ("Accept", "Content-Type", *of_bridge) if name in self.headers
                }
                connection = HTTPConnection(real, timeout=10)
                try:
                    connection.request(self.command, self.path, body or None, asked)
                    answer = connection.getresponse()
                    status, data = answer.status, answer.read()
                finally:
                    connection.close()
                if proxy.denies and self.command != "GET":
                    status, data = 500, b"no"
                self._answer(status, data, answer.getheader("Content-Type") or "text/plain")

            def _answer(self, status: int, data: bytes, kind: str) -> None:
                fault = proxy.fault
                if fault == "late":
                    time.sleep(LATE_S)
                wrong = {
                    "not JSON": b"<html>",
                    "half a document": data[: len(data) // 2],
                    "another document": b'{"nodes": 7, "apps": [1], "scheduler": "none"}',
                }
                data = wrong.get(fault, data)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if fault == "cut off" else data)
                self.close_connection = fault in ("cut off", "late")

            def handle(self) -> None:
                try:
                    super().handle()
                except (OSError, HTTPException):  # whoever asked has given up, or who should answer is gone
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
