"""Observes a ResourceManager: which containers lived where and when, and what became of applications.

Everything goes into a journal at once; a restarted observer reads it and goes on. Instants are the RM's, in ms since
1970. The RM tells when a container began but not when it ended: that lies between the last poll that showed it and the
first that did not, and the middle is taken. Containers, the AM's first of all, live on for a while when their
application has ended, and YARN counts them until they are gone: so they are asked for until then. A container that came
and went between two polls is missed; YARN's own memorySeconds and vcoreSeconds, kept for every application, tell how
much that was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import application_id
from heddle.yarn.live.rm_answers import (
    ENDED_STATES,
    Reading,
    read_apps,
    read_container_starts,
    read_containers,
    read_nodes,
    rows_under,
    text,
    whole,
)
from heddle.yarn.live.things_seen import AppSeen, ContainerSeen, NodeSeen, Size
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.node_containers import NodeContainers
from heddle.yarn.observe.seen import AppLife, ContainerLife, read_seen

ENDED: Final = ",".join(ENDED_STATES)
UNWANTED: Final = "resourceRequests,timeouts,resourceInfo"  # of applications that have ended
NOTE_POLLS_MS: Final = 1000
OVERLAP_MS: Final = 60_000  # applications that ended this long before the last poll are asked for again
LINGERING_MS: Final = 5000  # no container is taken to outlive its application longer, unless it was seen to


class Observer:
    """Call poll() about once a second. `journal` holds what earlier observers of the same cluster saw."""

    def __init__(
        self, client: RmClient, journal: Journal, clock_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    ) -> None:
        self._client = client
        self._by_node = NodeContainers(client)
        self.journal = journal
        self._clock_ms = clock_ms
        self.seen = read_seen(journal.read(), str(journal.path))
        self.nodes: Mapping[str, NodeSeen] = {}  # as the last poll showed them
        self._asked: dict[tuple[str, int, Size], int] = {}
        self._open = {life.id: life for life in self.seen.containers.values() if life.ended_at_ms is None}
        self._totals: dict[str, Size] = {name: node.total for name, node in self.seen.nodes.items()}
        self._totals |= {node: size for _, node, size in self.seen.sizes}
        if not self.seen.began_ms:
            self._note("began", at_ms=clock_ms())
        self._polled_ms = self.seen.last_poll_ms
        # The latest instant of the RM's own clock: what has ended since is asked for, however our own clock jumps.
        self._shown_ms = max((life.ended_at_ms or life.submitted_at_ms for life in self.seen.apps.values()), default=0)

    def poll(self) -> None:
        """Looks once. Raises YarnError, with nothing lost, if the RM cannot be asked."""
        where = self._client.address
        nodes = read_nodes(self._client.nodes(), where)
        answer = self._client.apps()
        live, lives, shown_ms = read_apps(answer, where), _lives(answer, where), _shown_ms(answer, where)
        now_ms = shown_ms or self._clock_ms()
        since_ms = (self._shown_ms or self.seen.began_ms) - OVERLAP_MS
        answer = self._client.apps(states=ENDED, finishedTimeBegin=str(since_ms), deSelects=UNWANTED)
        over = read_apps(answer, where)
        ended = {name: life for name, life in _lives(answer, where).items() if self._is_of_this(life)}
        lingering = {life.app for life in self._open.values()} & over.keys()
        asked_for = [*live.values(), *(over[name] for name in lingering)]
        for app in asked_for:
            self._note_asks(app, now_ms)
        if self._by_node.cheaper(len(asked_for), nodes.values()):
            held = self._look_at_nodes({app.id: app for app in asked_for}, nodes, now_ms)
        else:
            held = self._look_at_applications(asked_for, where)
        self._note_ends(held, ended, now_ms)
        for life in (*lives.values(), *ended.values()):
            self._note_app(life)
        for node in nodes.values():
            self._note_node(node, now_ms)
        self.nodes, self._polled_ms, self._shown_ms = nodes, now_ms, max(shown_ms, self._shown_ms)
        if now_ms - self.seen.last_poll_ms >= NOTE_POLLS_MS:
            self._note("poll", at_ms=now_ms)
        self.journal.flush()

    def _look_at_applications(self, apps: Iterable[AppSeen], where: str) -> set[str]:
        """One call for each; the containers that are there."""
        held: set[str] = set()
        for app in apps:
            containers = self._client.containers(app.id, app.attempt) if app.attempt else None
            if containers is not None:
                starts = read_container_starts(containers, app, where)
                for container in read_containers(containers, app, where).values():
                    held.add(container.id)
                    self._note_held(container, starts[container.id])
        return held

    def _look_at_nodes(self, apps: Mapping[str, AppSeen], nodes: Mapping[str, NodeSeen], now_ms: int) -> set[str]:
        """One call for each node. What was on a node that does not answer is taken to be there still."""
        found, silent = self._by_node.read(nodes.values(), apps)
        held = {life.id for life in self._open.values() if life.node in silent}
        for container in found:
            held.add(container.id)
            self._note_held(self._with_priority(container), now_ms)
        return held

    def _with_priority(self, container: ContainerSeen) -> ContainerSeen:
        """That of a request of its size, where its application had only one such."""
        if container.is_am:
            return replace(container, priority=0)
        found = {p for app, p, size in self._asked if (app, size) == (container.app, container.size)}
        return replace(container, priority=found.pop()) if len(found) == 1 else container

    def _note_held(self, container: ContainerSeen, began_ms: int) -> None:
        if container.id not in self._open:
            asked_ms = self._asked.get((container.app, container.priority, container.size), began_ms)
            # Also one that had ended, it seemed: an RM that was restarted hears of containers one by one.
            self._note_container(
                ContainerLife(**vars(container), asked_at_ms=min(asked_ms, began_ms), began_at_ms=began_ms)
            )

    def _is_of_this(self, ended: AppLife) -> bool:
        """Whether an application that has ended belongs here: it was seen, or ended after somebody began to look.

        One that is being killed counts as live until that is saved, and its end then as of when it was killed, which
        may be before anybody looked.
        """
        return ended.id in self.seen.apps or (ended.ended_at_ms or 0) >= self.seen.began_ms

    @property
    def polled_ms(self) -> int:
        """When it last looked, by the ResourceManager's clock."""
        return self._polled_ms

    @property
    def held(self) -> Iterable[ContainerLife]:
        """The containers that were there."""
        return self._open.values()

    def running(self) -> set[str]:
        """Applications that have not ended, as far as was seen, or still hold containers."""
        return {app.id for app in self.seen.apps.values() if app.ended_at_ms is None} | {
            life.app for life in self._open.values()
        }

    def _note_asks(self, app: AppSeen, now_ms: int) -> None:
        for ask in app.asks:
            self._asked.setdefault((app.id, ask.priority, ask.size), now_ms)

    def _note_ends(self, held: set[str], ended: Mapping[str, AppLife], now_ms: int) -> None:
        for container in list(self._open.values()):
            if container.id in held:
                continue
            first_ms = max(container.began_at_ms, self._polled_ms)
            last_ms = now_ms
            if container.app in ended:
                finished_ms = ended[container.app].ended_at_ms or 0
                last_ms = min(now_ms, finished_ms + LINGERING_MS)
                if container.is_am:  # it is the AM that says when its application has ended
                    first_ms = max(first_ms, min(last_ms, finished_ms))
            last_ms = max(first_ms, last_ms)
            life = replace(container, ended_at_ms=(first_ms + last_ms) // 2, ended_between_ms=(first_ms, last_ms))
            self._note_container(life)

    def _note_container(self, life: ContainerLife) -> None:
        self._note("container", **vars(life))
        if life.ended_at_ms is None:
            self._open[life.id] = life
        else:
            del self._open[life.id]

    def _note_app(self, life: AppLife) -> None:
        known = self.seen.apps.get(life.id)
        if known is not None:  # what an answer leaves out, it does not take back
            life = replace(
                life,
                kind=life.kind or known.kind,
                tags=life.tags or known.tags,
                launched_at_ms=life.launched_at_ms or known.launched_at_ms,
            )
        # A stale answer may show an application as running that has already ended: nothing ends twice.
        is_stale = known is not None and known.ended_at_ms is not None and life.ended_at_ms is None
        if life != known and not is_stale:
            self._note("app", **asdict(life))

    def _note_node(self, node: NodeSeen, now_ms: int) -> None:
        if node.id not in self.seen.nodes:
            self._note("node", id=node.id, rack=node.rack, label=node.label, total=node.total, http=node.http)
            self._totals[node.id] = node.total
        elif self._totals[node.id] != node.total:
            self._note("size", at_ms=now_ms, node=node.id, total=node.total)
            self._totals[node.id] = node.total

    def _note(self, what: str, **entry: Any) -> None:
        self.seen.take({"what": what, **entry})
        self.journal.add({"what": what, **entry})


def _shown_ms(answer: Mapping[str, Any], where: str) -> int:
    """The RM's clock where it shows, in a live application's start and age; else 0."""
    with Reading(f"{where}: apps"):
        ages = (whole(row["startedTime"]) + whole(row["elapsedTime"]) for row in rows_under(answer, "apps", "app"))
        return max(ages, default=0)


def _lives(answer: Mapping[str, Any], where: str) -> dict[str, AppLife]:
    with Reading(f"{where}: apps"):
        return {life.id: life for life in map(_life, rows_under(answer, "apps", "app"))}


def _life(row: Mapping[str, Any]) -> AppLife:
    over = whole(row["finishedTime"]) > 0
    return AppLife(
        id=application_id(row["id"]), name=text(row["name"]), kind=text(row.get("applicationType", "")),
        queue=text(row["queue"]), user=text(row["user"]), submitted_at_ms=whole(row["startedTime"]),
        launched_at_ms=whole(row.get("launchTime") or 0) or None,
        ended_at_ms=whole(row["finishedTime"]) if over else None, final_status=text(row["finalStatus"]),
        memory_mb_seconds=whole(row["memorySeconds"]) if over else None,
        vcore_seconds=whole(row["vcoreSeconds"]) if over else None, tags=text(row.get("applicationTags") or ""),
    )  # fmt: skip
