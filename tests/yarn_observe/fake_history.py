"""A JobHistoryServer for tests: real HTTP, in the shapes that Hadoop 3.4.2 answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from heddle.yarn.observe.history import ROOT
from yarn_live.serving import Served


@dataclass
class FakeHistory(Served):
    """`jobs`: application id -> task id -> attempts. `asked` counts what was asked for."""

    jobs: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    masters: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    status: int = 200  # anything else: that is all that it answers
    hangs_up: bool = False  # without an answer
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                fake.asked.append(path)
                status, answer = fake.get(path.removeprefix(ROOT + "/").split("/"))
                if fake.hangs_up:
                    self.close_connection = True
                    return
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        return super().__enter__()

    def add_attempt(
        self, app: str, task: str, container: str, node: str, began_ms: int, ended_ms: int, **more: Any
    ) -> None:
        attempts = self.jobs.setdefault(app, {}).setdefault(f"task_{task}", [])
        row = {
            "startTime": began_ms, "finishTime": ended_ms, "elapsedTime": ended_ms - began_ms, "progress": 100.0,
            "id": f"attempt_{task}_{len(attempts)}", "rack": "/default-rack", "state": "SUCCEEDED", "status": "",
            "nodeHttpAddress": node, "diagnostics": "", "type": "REDUCE" if "_r_" in task else "MAP",
            "assignedContainerId": container,
        }  # fmt: skip
        attempts.append(row)

    def get(self, path: list[str]) -> tuple[int, Any]:
        if self.status != 200:
            return self.status, {}
        app = path[0].replace("job", "application")
        if app not in self.jobs:
            return 404, {"RemoteException": {"exception": "NotFoundException"}}
        tasks = self.jobs[app]
        if len(path) == 1:
            return 200, {"job": {"id": path[0], "state": "SUCCEEDED"}}
        if path[1:] == ["jobattempts"]:
            return 200, {"jobAttempts": {"jobAttempt": self.masters.get(app, [])}}
        if path[1:] == ["tasks"]:
            return 200, {"tasks": {"task": [{"id": task} for task in tasks]}}
        if path[1:] == ["counters"]:
            counter = {"name": "CPU_MILLISECONDS", "totalCounterValue": 1234}
            group = {"counterGroupName": "org.apache.hadoop.mapreduce.TaskCounter", "counter": [counter]}
            return 200, {"jobCounters": {"id": path[0], "counterGroup": [group]}}
        if path[1:] == ["conf"]:
            settings = {"mapreduce.map.memory.mb": "-1", "yarn.app.mapreduce.am.resource.mb": "512"}
            return 200, {"conf": {"property": [{"name": name, "value": value} for name, value in settings.items()]}}
        return 200, {"taskAttempts": {"taskAttempt": tasks[path[2]]}}
