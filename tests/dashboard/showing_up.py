"""A cluster to show, and a controller in this process that shows itself as `heddle yarn steer` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.showing import Showing
from yarn_live.fake_rm import FakeRm

POLICY = "usage-feedback(damping=0.5)"


def busy_cluster(rm: FakeRm, nodes: int = 12) -> None:
    """Nodes of two racks, two jobs that run, one that waits for its AM."""
    for number in range(nodes):
        name = f"worker-{number}:8041"
        rm.add_node(name, 65536, 32)
        rm.nodes[name].rack = f"/rack-{number % 2}"
    for number in (1, 2):
        app = rm.add_app("default" if number == 1 else "batch", user=f"user-{number}")
        rm.start_am(app, "worker-0:8041", 2048, 1)
        for task in range(4 * nodes // 2):
            rm.allocate(app, f"worker-{task % nodes}:8041", 12288, 4)
        app.asks = [(20, 12288, 4, 37 * number)]
    rm.add_app("batch", user="late").asks = [(0, 2048, 1, 1)]
    move(rm, 1)


def move(rm: FakeRm, turn: int) -> None:
    """What a heartbeat of every node changes."""
    for number, node in enumerate(rm.nodes.values()):
        node.used_memory_mb = 20_000 + 700 * (number % 9) + turn
        node.containers_memory_mb = 9_000 + 2_300 * (number % 7) + turn
        node.used_cores, node.containers_vcores = 4.0 + number % 5, 3.0 + number % 4 + 0.1 * (turn % 5)


def decision(*changes: dict[str, Any]) -> dict[str, Any]:
    """A step in which these nodes' sizes were decided upon."""
    nodes = [
        {
            "verdict": "posted",
            "cause": "lever",
            "problem": "",
            "before": (65536, 32000),
            "wanted": (81920, 32000),
            **one,
        }
        for one in changes
    ]
    return {
        "applications": 3, "containers": 26, "observe_ms": 12.0, "decide_ms": 3.0, "act_ms": 4.0, "in_full_s": None,
        "knobs": [], "nodes": nodes, "table": None,
    }  # fmt: skip


@contextmanager
def controller(desk: Desk, mode: str = "live") -> Iterator[Showing]:
    showing = Showing(desk, POLICY, mode, 1.0, 60.0)
    with showing.at_work(lambda _: None):
        showing.stepped(decision({"node": "worker-3:8041"}), paused=False)
        yield showing
