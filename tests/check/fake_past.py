"""A cluster with a past, for tests: applications that have ended, and a history server that made up their jobs."""

from __future__ import annotations

import json
import random
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from heddle.yarn.observe.history import ROOT
from yarn_live.fake_cluster import CLUSTER_AT_MS, FakeApp, FakeCluster
from yarn_live.serving import Served

MB = 1 << 20
MINUTE_MS = 60_000
# What the Capacity scheduler writes down.
AM_LIMIT = "not yet activated. Queue's AM resource limit exceeded.  Details : AM Partition = <DEFAULT_PARTITION>"


def add_past(
    rm: FakeCluster, count: int, *, minutes: float, kind: str = "SPARK", containers: int = 6, size_mb: int = 2048
) -> list[FakeApp]:
    """Applications that ended in the last minutes, evenly, each of as many containers for about four minutes."""
    now_ms = int(time.time() * 1000)
    rm.now_ms = now_ms
    draw = random.Random(count)
    made = []
    for number in range(count):
        app = rm.add_app("default" if number % 3 else "batch", ("ann", "ben", "eva")[number % 3])
        took_ms = draw.randrange(200_000, 280_000)
        app.name, app.kind = f"etl-{number % 4} 2024-01-{number:05d}", kind
        app.state = app.final_status = "FINISHED"
        app.final_status = "SUCCEEDED"
        app.finished_at_ms = now_ms - round(MINUTE_MS * minutes * (count - number) / count) - 1000
        app.submitted_at_ms = app.finished_at_ms - took_ms
        app.launched_at_ms = app.submitted_at_ms + 2000
        app.memory_mb_seconds = (containers * size_mb + 1024) * (took_ms - 2000) // 1000
        app.vcore_seconds = (containers + 1) * (took_ms - 2000) // 1000
        made.append(app)
    return made


def busy(rm: FakeCluster, nodes: int = 6) -> None:
    """An application that runs everywhere, and one that waits for ten minutes to start."""
    running = rm.add_app()
    rm.start_am(running, "n0:1", 1024, 1)
    running.submitted_at_ms = rm.now_ms - 10 * MINUTE_MS
    for number in range(nodes):
        for _ in range(4):
            rm.allocate(running, f"n{number}:1", 2048, 1)
    waiting = rm.add_app("batch")
    waiting.submitted_at_ms, waiting.diagnostics = rm.now_ms - 10 * MINUTE_MS, AM_LIMIT
    waiting.asks = [(0, 1024, 1, 1)]


class MadeUpHistory(Served):
    """A history server with so many jobs, in the shapes of Hadoop 3.4.2; they are made when they are asked for.

    Job `number` has the id of application `number`. `asked`: every path, in order.
    """

    def __init__(self, jobs: int, *, minutes: float = 600.0, maps: int = 8, reduces: int = 2) -> None:
        self.jobs, self.maps, self.reduces = jobs, maps, reduces
        self.asked: list[str] = []
        self.counters: dict[str, tuple[int, int]] = {
            "PHYSICAL_MEMORY_BYTES": (maps * 400 * MB, reduces * 500 * MB),
            "MAP_PHYSICAL_MEMORY_BYTES_MAX": (480 * MB, 0),
            "REDUCE_PHYSICAL_MEMORY_BYTES_MAX": (0, 600 * MB),
            "CPU_MILLISECONDS": (maps * 20_000, reduces * 9000),
            "GC_TIME_MILLIS": (maps * 200, reduces * 90),
            "SPILLED_RECORDS": (1000, 1000),
            "MAP_OUTPUT_RECORDS": (1000, 0),
        }
        self.longest_map_ms = 30_000
        self._now_ms = int(time.time() * 1000)
        self._step_ms = MINUTE_MS * minutes / max(1, jobs)
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                fake.asked.append(parts.path)
                answer = fake.answer(parts.path.removeprefix(ROOT).strip("/").split("/"), parse_qs(parts.query))
                data = json.dumps(answer or {"RemoteException": {"exception": "NotFoundException"}}).encode()
                self.send_response(200 if answer else 404)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: list[str], query: dict[str, list[str]]) -> dict[str, Any] | None:
        if path == [""]:
            begin, end = (int(query[f"finishedTime{name}"][0]) for name in ("Begin", "End"))
            limit = int(query["limit"][0])
            # Job n ended n steps before now: only those of the window are made.
            first = max(1, int((self._now_ms - end) / self._step_ms))
            last = min(self.jobs, int((self._now_ms - begin) / self._step_ms) + 1)
            rows = (self._job(number) for number in range(first, last + 1))
            found = [row for row in rows if begin <= row["finishTime"] <= end]
            return {"jobs": {"job": found[:limit]} if found else None}
        number = int(path[0].rpartition("_")[2])
        if not 1 <= number <= self.jobs:
            return None
        if path[1] == "tasks":
            return {"tasks": {"task": self._tasks(number)}}
        if path[1] == "counters":
            rows = [
                {"name": name, "mapCounterValue": m, "reduceCounterValue": r, "totalCounterValue": m + r}
                for name, (m, r) in self.counters.items()
            ]
            return {"jobCounters": {"counterGroup": [{"counterGroupName": "all", "counter": rows}]}}
        settings = {
            "mapreduce.map.memory.mb": "2048", "mapreduce.reduce.memory.mb": "3072",
            "yarn.app.mapreduce.am.resource.mb": "1536", "mapreduce.map.cpu.vcores": "1",
        }  # fmt: skip
        return {"conf": {"property": [{"name": name, "value": value} for name, value in settings.items()]}}

    def _job(self, number: int) -> dict[str, Any]:
        end_ms = round(self._now_ms - number * self._step_ms)
        return {
            "submitTime": end_ms - 70_000, "startTime": end_ms - 66_000, "finishTime": end_ms,
            "id": f"job_{CLUSTER_AT_MS}_{number:04d}", "name": f"word count {number}", "queue": "default",
            "user": "ann", "state": "SUCCEEDED", "mapsTotal": self.maps, "mapsCompleted": self.maps,
            "reducesTotal": self.reduces, "reducesCompleted": self.reduces,
        }  # fmt: skip

    def _tasks(self, number: int) -> list[dict[str, Any]]:
        start_ms = self._job(number)["startTime"]
        spans = [("MAP", start_ms, start_ms + 25_000 + 100 * n) for n in range(self.maps - 1)]
        spans.append(("MAP", start_ms, start_ms + self.longest_map_ms))
        spans += [("REDUCE", start_ms + 10_000, start_ms + self.longest_map_ms + 9000)] * self.reduces
        return [
            {"startTime": begin, "finishTime": end, "state": "SUCCEEDED", "id": f"task_{number}_{n}", "type": kind}
            for n, (kind, begin, end) in enumerate(spans)
        ]
