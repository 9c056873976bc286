"""How long containers take to start on this cluster, learnt from what its ResourceManager shows.

It tells when a container was allocated, not when its process began, nor what it uses. Signs that are seen from outside,
and for how long a container should count in full by each of them:
- an AM registers: as long as that took;
- the memory of a node's containers rises for the first time after an allocation there: twice as long, since those of
  one burst start one after the other;
- it goes on rising: a little longer than the newest container there has been filling its memory so far.
Where no sign comes, the wait so far is what is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED
from heddle.yarn.live.differ import Change
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import ContainerSeen, NodeSeen

FIRST_OF_MANY: Final = 2
SETTLED_MS: Final = 4000  # without a rise for so long, what was allocated has started
MOST_MS: Final = 120_000  # some containers never show anything
WINDOW_MS: Final = 120_000  # signs longer ago say little about now
RISE_MB: Final = 8  # less than any process takes, more than those that run go up and down
SOONEST_MS: Final = 2000  # a NodeManager measures each second and reports each second: what shows sooner is another's


@dataclass
class Silent:
    """A container of which no sign was seen: when it was allocated, the least that its node's containers held since."""

    since_ms: int
    lowest_mb: int


@dataclass
class Filling:
    """A node whose newest container may be filling its memory still: when that was allocated, and the last rise."""

    newest_ms: int
    risen_ms: int | None = None


class StartDelay:
    """Watches one cluster."""

    def __init__(self) -> None:
        self._signs: deque[tuple[int, int]] = deque()  # when each was seen, for how long it says
        self._silent: dict[str, dict[str, Silent]] = {}  # node -> its containers without a sign
        self._filling: dict[str, Filling] = {}
        self._held_mb: dict[str, int] = {}  # by each node's containers, at the last poll
        self._starting: dict[str, tuple[str, int]] = {}  # application -> its AM, not registered yet; since when
        self._seen_any = False

    def learn(self, snapshot: Snapshot, changes: Iterable[Change]) -> None:
        """Takes in one poll, and what the differ says happened since the last."""
        for change in changes:
            if change.container is not None and change.kind in (EVENT_FINISHED, EVENT_STOPPED):
                self._forget(change.container)
        for node in snapshot.nodes.values():
            self._look_at(node, snapshot.at_ms)
        self._look_at_masters(snapshot)
        for change in changes:
            # At the first poll everything looks new.
            if change.container is not None and change.kind == EVENT_ALLOCATED and self._seen_any:
                self._await(change.container, snapshot)
        self._seen_any = True
        while self._signs and self._signs[0][0] < snapshot.at_ms - WINDOW_MS:
            self._signs.popleft()

    def in_full_ms(self, now_ms: int) -> int:
        """For how long a new container should count with all that it reserves; 0: nothing says so."""
        says = [FIRST_OF_MANY * (now_ms - one.since_ms) for silent in self._silent.values() for one in silent.values()]
        says += [now_ms - since_ms for _, since_ms in self._starting.values()]
        says += [says_ms for _, says_ms in self._signs]
        return min(max(says, default=0), MOST_MS)

    def _await(self, container: ContainerSeen, snapshot: Snapshot) -> None:
        now_ms, held_mb = snapshot.at_ms, snapshot.nodes[container.node].containers_memory_mb
        self._silent.setdefault(container.node, {})[container.id] = Silent(now_ms, held_mb)
        self._filling[container.node] = Filling(now_ms)
        if container.is_am and not snapshot.apps[container.app].running:
            self._starting[container.app] = container.id, now_ms

    def _forget(self, container: ContainerSeen) -> None:
        self._silent.get(container.node, {}).pop(container.id, None)
        if self._starting.get(container.app, ("", 0))[0] == container.id:
            del self._starting[container.app]

    def _look_at(self, node: NodeSeen, now_ms: int) -> None:
        """Whose memory it is that rose cannot be told: anyone's who may have begun by now."""
        held_mb = node.containers_memory_mb
        for name, one in list(self._silent.get(node.id, {}).items()):
            one.lowest_mb = min(one.lowest_mb, held_mb)
            if held_mb - one.lowest_mb >= RISE_MB and now_ms - one.since_ms >= SOONEST_MS:
                self._signs.append((now_ms, FIRST_OF_MANY * (now_ms - one.since_ms)))
                del self._silent[node.id][name]
        filling = self._filling.get(node.id)
        rose = held_mb - self._held_mb.get(node.id, held_mb) >= RISE_MB
        self._held_mb[node.id] = held_mb
        if filling is None or now_ms - filling.newest_ms < SOONEST_MS:
            return
        if rose:
            filling.risen_ms = now_ms
            self._signs.append((now_ms, now_ms - filling.newest_ms + SETTLED_MS))
        elif filling.risen_ms is not None and now_ms - filling.risen_ms > SETTLED_MS:
            del self._filling[node.id]  # what rises from now on has grown, not started

    def _look_at_masters(self, snapshot: Snapshot) -> None:
        for app in [name for name in self._starting if name in snapshot.apps and snapshot.apps[name].running]:
            self._signs.append((snapshot.at_ms, snapshot.at_ms - self._starting.pop(app)[1]))
