"""A real ResourceManager with a thousand of SLS's simulated nodes, under a steady load (BridgeLoad.java)."""

import getpass
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.heddle_run import BenchFailed
from heddle.model.cluster import Queue
from heddle.traces.clusters import load_cluster
from heddle.yarn.live.bridge.leaves import ORDERING
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import lay_out, rm_settings
from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP, hadoop_home, lib_of, load_simulator_jars
from heddle.yarn.testbed.local.java import find_java
from heddle.yarn.testbed.local.layout import HOST
from heddle.yarn.testbed.local.own_jar import jar_of
from heddle.yarn.testbed.sls.run import SOURCE as SCHEDULER_LOAD
from heddle.yarn.testbed.sls.run import write_nodes
from heddle.yarn.testbed.sls.settings import write_settings

SOURCE: Final = Path(__file__).with_name("BridgeLoad.java")
_CLASS: Final = "org.apache.hadoop.yarn.sls.appmaster.BridgeLoad"
NODES, NODE_MB, NODE_VCORES = 1000, 10_000, 16
LEAF: Final = "root.load"
PRIORITY, SIZES = 5, 10  # as in BridgeLoad.java
_HEAP_MB: Final = 2048
_STARTS_S: Final = 240.0


@dataclass(frozen=True)
class Load:
    """Requests that wait all the time."""

    apps: int
    requests: int  # of each of them
    task_ms: int = 20_000
    new_every_ms: int = 0  # the first application asks for something new; 0: never
    nodes: int = NODES

    @property
    def waiting(self) -> int:
        return self.apps * self.requests

    @property
    def containers(self) -> int:
        """So many does each request ask for, that a cluster is filled within a minute."""
        return max(2, 20_000 // self.waiting)


@dataclass(frozen=True)
class Updates:
    """Node updates since the start, and containers given out."""

    count: int
    cpu_ns: int
    wall_ns: int
    given: int

    def since(self, before: "Updates") -> "Updates":
        return Updates(
            self.count - before.count,
            self.cpu_ns - before.cpu_ns,
            self.wall_ns - before.wall_ns,
            self.given - before.given,
        )

    @property
    def cpu_us(self) -> float:
        return self.cpu_ns / max(1, self.count) / 1000


@dataclass(frozen=True)
class LoadedRm:
    address: str
    folder: Path
    load: Load

    @property
    def secret(self) -> Path:
        return self.folder / "bridge" / "secret"

    def updates(self) -> Updates:
        return Updates(*map(int, (self.folder / "updates").read_text().split()))


def size_of(request: int) -> tuple[int, int]:
    """MB and millicores of a request, by its number; as in BridgeLoad.java."""
    size = request % SIZES
    return 1024 + 256 * size, 1000 * (1 + size % 3)


@contextmanager
def loaded_rm(load: Load, *, bridge: bool) -> Iterator[LoadedRm]:
    """With all applications running. `bridge`: the leaf asks it; otherwise no part of it is there."""
    with tempfile.TemporaryDirectory(prefix="heddle-loaded-rm-") as name:
        folder = Path(name)
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port = probe.getsockname()[1]
        class_path = _configure(folder, load, port, bridge)
        words = [load.requests, load.containers, load.task_ms, load.new_every_ms]
        command: list[str | Path] = [
            find_java(), "--add-opens=java.base/java.lang=ALL-UNNAMED", f"-Xmx{_HEAP_MB}m", "-XX:-UsePerfData",
            "-Djava.net.preferIPv4Stack=true", f"-Djdk.net.hosts.file={folder / 'hosts'}", f"-Djava.io.tmpdir={folder}",
            "-cp", class_path, _CLASS, folder / "jobs.json", folder / "nodes.json", folder, *map(str, words),
        ]  # fmt: skip
        log = folder / "log"
        with log.open("wb") as file:
            ran = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder)
        made = LoadedRm(f"http://{HOST}:{port}", folder, load)
        try:
            until_s = time.monotonic() + _STARTS_S
            while not _all_run(made):
                if ran.poll() is not None or time.monotonic() > until_s:
                    end = " / ".join(log.read_text(errors="replace").splitlines()[-4:])
                    raise BenchFailed(f"the loaded ResourceManager did not start: {end}")
                time.sleep(1)
            yield made
        finally:
            ran.kill()
            ran.wait()


def _all_run(made: LoadedRm) -> bool:
    try:
        with RmClient(made.address, timeout_s=30, user=getpass.getuser()) as client:
            told = client.get("/ws/v1/cluster/metrics")["clusterMetrics"]
    except (YarnError, KeyError):
        return False
    return int(told["appsRunning"]) == made.load.apps and (made.folder / "updates").exists()


def _configure(folder: Path, load: Load, port: int, bridge: bool) -> str:
    """Everything that it reads; its class path."""
    cluster = load_cluster(f"{load.nodes}x{NODE_MB}x{NODE_VCORES}")
    cluster = replace(cluster, queues=(*cluster.queues, Queue(LEAF)))
    yarn = {
        "yarn.resourcemanager.webapp.address": f"{HOST}:{port}",
        "yarn.resourcemanager.scheduler.class": f"{_CLASS}$TimedScheduler",
    }
    capacity = {"yarn.scheduler.capacity.maximum-am-resource-percent": "1.0"}
    jars = f"{lib_of(hadoop_home(DEFAULT_HADOOP))}/*:{load_simulator_jars(DEFAULT_HADOOP)}/*"
    class_path = f"{folder}:{jar_of('bridgeload', [SCHEDULER_LOAD, SOURCE], DEFAULT_HADOOP, jars)}:{jars}"
    if bridge:
        lay_out(folder / "bridge", bridge_jar())
        yarn |= rm_settings(folder / "bridge")
        capacity[f"yarn.scheduler.capacity.{LEAF}.ordering-policy"] = ORDERING
        class_path = f"{bridge_jar()}:{class_path}"
    more = {
        "yarn-site.xml": yarn,
        "capacity-scheduler.xml": capacity,
        "sls-runner.xml": {
            "yarn.sls.am.type.mapreduce": f"{_CLASS}$AskingJob",
            "yarn.sls.nm.resource.utilization.ratio": "0.5",  # or the ResourceManager cannot tell of its nodes
        },
    }
    write_settings(folder, cluster, "capacity", (1000, 1000), more)
    write_nodes(folder, cluster)
    jobs = [
        {
            "job.start.ms": str(10 * number), "job.end.ms": str(10 * number + 1), "job.queue.name": LEAF,
            "job.id": str(number), "job.user": "load", "job.tasks": [{"duration.ms": "1", "container.type": "map"}],
        }
        for number in range(load.apps)
    ]  # fmt: skip
    (folder / "jobs.json").write_text("\n".join(map(json.dumps, jobs)) + "\n")
    return class_path
