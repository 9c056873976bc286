"""Observes a ResourceManager: which containers lived where and when, and what became of applications.

Everything goes into a journal at once; a restarted observer reads it and goes on. Instants are the RM's, in ms since
1970. The RM tells when a container began but not when it ended: that lies between the last poll that showed it and the
first that did not, and the middle is taken. A container that came and went between two polls is missed; YARN's own
memorySeconds and vcoreSeconds, kept for every application, tell how much that was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from heddle.yarn.client import RmClient
from heddle.yarn.snapshot import (
    AppSeen,
    ContainerSeen,
    NodeSeen,
    Size,
    read_apps,
    read_container_starts,
    read_containers,
    read_nodes,
)
from heddle.yarn.trace.journal import Journal

ENDED_STATES: Final = "FINISHED,FAILED,KILLED"
NOTE_POLLS_MS: Final = 1000
OVERLAP_MS: Final = 60_000  # applications that ended so long before the last poll are asked for again


@dataclass(frozen=True)
class ContainerLife(ContainerSeen):
    """A container as far as it was seen."""

    asked_at_ms: int  # when its request was first seen, or its allocation
    began_at_ms: int
    ended_at_ms: int | None = None


@dataclass(frozen=True)
class AppLife:
    """An application; `memory_mb_seconds` and `vcore_seconds` are YARN's own accounts."""

    id: str
    name: str
    kind: str
    queue: str
    user: str
    submitted_at_ms: int
    launched_at_ms: int | None = None
    ended_at_ms: int | None = None
    final_status: str = "UNDEFINED"
    memory_mb_seconds: int | None = None
    vcore_seconds: int | None = None


@dataclass
class Seen:
    """All that was observed, by id. Sizes: (instant, node, total) whenever one changed."""

    apps: dict[str, AppLife] = field(default_factory=dict)
    containers: dict[str, ContainerLife] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    sizes: list[tuple[int, str, Size]] = field(default_factory=list)
    began_ms: int = 0  # what had ended before is none of this observation's business
    last_poll_ms: int = 0

    def take(self, entry: Mapping[str, Any]) -> None:
        """One line of the journal."""
        kind, at = entry["what"], dict(entry)
        del at["what"]
        if kind == "app":
            self.apps[at["id"]] = AppLife(**at)
        elif kind == "container":
            self.containers[at["id"]] = ContainerLife(**{**at, "size": tuple(at["size"])})
        elif kind == "node":
            self.nodes[at["id"]] = at
        elif kind == "size":
            self.sizes.append((at["at_ms"], at["node"], tuple(at["total"])))
        elif kind == "began":
            self.began_ms = at["at_ms"]
        elif kind == "poll":
            self.last_poll_ms = at["at_ms"]


class Observer:
    """Call poll() about once a second. `journal` holds what earlier observers of the same cluster saw."""

    def __init__(
        self, client: RmClient, journal: Journal, clock_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    ) -> None:
        self._client = client
        self._journal = journal
        self._clock_ms = clock_ms
        self.seen = Seen()
        for entry in journal.read():
            self.seen.take(entry)
        self._asked: dict[tuple[str, int, Size], int] = {}
        self._totals: dict[str, Size] = {name: tuple(node["total"]) for name, node in self.seen.nodes.items()}
        self._totals |= {node: size for _, node, size in self.seen.sizes}
        if not self.seen.began_ms:
            self._note("began", at_ms=clock_ms())
        self._polled_ms = self.seen.last_poll_ms

    def poll(self) -> None:
        """Looks once. Raises YarnError, with nothing lost, if the RM cannot be asked."""
        where = self._client.address
        nodes = read_nodes(self._client.nodes(), where)
        answer = self._client.apps()
        live, rows = read_apps(answer, where), _rows_by_id(answer)
        since_ms = max(self.seen.began_ms, self.seen.last_poll_ms - OVERLAP_MS)
        ended = _rows_by_id(self._client.apps(states=ENDED_STATES, finishedTimeBegin=str(since_ms)))
        now_ms = self._now_ms(rows)
        held: set[str] = set()
        for app in live.values():
            self._note_asks(app, now_ms)
            containers = self._client.containers(app.id, app.attempt) if app.attempt else None
            if containers is not None:
                starts = read_container_starts(containers)
                for container in read_containers(containers, app, where).values():
                    held.add(container.id)
                    if container.id not in self.seen.containers:
                        began = starts[container.id]
                        asked = self._asked.get((app.id, container.priority, container.size), began)
                        self._note("container", **vars(container), asked_at_ms=min(asked, began), began_at_ms=began)
        self._note_ends(held, ended, now_ms)
        for row in (*rows.values(), *ended.values()):
            self._note_app(row)
        for node in nodes.values():
            self._note_node(node, now_ms)
        self._polled_ms = now_ms
        if now_ms - self.seen.last_poll_ms >= NOTE_POLLS_MS:
            self._note("poll", at_ms=now_ms)
        self._journal.flush()

    def running(self) -> int:
        """Applications that have not ended, as far as was seen."""
        return sum(app.ended_at_ms is None for app in self.seen.apps.values())

    def _now_ms(self, rows: Mapping[str, Any]) -> int:
        """The RM's clock where it shows: a live application's start and age."""
        ages = [int(row["startedTime"]) + int(row["elapsedTime"]) for row in rows.values()]
        return max(ages, default=self._clock_ms())

    def _note_asks(self, app: AppSeen, now_ms: int) -> None:
        for ask in app.asks:
            self._asked.setdefault((app.id, ask.priority, ask.size), now_ms)

    def _note_ends(self, held: set[str], ended: Mapping[str, Any], now_ms: int) -> None:
        for container in list(self.seen.containers.values()):
            if container.ended_at_ms is not None or container.id in held:
                continue
            last_seen_ms = max(container.began_at_ms, self._polled_ms)
            end_ms = (last_seen_ms + now_ms) // 2
            if container.app in ended:  # nothing outlives its application
                end_ms = max(container.began_at_ms, min(end_ms, int(ended[container.app]["finishedTime"])))
            self._note("container", **vars(replace(container, ended_at_ms=end_ms)))

    def _note_app(self, row: Mapping[str, Any]) -> None:
        over = int(row["finishedTime"]) > 0
        life = AppLife(
            id=str(row["id"]), name=str(row["name"]), kind=str(row.get("applicationType", "")), queue=str(row["queue"]),
            user=str(row["user"]), submitted_at_ms=int(row["startedTime"]),
            launched_at_ms=int(row.get("launchTime") or 0) or None,
            ended_at_ms=int(row["finishedTime"]) if over else None, final_status=str(row["finalStatus"]),
            memory_mb_seconds=int(row["memorySeconds"]) if over else None,
            vcore_seconds=int(row["vcoreSeconds"]) if over else None,
        )  # fmt: skip
        if self.seen.apps.get(life.id) != life:
            self._note("app", **asdict(life))

    def _note_node(self, node: NodeSeen, now_ms: int) -> None:
        if node.id not in self.seen.nodes:
            self._note("node", id=node.id, rack=node.rack, label=node.label, total=node.total)
            self._totals[node.id] = node.total
        elif self._totals[node.id] != node.total:
            self._note("size", at_ms=now_ms, node=node.id, total=node.total)
            self._totals[node.id] = node.total

    def _note(self, what: str, **entry: Any) -> None:
        self.seen.take({"what": what, **entry})
        self._journal.add({"what": what, **entry})


def _rows_by_id(answer: Mapping[str, Any]) -> dict[str, Any]:
    rows = (answer.get("apps") or {}).get("app") or []
    return {str(row["id"]): row for row in ([rows] if isinstance(rows, dict) else rows)}
