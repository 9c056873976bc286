"""Samples containers from afar, through the metrics that NodeManagers offer: no agent on the workers.

It gives the lines that the agent gives, with what NodeManagers measure: resident memory, and CPU as whole per cent of a
core. Disk I/O, shared memory and network traffic are not among it and stay null. NodeManagers offer figures of running
containers only if yarn.nodemanager.container-metrics.period-ms is set, which by default it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

from heddle.model.errors import RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import container_name
from heddle.yarn.live.rm_answers import Reading, number, read_nodes, text
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.tallies import Tallies

PERIOD: Final = "yarn.nodemanager.container-metrics.period-ms"
BEANS: Final = "Hadoop:service=NodeManager,name=ContainerResource*"
NAME: Final = "Hadoop:service=NodeManager,name=ContainerResource_"
TIMEOUT_S: Final = 3.0
AT_ONCE: Final = 16  # NodeManagers that are asked side by side
NODES_EVERY_S: Final = 10.0  # nodes come and go; one that did not answer is left alone until then


@dataclass
class Worker:
    """A NodeManager that is asked. `why_not`: what is wrong with it; "" if nothing."""

    client: RmClient
    why_not: str = ""


@dataclass(frozen=True)
class Reported:
    """What a NodeManager says of a running container."""

    container: str
    memory_mb: float
    cpu_percent: float  # of one core


class RemoteTracker:
    """Call sample() once a second. `client` talks to the RM, which knows where the NodeManagers answer."""

    def __init__(
        self,
        client: RmClient,
        journal: Journal,
        say: Callable[[str], None],
        *,
        user: str | None = None,
        most_nodes: int | None = None,
    ) -> None:
        """`most_nodes`: only so many are asked, drawn once at random; None: all."""
        self._client, self._say, self._user, self._most_nodes = client, say, user, most_nodes
        self._tallies = Tallies(journal)
        self._workers: dict[str, Worker] = {}
        self._asked_s = -NODES_EVERY_S
        self._sampled_s = time.monotonic()
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._said: set[str] = set()

    @property
    def telling(self) -> tuple[int, int]:
        """How many of the NodeManagers that are asked tell what their containers use, and how many are asked."""
        return sum(not worker.why_not for worker in self._workers.values()), len(self._workers)

    @property
    def containers(self) -> int:
        return len(self._tallies)

    def close(self) -> None:
        self._pool.shutdown()
        for worker in self._workers.values():
            worker.client.close()

    def sample(self) -> None:
        """Raises YarnError if the RM does not answer (the nodes that are known are sampled all the same).

        RunRefused: no NodeManager has such metrics.
        """
        away: YarnError | None = None
        if time.monotonic() - self._asked_s >= NODES_EVERY_S:
            try:
                self._find_workers()
            except YarnError as error:
                away = error
        asked = [worker for worker in self._workers.values() if not worker.why_not]
        answers = list(self._pool.map(reports_of, asked))
        now_s, now_ms = time.monotonic(), int(time.time() * 1000)
        passed_ms = 1000 * (now_s - self._sampled_s)
        self._sampled_s = now_s
        there = set()
        for reports in answers:
            for one in reports:
                there.add(one.container)
                tally = self._tallies.of(one.container, now_ms - round(passed_ms))
                tally.hold(one.memory_mb, passed_ms, now_ms)
                tally.cpu_ms += round(one.cpu_percent * passed_ms / 100)
        self._tallies.keep(there)
        for name, worker in self._workers.items():
            if worker in asked and worker.why_not:
                self._say(f"{name}: {worker.why_not}; retrying")
        if away is not None:
            raise away

    def write_all(self) -> None:
        self._tallies.write_all()

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def _find_workers(self) -> None:
        """Asks the RM for its nodes, and new ones, or those with which something was wrong, for their settings."""
        self._asked_s = time.monotonic()
        nodes = read_nodes(self._client.nodes(), self._client.address)
        if self._most_nodes is not None and len(nodes) > self._most_nodes:
            drawn = sorted(nodes, key=lambda name: Random(name).random())[: self._most_nodes]
            nodes = {name: nodes[name] for name in drawn}
        scheme = urlsplit(self._client.address).scheme
        for name in self._workers.keys() - nodes.keys():
            self._workers.pop(name).client.close()
        doubtful = []
        for name, node in nodes.items():
            if name not in self._workers and node.http:
                try:
                    client = RmClient(f"{scheme}://{node.http}", timeout_s=TIMEOUT_S, user=self._user)
                except YarnError as error:
                    self._say_once(f"{name} is not asked: {error}")
                    continue
                self._workers[name] = Worker(client)
                doubtful.append((name, self._workers[name]))
            elif name in self._workers and self._workers[name].why_not:
                doubtful.append((name, self._workers[name]))
        before = [worker.why_not for _, worker in doubtful]
        list(self._pool.map(_check, (worker for _, worker in doubtful)))
        for (name, worker), said in zip(doubtful, before, strict=True):
            if worker.why_not and worker.why_not != said:
                self._say(f"{name}: {worker.why_not}")
        if self._workers and all(worker.why_not.startswith(PERIOD) for worker in self._workers.values()):
            raise RunRefused(
                f"no NodeManager reports metrics of running containers: set {PERIOD} to 1000 in their yarn-site.xml and"
                " restart them, or run `heddle yarn track` on each worker"
            )


def _check(worker: Worker) -> None:
    """Whether it can be sampled; it goes on being asked if not."""
    try:
        period = worker.client.setting(PERIOD)
    except YarnError as error:
        worker.why_not = str(error)
        return
    on = period is not None and period.lstrip("-").isdigit() and int(period) > 0
    worker.why_not = "" if on else f"{PERIOD} is {period or 'not set'}, so it does not report on running containers"


def reports_of(worker: Worker) -> list[Reported]:
    """Of containers that run. One that has just begun has no figures yet; one that has ended keeps its last ones."""
    try:
        answer = worker.client.get("/jmx", qry=BEANS)
        with Reading(f"{worker.client.address}/jmx"):
            beans: list[dict[str, Any]] = answer["beans"]
            return [
                Reported(
                    container=container_name(text(bean["name"]).removeprefix(NAME))[0],
                    memory_mb=number(bean["PMemUsageMBsAvgMBs"]),
                    cpu_percent=number(bean["PCpuUsagePercentAvgPercents"]),
                )
                for bean in beans
                if bean.get("PMemUsageMBsNumUsage") and not bean.get("FinishTime")
            ]
    except YarnError as error:
        worker.why_not = str(error)
        return []
