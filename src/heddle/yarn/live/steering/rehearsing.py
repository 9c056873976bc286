"""Compiles all that a step needs before anything is at stake, by deciding about a made-up cluster.

A first step that has to compile can take longer than a short lease: the controller would count as dead, and the
watchdog would put back what it has only just changed.
"""

from __future__ import annotations

from typing import Final

from heddle.policy.policy import Policy
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.mind import Mind
from heddle.yarn.live.names import Names
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen, Size

_OWN: Final[Size] = (8192, 8000)
_SMALL: Final[Size] = (1024, 1000)
_FOUND: Final = (900, 1000)  # before we gave it another share
_QUEUES: Final = (QueueSeen("root", 1000, 1000), QueueSeen("root.default", 1000, 1000, found_permille=_FOUND))


def rehearse(policy: Policy, settings: Settings, bridge: bool = False, declared: DeclaredData | None = None) -> None:
    """As many looks as it takes for all to happen that polling can see. RunRefused as a controller would."""
    live = LiveView(
        lambda node: node.total,
        report_ms=settings.report_ms,
        n_pools=policy.partition.n_pools,
        calculator=settings.calculator,
        declared=declared,
    )
    mind = Mind(policy, live, settings.increment, settings.report_ms, bridge)
    for look in _looks(Names(), settings.report_ms):
        mind.decide(look)


def _looks(names: Names, every_ms: int) -> list[Snapshot]:
    """An application waits, then runs on two nodes, then a container ends, then a node is lost, then all is over."""
    whole, half = [_node("a:1"), _node("b:1")], [_node("a:1"), _node("b:1", "LOST")]
    waits, runs = [_app(1, False)], [_app(1), _app(2, False)]
    am, task, doomed = _container(1, "a:1"), _container(2, "a:1"), _container(3, "b:1")
    seen: list[tuple[list[NodeSeen], list[AppSeen], list[ContainerSeen], dict[str, bool]]] = [
        (whole, waits, [], {}),
        (whole, runs, [am, task, doomed], {}),
        (whole, runs, [am, doomed], {}),
        (half, runs, [am], {}),
        (whole, [], [], {app.id: True for app in runs}),
    ]
    return [
        Snapshot.of(
            names,
            (1 + number) * every_ms,
            {node.id: node for node in nodes},
            {app.id: app for app in apps},
            {container.id: container for container in containers},
            _QUEUES,
            ended,
        )
        for number, (nodes, apps, containers, ended) in enumerate(seen)
    ]


def _node(name: str, state: str = "RUNNING") -> NodeSeen:
    return NodeSeen(name, name, "/rack", state, "", _OWN, _SMALL, 100, 0.1, 100, 0.1)


def _app(number: int, running: bool = True) -> AppSeen:
    asks = (Ask(0 if not running else 1, _SMALL, 1),)
    return AppSeen(f"application_0_{number:04d}", "root.default", "nobody", running, 0, 0, True, "", asks)


def _container(number: int, node: str) -> ContainerSeen:
    name = f"container_0_0001_01_{number:06d}"
    return ContainerSeen(name, "application_0_0001", node, int(number > 1), _SMALL, number == 1)
