"""What a local cluster is asked to be, and which ports that takes."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from ipaddress import IPv4Network
from typing import Any, Final, Literal

from heddle.model.errors import BadInput, Problem, RunRefused
from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP

# Never the outside: whoever reaches a YARN can run programs on it. (The shuffle of MapReduce, which hands out nothing
# without a job's secret, is the one port that Hadoop cannot bind to an address.)
HOST: Final = "127.0.0.1"
_MASTER_PORTS: Final = (
    "web", "scheduler", "tracker", "client", "admin", "history_web", "history", "history_admin",
)  # fmt: skip
_NODE_PORTS: Final = ("web", "node", "localizer", "collector", "shuffle")
_DATA_PORT: Final = 9  # of every node, where these have addresses of their own
_FIRST_NODE_PORT: Final = 10
_FIRST_NODE_ADDRESS: Final = 10
SMALLEST_NODE_MB: Final = 512

Scheduler = Literal["capacity", "fair"]


@dataclass(frozen=True)
class Layout:
    """A cluster as asked for. Ports are a block that begins with the ResourceManager's web port."""

    nodes: int = 3
    node_memory_mb: int = 4096
    node_vcores: int = 8
    hadoop: str = DEFAULT_HADOOP
    scheduler: Scheduler = "capacity"
    am_share: float = 0.5
    port: int = 8088
    queues: tuple[tuple[str, int], ...] = (("default", 100),)  # below root, with percent of the cluster
    hosts: bool = False  # each node in a network namespace of its own
    link_mbit: int = 0  # of each node's link, each way; 0 = as fast as it goes
    subnet: str = ""  # of the namespaces; set when they are made
    preemption: bool = False  # a queue that is due more takes it from one that holds more than it is due
    bridge: bool = False  # the ResourceManager lets a process outside decide request by request (docs/bridge.md)
    pairs: tuple[tuple[int, int, int], ...] = ()  # two nodes and the rate between them in Mbit/s, each way

    def check(self) -> None:
        wrong = []
        if not 1 <= self.nodes <= 50:
            wrong.append(Problem("--nodes", f"must be 1 to 50, not {self.nodes}"))
        if self.node_memory_mb < SMALLEST_NODE_MB:
            wrong.append(Problem("--node-memory-mb", f"must be at least {SMALLEST_NODE_MB}, not {self.node_memory_mb}"))
        if self.node_vcores < 1:
            wrong.append(Problem("--node-vcores", f"must be at least 1, not {self.node_vcores}"))
        if not 0 < self.am_share <= 1:
            wrong.append(Problem("--am-share", f"must be above 0 and at most 1, not {self.am_share}"))
        if not 1024 <= self.port <= 65535 - _FIRST_NODE_PORT - 50 * len(_NODE_PORTS):
            wrong.append(Problem("--port", f"must leave room for a block of ports between 1024 and 65535: {self.port}"))
        if sum(percent for _, percent in self.queues) != 100 or any(percent < 0 for _, percent in self.queues):
            wrong.append(Problem("--queue", f"shares must add up to 100: {self.queues}"))
        if not 0 <= self.link_mbit <= 100_000:
            wrong.append(Problem("--link-mbit", f"must be from 0 to 100000, not {self.link_mbit}"))
        if self.link_mbit and not self.hosts:
            wrong.append(Problem("--link-mbit", "only applies with --hosts"))
        if self.pairs and not self.hosts:
            wrong.append(Problem("--pair-mbit", "only applies with --hosts"))
        for one, other, mbit in self.pairs:
            if one == other or max(one, other) >= self.nodes or not 1 <= mbit <= 100_000:
                said = f"{one}-{other}={mbit}"
                wrong.append(Problem("--pair-mbit", f"needs two nodes and a rate from 1 to 100000, not {said}"))
        if self.scheduler == "fair" and self.queues != Layout.queues:
            wrong.append(Problem("--queue", "queues can only be set with the Capacity scheduler; Fair creates its own"))
        if self.scheduler == "fair" and self.preemption:
            wrong.append(Problem("--preemption", "only with the Capacity scheduler"))
        if self.scheduler == "fair" and self.bridge:
            wrong.append(Problem("--bridge", "only with the Capacity scheduler: the Fair one never asks our classes"))
        if self.bridge and self.hadoop.split(".")[:2] < ["3", "4"]:
            wrong.append(
                Problem(
                    "--bridge", f"needs Hadoop 3.4, which asks our classes for every application, not {self.hadoop}"
                )
            )
        if wrong:
            raise BadInput(wrong)

    def lacks(self, queues: Iterable[str]) -> list[str]:
        """Those that it does not have, by their full names. The Fair scheduler creates whatever a job names."""
        has = {f"root.{name}" for name, _ in self.queues}
        named = {name if name.startswith("root.") else f"root.{name}" for name in queues}
        return [] if self.scheduler == "fair" else sorted(named - has)

    @property
    def network(self) -> IPv4Network:
        return IPv4Network(self.subnet)

    @property
    def master_host(self) -> str:
        """Where the masters listen: with namespaces at the address of their bridge."""
        return str(self.network[1]) if self.hosts else HOST

    def node_host(self, node: int) -> str:
        return str(self.network[_FIRST_NODE_ADDRESS + node]) if self.hosts else HOST

    def pair_mbit(self, one: int, other: int) -> int:
        """The rate between two nodes; 0 = that of their links."""
        return next((mbit for a, b, mbit in self.pairs if {a, b} == {one, other}), 0)

    def master_port(self, what: str) -> int:
        return self.port + _MASTER_PORTS.index(what)

    def node_port(self, node: int, what: str) -> int:
        return self.port + _FIRST_NODE_PORT + node * len(_NODE_PORTS) + _NODE_PORTS.index(what)

    @property
    def data_port(self) -> int:
        """Where each node serves what replayed tasks read from it."""
        return self.port + _DATA_PORT

    def ports(self) -> dict[int, str]:
        """Every port, and whose it is."""
        of_master = {self.master_port(what): f"the masters' {what} port" for what in _MASTER_PORTS}
        of_nodes = {
            self.node_port(node, what): f"the {what} port of node {node}"
            for node in range(self.nodes)
            for what in _NODE_PORTS
        }
        return of_master | of_nodes

    @property
    def rm(self) -> str:
        return f"http://{self.master_host}:{self.master_port('web')}"

    @property
    def history(self) -> str:
        return f"http://{self.master_host}:{self.master_port('history_web')}"

    def node_url(self, node: int) -> str:
        return f"http://{self.node_host(node)}:{self.node_port(node, 'web')}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Layout:
        lists = {name: tuple(tuple(row) for row in saved.get(name, ())) for name in ("queues", "pairs")}
        return cls(**{**saved, **lists})


def refuse_taken_ports(layout: Layout) -> None:
    """Says which ports somebody else has, and which block is free."""
    taken = {port: whose for port, whose in layout.ports().items() if not _is_free(port)}
    if not taken:
        return
    listed = ", ".join(f"{port} ({whose})" for port, whose in list(taken.items())[:4])
    more = f" and {len(taken) - 4} more" if len(taken) > 4 else ""
    raise RunRefused(f"ports in use on {HOST}: {listed}{more}; try --port {_free_block(layout)}")


def _free_block(layout: Layout) -> int:
    last = max(layout.ports()) - layout.port
    first = layout.port + last + 1
    while not all(_is_free(port) for port in range(first, first + last + 1)):
        first += last + 1
    return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: a closing connection is no obstacle
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True
