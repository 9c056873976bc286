"""Two snapshots in, the events between them out: the one place where polling becomes what levers listen to.

Between two polls the true order is unknown. Events come in the order of the phases of a simulated instant
(docs/semantics.md): containers that ended, nodes lost or returned, what ended with them, usage reports, arrivals,
allocations. So a new container is charged in full after the reports of the same poll, which cannot have seen it, and an
ended one is taken off before them.

What a poll cannot show: a container that came and went between two polls; when a container began to run (the RM does
not tell, hence no EVENT_STARTED); how one ended, other than by the fate of its node or application.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STOPPED,
    EVENT_TICK,
)
from heddle.yarn.live.snapshot import ContainerSeen, Snapshot

OBSERVABLE: Final = frozenset(
    {
        EVENT_ARRIVED,
        EVENT_ALLOCATED,
        EVENT_FINISHED,
        EVENT_STOPPED,
        EVENT_REPORTED,
        EVENT_NODE_LOST,
        EVENT_NODE_RETURNED,
        EVENT_TICK,  # no difference of snapshots: the controller tells it as time passes
    }
)


@dataclass(frozen=True)
class Change:
    """One event, in the RM's names. `reports`: how many usage reports of the node it stands for."""

    kind: int
    node: str = ""
    app: str = ""
    container: ContainerSeen | None = None
    reports: int = 0


def differences(before: Snapshot | None, after: Snapshot, report_ms: int) -> list[Change]:
    """What happened between two polls. Before the first poll there was nothing: all that is there has just come."""
    first = before is None
    before = before or Snapshot(after.at_ms, {})
    were, are = _alive(before), _alive(after)
    lost, back = were - are, are - were
    held, holds = _held(before, were), _held(after, are)
    ended = [container for container in held.values() if not _same(holds.get(container.id), container)]
    new = [container for container in holds.values() if not _same(held.get(container.id), container)]

    changes = [_end(container, after) for container in ended if container.node not in lost]
    changes += [Change(EVENT_NODE_LOST, node=name) for name in before.nodes if name in lost]
    # A node that was never seen before also "returns": the RM forgets lost ones, so the two look the same.
    changes += [Change(EVENT_NODE_RETURNED, node=name) for name in after.nodes if name in back and not first]
    changes += [Change(EVENT_STOPPED, c.node, c.app, c) for c in ended if c.node in lost]
    passed = after.at_ms // report_ms - before.at_ms // report_ms if report_ms else 0
    for name in after.nodes:
        reports = passed if name in were else 1
        if name in are and reports > 0:
            changes.append(Change(EVENT_REPORTED, node=name, reports=reports))
    arrived = [app for app in after.apps.values() if app.id not in before.apps]
    # Jobs are numbered in order of submission; applications of one millisecond by their number.
    arrived.sort(key=lambda app: (app.started_at_ms, _number(app.id)))
    changes += [Change(EVENT_ARRIVED, app=app.id) for app in arrived]
    changes += [Change(EVENT_ALLOCATED, c.node, c.app, c) for c in sorted(new, key=lambda c: c.id)]
    return changes


def _same(one: ContainerSeen | None, other: ContainerSeen) -> bool:
    """A container that was resized counts as one that ended and one that came."""
    return one is not None and one.size == other.size and one.node == other.node


def _alive(snapshot: Snapshot) -> set[str]:
    return {name for name, node in snapshot.nodes.items() if node.alive}


def _held(snapshot: Snapshot, alive: set[str]) -> dict[str, ContainerSeen]:
    """Containers on nodes that are there. The RM may list one of a lost node for a while."""
    return {name: container for name, container in snapshot.containers.items() if container.node in alive}


def _end(container: ContainerSeen, after: Snapshot) -> Change:
    """Well, as far as can be seen; but an AM is released, and a failed application takes its containers along."""
    failed = container.is_am or not after.ended.get(container.app, True)
    return Change(EVENT_STOPPED if failed else EVENT_FINISHED, container.node, container.app, container)


def _number(app_id: str) -> tuple[int, str]:
    """application_1700000000000_12345 sorts by its number, beyond four digits too."""
    tail = app_id.rpartition("_")[2]
    return (int(tail) if tail.isdigit() else 0, app_id)
