"""What a running controller tells Prometheus: its last step and what it has done so far, as text over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Lock, Thread
from typing import Any

from heddle.model.errors import RunRefused
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.steering.few_served import FewServed
from heddle.yarn.live.steering.other_sites import KEPT_TO_OURSELVES, own_names, why_refused

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OF_NODES = (
    ("heddle_node_reserved_mb", "reserved_mb", "Memory that the node's containers reserve."),
    ("heddle_node_used_mb", "used_mb", "Memory that the node's containers use."),
    ("heddle_node_promised_mb", "promised_mb", "Memory that the node may allocate now."),
    ("heddle_node_metrics_age_seconds", "metrics_age_s", "Age of the node's figures."),
)


class SteeringMetrics:
    """Told after every step; asked by another thread."""

    def __init__(self, policy: str, mode: str) -> None:
        self._about = {"policy": policy, "mode": mode}
        self._lock = Lock()
        self._last: dict[str, Any] | None = None
        self._steps = self._missed = 0
        self._changes: Counter[tuple[str, str]] = Counter()

    def stepped(self, decision: dict[str, Any]) -> None:
        with self._lock:
            self._last = decision
            self._steps += 1
            for turn in decision["knobs"]:
                self._changes[turn["what"], turn["verdict"]] += 1
            for node in decision["nodes"]:
                if node["verdict"] not in (None, Verdict.UNCHANGED):
                    self._changes["sizes", node["verdict"]] += 1

    def in_force(self, policy: str) -> None:
        """Another one acts from now on."""
        with self._lock:
            self._about = {**self._about, "policy": policy}

    def missed(self) -> None:
        """A step for which the ResourceManager did not answer."""
        with self._lock:
            self._missed += 1

    def text(self) -> str:
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _family("heddle_steer_info", "gauge", "The controller's policy and mode.", [(self._about, 1)])
        yield from _family("heddle_steer_steps_total", "counter", "Steps so far.", [({}, self._steps)])
        missed = "Steps without an answer from the ResourceManager."
        yield from _family("heddle_steer_missed_steps_total", "counter", missed, [({}, self._missed)])
        changes = [({"what": what, "verdict": verdict}, n) for (what, verdict), n in sorted(self._changes.items())]
        decided = "Decisions that differ from the current state, by outcome."
        yield from _family("heddle_steer_decisions_total", "counter", decided, changes)
        last = self._last
        if last is None:
            return
        yield from _family("heddle_steer_last_step_timestamp_seconds", "gauge", "Last step.", [({}, last["at"])])
        parts = [({"part": part}, last[f"{part}_ms"] / 1000) for part in ("observe", "decide", "act")]
        yield from _family("heddle_steer_step_seconds", "gauge", "Duration of the last step.", parts)
        yield from _family("heddle_applications", "gauge", "Live applications.", [({}, last["applications"])])
        yield from _family("heddle_containers", "gauge", "Live containers.", [({}, last["containers"])])
        in_full: list[tuple[dict[str, str], float]] = [] if last["in_full_s"] is None else [({}, last["in_full_s"])]
        about = "How long new containers count with their full reservation."
        yield from _family("heddle_steer_in_full_seconds", "gauge", about, in_full)
        for name, field, about in _OF_NODES:
            known = [({"node": node["node"]}, node[field]) for node in last["nodes"] if node[field] is not None]
            yield from _family(name, "gauge", about, known)


def _family(name: str, kind: str, about: str, samples: Iterable[tuple[dict[str, str], float]]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@contextmanager
def served(metrics: SteeringMetrics, host: str, port: int) -> Iterator[str]:
    """The page at /metrics, until the end of the block; gives its address."""

    names = own_names(host)

    class Page(BaseHTTPRequestHandler):
        server_version, sys_version = "heddle", ""

        def do_GET(self) -> None:
            if refused := why_refused(self.headers, names):
                self._answer(403, refused + "\n")
            elif self.path == "/metrics":
                self._answer(200, metrics.text())
            else:
                self._answer(404, "only /metrics exists here\n")

        def _answer(self, status: int, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            for header, value in KEPT_TO_OURSELVES.items():
                self.send_header(header, value)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Scrapes are not worth a line."""

    try:
        server = FewServed((host, port), Page)
    except OSError as error:
        raise RunRefused(f"metrics cannot be served at {host}:{port}: {error.strerror or error}") from None
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
