"""`python -m benchmarks.bridge_latency`: what the bridge costs the ResourceManager it sits in.

A real Capacity scheduler with 1,000 of SLS's simulated nodes and so many requests that wait all the time. The cluster
is full, so that most node updates are futile and the others give out what containers that ended have left. Times are
CPU of the scheduler's own thread: of what else the machine does meanwhile only its caches suffer.
"""

import argparse
import getpass
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from benchmarks.heddle_run import BenchFailed
from benchmarks.loaded_rm import LEAF, NODES, PRIORITY, Load, LoadedRm, Updates, loaded_rm, size_of
from heddle.yarn.live.bridge.endpoint import PATH, BridgeEndpoint, read_secret
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_nodes

LOADS: Final = (Load(10, 1), Load(100, 10), Load(1000, 1), Load(100, 100))
NEW_REQUESTS: Final = Load(10, 1, task_ms=60_000, new_every_ms=2000)
PUT_APPS: Final = 1000
_FULL: Final = 0.85  # of memory: then what is free on a node is mostly too little for anything
_FILLS_S: Final = 120.0
_TABLE_EVERY_S: Final = 1.0
_LEASE_MS: Final = 10_000
_TIMEOUT_S: Final = 120


@dataclass(frozen=True)
class Cost:
    """Of one load. Times are CPU."""

    load: Load
    stock: Updates
    bridged: Updates
    decisions: int
    mean_us: float  # added to a decision
    p99_us: float  # below a power of two
    slowest_us: float

    @property
    def ratio(self) -> float:
        return self.bridged.cpu_us / self.stock.cpu_us


@dataclass(frozen=True)
class PutCost:
    """A table for 1,000 applications and all nodes, each request vetoed on half of them, no two on the same ones."""

    bytes: int
    writing_ms: float  # and signing
    putting_ms: float  # median
    slowest_ms: float


class _Rm:
    """The loaded ResourceManager and, where it has the bridge, a table that names all that waits."""

    def __init__(self, rm: LoadedRm, client: RmClient, bridge: bool) -> None:
        self._rm, self._client, self.endpoint = rm, client, None
        if bridge:
            self.endpoint = BridgeEndpoint(client, read_secret(rm.secret))
            self.nodes = {node.id: node.total for node in read_nodes(client.nodes(), "").values()}
            self._table = self._all_that_waits()

    def _all_that_waits(self) -> Table:
        apps = [
            app["id"] for app in self._client.get("/ws/v1/cluster/apps", deSelects="resourceRequests")["apps"]["app"]
        ]
        chance = random.Random(1)
        rows = []
        for app in apps:
            for request in range(1, self._rm.load.requests + 1):
                term = chance.randrange(1 << 20)
                rows.append(RequestRow(app, PRIORITY, request, LEAF, size_of(request), -term, term))
        return Table("scaled", tuple(rows), self.nodes, (LEAF,))

    def fill(self) -> None:
        until_s = time.monotonic() + _FILLS_S
        while True:
            told = self._client.get("/ws/v1/cluster/metrics")["clusterMetrics"]
            if told["allocatedMB"] > _FULL * told["totalMB"]:
                self.wait(self._rm.load.task_ms / 1000)  # until containers end as often as others begin
                return
            if time.monotonic() > until_s:
                raise BenchFailed(f"the cluster was not full within {_FILLS_S:.0f} s")
            self.wait(_TABLE_EVERY_S)

    def wait(self, seconds: float) -> Updates:
        """What node updates took meanwhile."""
        before, until_s = self._rm.updates(), time.monotonic() + seconds
        while time.monotonic() < until_s:
            if self.endpoint is not None:
                self.endpoint.put(self._table, _LEASE_MS)
            time.sleep(_TABLE_EVERY_S)
        return self._rm.updates().since(before)

    def told(self) -> dict[str, Any]:
        assert self.endpoint is not None
        state = self.endpoint.state()
        assert state is not None
        if state.off:
            raise BenchFailed(f"the bridge turned itself off: {state.off}")
        return state.told


def measure(load: Load, seconds: float) -> Cost:
    stock = _run(load, seconds, bridge=False)[0]
    bridged, before, after = _run(load, seconds, bridge=True)
    walks = after["walks"] - before["walks"]
    by_log2 = [b - a for a, b in zip(before["walks_by_log2_ns"], after["walks_by_log2_ns"], strict=True)]
    mean_us = (after["added_ns"] - before["added_ns"]) / max(1, walks) / 1000
    return Cost(load, stock, bridged, walks, mean_us, _quantile_ns(by_log2, 0.99) / 1000, after["slowest_ns"] / 1000)


def _run(load: Load, seconds: float, *, bridge: bool) -> tuple[Updates, dict[str, Any], dict[str, Any]]:
    with loaded_rm(load, bridge=bridge) as made, _client(made) as client:
        rm = _Rm(made, client, bridge)
        rm.fill()
        before = rm.told() if bridge else {}
        updates = rm.wait(seconds)
        return updates, before, rm.told() if bridge else {}


def _client(rm: LoadedRm) -> RmClient:
    return RmClient(rm.address, timeout_s=_TIMEOUT_S, user=getpass.getuser())


def _quantile_ns(by_log2: Sequence[int], part: float) -> float:
    """The upper end of the bucket in which it is."""
    seen, total = 0, sum(by_log2)
    for log2, count in enumerate(by_log2):
        seen += count
        if seen >= part * total:
            return float(1 << (log2 + 1))
    return 0.0


def measure_put(repeat: int = 10) -> PutCost:
    with loaded_rm(LOADS[0], bridge=True) as made, _client(made) as client:
        rm = _Rm(made, client, bridge=True)
        chance, names = random.Random(1), sorted(rm.nodes)
        rows = tuple(
            RequestRow(
                f"application_1_{app:04d}", PRIORITY, -1, LEAF, size_of(app), app, app,
                vetoed=frozenset(chance.sample(names, NODES // 2)),
            )
            for app in range(1, PUT_APPS + 1)
        )  # fmt: skip
        table = Table("scaled", rows, rm.nodes, (LEAF,))
        assert rm.endpoint is not None
        version, writing_s, putting_s, size = rm.told()["last_version"], [], [], 0
        for _ in range(repeat):
            version += 1
            began_s = time.perf_counter()
            text = table.text(version, _LEASE_MS)
            headers = rm.endpoint.signed("PUT", "", version, text)
            written_s = time.perf_counter()
            client.send("PUT", PATH, text, headers)
            putting_s.append(time.perf_counter() - written_s)
            writing_s.append(written_s - began_s)
            size = len(text.encode())
            time.sleep(0.25)  # no more than five a second
    return PutCost(
        size, 1000 * statistics.median(writing_s), 1000 * statistics.median(putting_s), 1000 * max(putting_s)
    )


@dataclass(frozen=True)
class NamedAfter:
    """From when a request was asked to when the ResourceManager has a table that names it."""

    requests: int
    p50_ms: float
    p99_ms: float


def measure_long_poll(seconds: float, load: Load = NEW_REQUESTS) -> NamedAfter:
    """A live controller as people start it; an application asks for something new every so often."""
    with loaded_rm(load, bridge=True) as made, _client(made) as client:
        rm = _Rm(made, client, bridge=True)
        command = [
            sys.executable, "-c", "from heddle.cli.main import main; main()", "yarn", "steer", "--rm", made.address,
            "--mode", "live", "--policy", "haste", "--bridge-secret", str(made.secret), "--accept-sizes",
        ]  # fmt: skip
        said = made.folder / "said"
        state = os.environ | {"XDG_STATE_HOME": str(made.folder / "state")}
        with said.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file, env=state) as controller:
            try:
                until_s = time.monotonic() + _FILLS_S
                while rm.told()["table"] is None:
                    if controller.poll() is not None or time.monotonic() > until_s:
                        raise BenchFailed(f"the controller made no table: {said.read_text()[-400:]}")
                    time.sleep(1)
                time.sleep(5)  # what waited before it came is named by now
                before = rm.told()["named_after_us"]
                time.sleep(seconds)
                new_us = sorted(rm.told()["named_after_us"][len(before) :])
                if not new_us:
                    raise BenchFailed("no new request was named by a table")
            finally:
                controller.send_signal(signal.SIGINT)
    p50_us, p99_us = (new_us[math.ceil(part * len(new_us)) - 1] for part in (0.5, 0.99))
    return NamedAfter(len(new_us), p50_us / 1000, p99_us / 1000)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.bridge_latency", description=__doc__)
    options.add_argument("--seconds", type=float, default=30, help="for which each load is watched")
    options.add_argument("--apps", type=int, help="one load alone: so many applications ...")
    options.add_argument("--requests", type=int, default=1, help="... with so many requests each")
    options.add_argument("--put", action="store_true", help="only the large table")
    options.add_argument("--long-poll", action="store_true", help="only how soon a table knows a request")
    options.add_argument("--nodes", type=int, default=NODES, help="of --long-poll")
    chosen = options.parse_args()
    if chosen.long_poll:
        named = measure_long_poll(chosen.seconds, replace(NEW_REQUESTS, nodes=chosen.nodes))
        print(
            f"{named.requests} requests were named p50 {named.p50_ms:.0f} ms, p99 {named.p99_ms:.0f} ms after they came"
        )
        return
    loads = () if chosen.put else LOADS if chosen.apps is None else (Load(chosen.apps, chosen.requests),)
    for load in loads:
        cost = measure(load, chosen.seconds)
        print(
            f"{load.waiting:6} requests of {load.apps:4} applications: a decision +{cost.mean_us:.0f} us"
            f" (p99 < {cost.p99_us:.0f}, slowest {cost.slowest_us:.0f}, {cost.decisions} of them); node update"
            f" {cost.stock.cpu_us:.0f} us stock, {cost.bridged.cpu_us:.0f} us bridged, {cost.ratio:.2f}x"
            f" ({cost.stock.count} and {cost.bridged.count}; {cost.stock.given} and {cost.bridged.given} containers)",
            flush=True,
        )
    if chosen.apps is None:
        put = measure_put()
        print(
            f"a table for {PUT_APPS} applications and {NODES} nodes: {put.bytes / 1e6:.2f} MB; written and signed in"
            f" {put.writing_ms:.0f} ms, put in {put.putting_ms:.0f} ms (slowest {put.slowest_ms:.0f})"
        )


if __name__ == "__main__":
    main()
