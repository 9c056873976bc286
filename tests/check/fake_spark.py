"""A Spark history server with made-up event logs, for tests."""

from __future__ import annotations

import io
import json
import ssl
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from yarn_live.fake_cluster import FakeApp
from yarn_live.serving import Served

SIZE_MB, EXECUTORS = 2048, 4
Reply = tuple[int, dict[str, str], bytes]  # status, headers, content


def event_log(app: FakeApp, tasks: int = 12, longest_ms: int = 5000) -> str:
    """Four executors of two cores; one stage, whose last task is the longest."""
    start = app.submitted_at_ms
    events: list[dict[str, Any]] = [
        {"Event": "SparkListenerApplicationStart", "App ID": app.id, "Timestamp": start, "User": "ann"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.executor.memory": f"{SIZE_MB}m"}},
    ]  # fmt: skip
    events += [
        {"Event": "SparkListenerExecutorAdded", "Executor ID": str(n), "Executor Info": {"Total Cores": 2}}
        for n in range(EXECUTORS)
    ]
    for n in range(tasks):
        took = longest_ms if n == tasks - 1 else 5000
        info = {"Task ID": n, "Index": n, "Launch Time": start + 3000, "Finish Time": start + 3000 + took}
        metrics = {"Executor CPU Time": took * 500_000}
        peak = {"JVMHeapMemory": 600 << 20, "JVMOffHeapMemory": 0}
        events.append({"Event": "SparkListenerTaskStart", "Stage ID": 0, "Task Info": info})
        events.append({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Task End Reason": {"Reason": "Success"},
                       "Task Info": info, "Task Metrics": metrics, "Task Executor Metrics": peak})  # fmt: skip
    return "\n".join(map(json.dumps, events)) + "\n"


def zipped(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


class FakeSparkHistory(Served):
    """Gives archives away as Spark's does, by application; `root`: what stands in front of its paths.

    `asked`: every path and the Authorization that came with it. `instead`: what it replies to everything. `wants`: the
    Authorization without which it answers 401.
    """

    def __init__(self, archives: dict[str, bytes], root: str = "", tls: tuple[Path, Path] | None = None) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.instead: Reply | None = None
        self.wants: str | None = None
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path, proof = urlsplit(self.path).path, self.headers["Authorization"]
                fake.asked.append((path, proof))
                archive = archives.get(path.removeprefix(f"{root}/api/v1/applications/").removesuffix("/logs"))
                reply: Reply = (200, {}, archive) if archive else (404, {}, b"no such app")
                if fake.wants is not None and proof != fake.wants:
                    reply = (401, {"WWW-Authenticate": "Negotiate"}, b"who are you?")
                status, headers, content = fake.instead or reply
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

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
