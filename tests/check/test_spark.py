"""Spark applications of the past: from a folder of event logs, and from a history server that gives them away."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from yarn_live.fake_cluster import FakeApp
from yarn_live.fake_rm import FakeRm
from yarn_live.serving import Served

from .fake_past import add_past
from .test_check import Capture, document

SIZE_MB, EXECUTORS = 2048, 4


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


class FakeSparkHistory(Served):
    """Gives event logs away as Spark's does: zipped, by application."""

    def __init__(self, logs: dict[str, str]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                log = logs.get(self.path.removeprefix("/api/v1/applications/").removesuffix("/logs"))
                packed = io.BytesIO()
                with zipfile.ZipFile(packed, "w") as file:
                    file.writestr("../../outside", log or "")
                self.send_response(200 if log else 404)
                self.end_headers()
                self.wfile.write(packed.getvalue())

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as fake:
        for number in range(4):
            fake.add_node(f"n{number}:1", 16384, 16)
        yield fake


def test_a_history_server_and_a_folder_tell_the_same(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    apps = add_past(rm, 12, minutes=60)
    logs = {app.id: event_log(app) for app in apps[2:]}
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    with FakeSparkHistory(logs) as server:
        served = document(capsys, rm.address, "--spark-history", server.address, code=1)
    read = document(capsys, rm.address, "--spark-history", str(tmp_path), code=1)
    for told in (served, read):
        assert (told["jobs"]["spark"], told["jobs"]["spark_read"]) == (12, 10)
        assert told["jobs"]["known"]["in detail"] == 10
        assert "the event logs of 10 Spark applications" in told["use"]["from"]
    assert served["policies"]["summary"] == read["policies"]["summary"]
    assert not (tmp_path.parent / "outside").exists()
    assert run(["check", rm.address, "--spark-history", str(tmp_path / "nowhere")]) == 2
    assert "is neither a folder nor an http address" in capsys.readouterr().err


def test_one_spark_application(rm: FakeRm, capsys: Capture) -> None:
    (app,) = add_past(rm, 1, minutes=10)
    with FakeSparkHistory({app.id: event_log(app, longest_ms=60_000)}) as server:
        told = document(capsys, rm.address, "--application", app.id, "--spark-history", server.address)
    found = {one["key"]: one for one in told["findings"]}
    assert found.keys() == {"stage-skew", "too-many-executors", "executor-memory"}
    assert "12.0 times the median" in found["stage-skew"]["says"]
    assert "Its 4 executors were busy" in found["too-many-executors"]["says"]
    assert told["read"] == ["based on its event log"]
