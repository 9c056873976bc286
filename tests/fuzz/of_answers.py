"""What daemons answer: ResourceManager, history server, the bridge."""

from __future__ import annotations

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.recognising import recognise
from heddle.yarn.observe.cluster_import import live_cluster, queues_of
from heddle.yarn.observe.outlines import finished, finished_mapreduce
from heddle.yarn.observe.past_jobs import am_size, read_past_job

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
}
