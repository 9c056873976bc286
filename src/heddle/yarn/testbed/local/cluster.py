"""A local cluster: started, inspected, stopped. `cluster.json` in its folder describes it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from heddle.model.errors import BadInput, CheckFailed, RunRefused
from heddle.model.nested_text import from_json
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.files import DISK
from heddle.yarn.live.private_folders import private_folder
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import JAR_NAME, lay_out, rm_settings
from heddle.yarn.testbed.local.configuration import conf_folder, java_options, node_conf_folder, write_configuration
from heddle.yarn.testbed.local.folders import cluster_folder, cluster_names
from heddle.yarn.testbed.local.jars import announce_fetching, hadoop_home, lib_of
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java
from heddle.yarn.testbed.local.layout import Layout, refuse_taken_ports
from heddle.yarn.testbed.local.namespaces import free_subnet, inside, join_nodes, part_nodes, refuse_without_namespaces
from heddle.yarn.testbed.local.processes import Process, processes_of, refuse_without_proc, start, stop

STATE_FILE: Final = "cluster.json"
BRIDGE_FOLDER: Final = "bridge"
READY_FILE: Final = "ready"  # there once everything was healthy
HEALTHY_WITHIN_S: Final = 120.0
LOOK_EVERY_S: Final = 0.3
RM, HISTORY, DATA = "resourcemanager", "historyserver", "dataserver"
SERVING: Final = Path(__file__).parents[1] / "replay" / "serve.py"
_PACKAGE: Final = "org.apache.hadoop"
_HEAP_MB: Final = {RM: 768, HISTORY: 256, "nodemanager": 256}
_CLASS: Final = {
    RM: f"{_PACKAGE}.yarn.server.resourcemanager.ResourceManager",
    HISTORY: f"{_PACKAGE}.mapreduce.v2.hs.JobHistoryServer",
    "nodemanager": f"{_PACKAGE}.yarn.server.nodemanager.NodeManager",
}

Say = Callable[[str], None]


def node_role(node: int) -> str:
    return f"nodemanager-{node}"


@dataclass(frozen=True)
class LocalCluster:
    """A cluster by its name; says what it is, whether or not it runs."""

    name: str
    folder: Path
    layout: Layout

    def roles(self) -> list[str]:
        nodes = range(self.layout.nodes)
        data = [f"{DATA}-{node}" for node in nodes] if self.layout.hosts else []
        return [RM, *(node_role(node) for node in nodes), HISTORY, *data]

    def log(self, role: str) -> Path:
        return self.folder / "logs" / f"{role}.log"

    @property
    def home(self) -> Path:
        return hadoop_home(self.layout.hadoop)

    @property
    def conf(self) -> Path:
        return conf_folder(self.folder)

    def class_path(self) -> str:
        """What a client of this cluster, or a daemon of it, finds its classes and settings with."""
        return f"{self.conf}:{lib_of(self.home)}/*"

    def processes(self) -> list[Process]:
        return processes_of(self.folder)

    def start_daemon(self, role: str) -> None:
        kind, _, number = role.partition("-")
        if kind == DATA:
            self._start_serving(role, int(number))
            return
        conf = node_conf_folder(self.folder, int(number)) if number else self.conf
        java, home = find_java(), str(self.home)
        command: list[str | Path] = [
            *(inside(self.folder, int(number)) if number and self.layout.hosts else ()),
            java, *JVM_FLAGS, f"-Xmx{_HEAP_MB[kind]}m", f"-XX:ErrorFile={self.folder}/logs/{role}-crash.log",
            "-Djava.net.preferIPv4Stack=true", f"-Djava.io.tmpdir={self.folder}/tmp",
            "-cp", f"{conf}:{self._bridge_path(kind)}{lib_of(self.home)}/*", _CLASS[kind], *self._bridge_settings(kind),
        ]  # fmt: skip
        environment = {
            "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": os.environ.get("HOME", "/"),
            "JAVA_HOME": str(java.parent.parent), "HADOOP_COMMON_HOME": home, "HADOOP_HDFS_HOME": home,
            "HADOOP_YARN_HOME": home, "HADOOP_MAPRED_HOME": home, "HADOOP_CONF_DIR": str(conf),
            **java_options(conf, self.layout),
        }  # fmt: skip
        start(command, role, self.folder, environment, self.log(role))

    def _start_serving(self, role: str, node: int) -> None:
        """What tasks read from the node, which a replay has them fetch."""
        at = (self.layout.node_host(node), str(self.layout.data_port))
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
        command: list[str | Path] = [*inside(self.folder, node), "python3", "-ISE", SERVING, *at]
        start(command, role, self.folder, environment, self.log(role))

    @property
    def bridge(self) -> Path:
        """The folder with the bridge's jar and secret, where it has one."""
        return self.folder / BRIDGE_FOLDER

    def _bridge_path(self, kind: str) -> str:
        return f"{self.bridge / JAR_NAME}:" if self.layout.bridge and kind == RM else ""

    def _bridge_settings(self, kind: str) -> list[str]:
        """Of the ResourceManager alone: a daemon without the jar that has them does not start."""
        if not self.layout.bridge or kind != RM:
            return []
        return [word for name, value in rm_settings(self.bridge).items() for word in ("-D", f"{name}={value}")]

    def health(self) -> dict[str, Any]:
        """Which daemons live, and what the masters answer; null where they do not."""
        live = {process.role: process.pid for process in self.processes() if process.role}
        daemons = {role: live.get(role) for role in self.roles()}
        nodes, history = self._nodes_running(), self._history_answers()
        return {
            "healthy": all(daemons.values()) and nodes == self.layout.nodes and history,
            "daemons": daemons,
            "nodes_running": nodes,
            "history_answers": history,
        }

    def is_healthy(self) -> bool:
        return bool(self.health()["healthy"])

    def _nodes_running(self) -> int | None:
        try:
            with RmClient(self.layout.rm, timeout_s=3) as client:
                nodes = (client.nodes().get("nodes") or {}).get("node") or []
        except YarnError:
            return None
        return len([node for node in nodes if node.get("state") == "RUNNING"])

    def _history_answers(self) -> bool:
        try:
            with RmClient(self.layout.history, timeout_s=3) as client:
                client.get("/ws/v1/history/info")
        except YarnError:
            return False
        return True


def find_cluster(name: str) -> LocalCluster:
    """The cluster of this name, running or not; BadInput lists those there are."""
    folder = cluster_folder(name)
    try:
        layout = Layout.from_json(from_json((folder / STATE_FILE).read_text()))
    except FileNotFoundError:
        known = ", ".join(cluster_names()) or "none"
        raise BadInput.of("--name", f"there is no cluster {name!r}; there are: {known}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput.of(
            str(folder / STATE_FILE), f"cannot be read ({error}); `down --name {name}` clears it"
        ) from None
    return LocalCluster(name, folder, layout)


def bring_up(name: str, layout: Layout, say: Say) -> LocalCluster:
    """Starts a cluster and waits until all of it is healthy. What a killed start left of it is cleared first."""
    refuse_without_proc()
    layout.check()
    if layout.hosts:
        refuse_without_namespaces()
    folder = cluster_folder(name)
    java = find_java()
    with _only_one_command(name):
        if (folder / READY_FILE).exists() and processes_of(folder):
            raise RunRefused(f"cluster {name!r} is already up; `heddle yarn down --name {name}` stops it")
        if folder.exists():
            say(f"clearing what an earlier start of {name!r} left behind")
            _clear(folder)
        refuse_taken_ports(layout)
        announce_fetching(layout.hadoop, say)
        hadoop_home(layout.hadoop)
        try:
            cluster = _write(name, folder, replace(layout, subnet=free_subnet(folder)) if layout.hosts else layout)
            if layout.hosts:
                join_nodes(folder, cluster.layout)
            say(f"starting {len(cluster.roles())} daemons with {java} ...")
            for role in cluster.roles():
                cluster.start_daemon(role)
            _wait_until_healthy(cluster)
            (folder / READY_FILE).touch()
        except BaseException as error:
            stop(folder)
            part_nodes(folder)
            if not isinstance(error, CheckFailed):  # its logs are what one wants to read now
                shutil.rmtree(folder, ignore_errors=True)
            raise
    return cluster


def take_down(name: str) -> int:
    """Ends every process of a cluster and removes its folder, whatever state it is in. Returns how many ended."""
    folder = cluster_folder(name)
    with _only_one_command(name):
        return _clear(folder)


def _only_one_command(name: str) -> AbstractContextManager[None]:
    lock = private_folder("locks") / name
    return DISK.lock(lock, f"another `heddle yarn up` or `down` of {name!r} is at work")


def _clear(folder: Path) -> int:
    ended = stop(folder)
    part_nodes(folder)
    if folder.exists():
        shutil.rmtree(folder)
    return ended


def _write(name: str, folder: Path, layout: Layout) -> LocalCluster:
    private_folder("clusters")
    folder.mkdir()
    for needed in ("logs", "tmp", "staging"):
        (folder / needed).mkdir()
    (folder / STATE_FILE).write_text(json.dumps(layout.as_json(), indent=1) + "\n")
    write_configuration(folder, layout)
    if layout.bridge:
        lay_out(folder / BRIDGE_FOLDER, bridge_jar(layout.hadoop))
    return LocalCluster(name, folder, layout)


def _wait_until_healthy(cluster: LocalCluster) -> None:
    deadline = time.monotonic() + HEALTHY_WITHIN_S
    while True:
        time.sleep(LOOK_EVERY_S)
        gone = set(cluster.roles()) - {process.role for process in cluster.processes()}
        if gone:
            raise CheckFailed(f"the {role} ended while starting:\n{_why(cluster.log(role))}" for role in sorted(gone))
        if cluster.is_healthy():
            return
        if time.monotonic() > deadline:
            found = cluster.health()
            raise CheckFailed(
                [
                    f"not healthy after {HEALTHY_WITHIN_S:.0f} s: {found['nodes_running'] or 0} of"
                    f" {cluster.layout.nodes} nodes run, history server answers: {found['history_answers']};"
                    f" logs are in {cluster.folder / 'logs'}"
                ]
            )


def _why(log: Path, lines: int = 12) -> str:
    """The end of a log, or the part of it where things went wrong."""
    text = log.read_text(errors="replace").splitlines() if log.exists() else []
    wrong = [
        number for number, line in enumerate(text) if " FATAL " in line or " ERROR " in line or "Exception" in line
    ]
    first = wrong[0] if wrong else max(0, len(text) - lines)
    return "\n".join(text[first : first + lines]) or "it wrote nothing"
