"""What daemons answer: ResourceManager, history server, the bridge."""

from __future__ import annotations

import tempfile
from pathlib import Path

from heddle.check.spark_archive import unpack_logs
from heddle.twin.masters import Masters
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.recognising import recognise
from heddle.yarn.live.things_seen import AppSeen, NodeSeen
from heddle.yarn.observe.cluster_import import live_cluster, queues_of
from heddle.yarn.observe.history import History
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.node_containers import NodeContainers
from heddle.yarn.observe.observer import Observer
from heddle.yarn.observe.outlines import finished, finished_mapreduce
from heddle.yarn.observe.past_jobs import am_size, read_past_job
from heddle.yarn.observe.remote_tracker import Worker, reports_of
from heddle.yarn.observe.seen import read_seen

from .served import Answering, client_of


def _snapshot(data: bytes) -> None:
    seen = take_snapshot(client_of(data), 0)
    assert len(seen.nodes) + len(seen.apps) + len(seen.containers) + len(seen.queues) >= 0


def _bridge(data: bytes) -> None:
    client = client_of(data)
    BridgeEndpoint(client).state()
    bridged_leaves(client.scheduler(), client.address)


def _address(data: bytes) -> None:
    RmClient(data.decode("utf-8", "replace"), connect=lambda address, timeout_s: Answering(b""))


def _observed(data: bytes) -> None:
    """All that an observer and the history's reader make of answers, as a journal has it and as a record."""
    with tempfile.TemporaryDirectory() as folder:
        client, journal = client_of(data), Journal(Path(folder) / "journal.jsonl")
        observer = Observer(client, journal, clock_ms=lambda: 1)
        observer.poll()
        History(client, journal, observer.seen, clock_s=lambda: 0.0).poll()
        assert read_seen(journal.read(), "journal") == observer.seen
        record_of(observer.seen, policy="stock", workload="w", started_by=[])


def _node_containers(data: bytes) -> None:
    node = NodeSeen("n:1", "n", "r", "RUNNING", "", (1, 1), (1, 1), 0, 0.0, 0, 0.0, "n:2")
    app = AppSeen("application_1_0001", "root.default", "u", True, 0, 0, True, "appattempt_1_0001_000001", ())
    NodeContainers(client_of(data)).read([node], {app.id: app})


def _spark_archive(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        size = unpack_logs(data, "application_1_0001", Path(folder), 1 << 24)
        assert sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) == size


TARGETS = {
    "rm-address": _address,
    "rm-snapshot": _snapshot,
    "rm-recognising": lambda data: recognise(client_of(data)),
    "rm-cluster": lambda data: live_cluster(client_of(data)),
    "rm-queues": lambda data: queues_of(client_of(data)),
    "rm-finished": lambda data: finished(client_of(data), 0, 1000, 10),
    "history-finished": lambda data: finished_mapreduce(client_of(data), 0, 1000, 10),
    "history-job": lambda data: am_size(read_past_job(client_of(data), "application_1_0001")),
    "bridge": _bridge,
    "observed": _observed,
    "node-containers": _node_containers,
    "node-metrics": lambda data: reports_of(Worker(client_of(data))),
    "masters": lambda data: Masters(client_of(data)).ask(["application_1_0001"]),
    "spark-archive": _spark_archive,
    "spark-driver": lambda data: Masters(client_of(data)).ask([], ["application_1_0002"]),
}
