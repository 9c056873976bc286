"""How long containers take to start on this cluster, learnt from what its ResourceManager shows.

It tells when a container was allocated, not when its process began, nor what it uses. Two signs of a start are seen
from outside: an AM registers, and the memory of a node's containers rises after something was allocated there. Both are
first signs: on a busy machine the containers of one burst start one after the other and fill their memory slowly, so
that twice as long is what a container should count in full. Where no sign comes, the wait so far is what is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED
from heddle.yarn.differ import Change
from heddle.yarn.snapshot import ContainerSeen, Snapshot

SLACK: Final = 2  # of the first sign
MOST_MS: Final = 120_000  # some containers never show anything
WINDOW_MS: Final = 300_000  # signs longer ago say little about now
RISE_MB: Final = 8  # less than any process takes, more than those that run go up and down
SOONEST_MS: Final = 2000  # a NodeManager measures each second and reports each second: what shows sooner is another's


@dataclass
class Silent:
    """A container of which no sign was seen: when it was allocated, the least that its node's containers held since."""

    since_ms: int
    lowest_mb: int


class StartDelay:
    """Watches one cluster. `least_ms`: how long a new container counts in full where all start at once."""

    def __init__(self, least_ms: int) -> None:
        self._least_ms = least_ms
        self._signs: deque[tuple[int, int]] = deque()  # when a sign was seen, how long after the allocation
        self._silent: dict[str, dict[str, Silent]] = {}  # node -> its containers without a sign
        self._starting: dict[str, tuple[str, int]] = {}  # application -> its AM, not registered yet; since when
        self._seen_any = False

    def learn(self, snapshot: Snapshot, changes: Iterable[Change]) -> None:
        """Takes in one poll, and what the differ says happened since the last."""
        for change in changes:
            if change.container is not None and change.kind in (EVENT_FINISHED, EVENT_STOPPED):
                self._forget(change.container)
        self._look_at_nodes(snapshot)
        self._look_at_masters(snapshot)
        for change in changes:
            # At the first poll everything looks new.
            if change.container is not None and change.kind == EVENT_ALLOCATED and self._seen_any:
                self._await(change.container, snapshot)
        self._seen_any = True
        while self._signs and self._signs[0][0] < snapshot.at_ms - WINDOW_MS:
            self._signs.popleft()

    def in_full_ms(self, now_ms: int) -> int:
        """For how long a new container should count with all that it reserves."""
        waits = [now_ms - one.since_ms for silent in self._silent.values() for one in silent.values()]
        waits += [now_ms - since_ms for _, since_ms in self._starting.values()]
        slowest = max((*waits, *(delay_ms for _, delay_ms in self._signs)), default=0)
        return max(self._least_ms, min(SLACK * slowest, MOST_MS))

    def _await(self, container: ContainerSeen, snapshot: Snapshot) -> None:
        now_ms, held_mb = snapshot.at_ms, snapshot.nodes[container.node].containers_memory_mb
        self._silent.setdefault(container.node, {})[container.id] = Silent(now_ms, held_mb)
        if container.is_am and not snapshot.apps[container.app].running:
            self._starting[container.app] = container.id, now_ms

    def _forget(self, container: ContainerSeen) -> None:
        self._silent.get(container.node, {}).pop(container.id, None)
        if self._starting.get(container.app, ("", 0))[0] == container.id:
            del self._starting[container.app]

    def _look_at_nodes(self, snapshot: Snapshot) -> None:
        """Whose memory it is that rose cannot be told: anyone's who may have begun by now."""
        for node, silent in self._silent.items():
            held_mb = snapshot.nodes[node].containers_memory_mb if node in snapshot.nodes else 0
            for name, one in list(silent.items()):
                one.lowest_mb = min(one.lowest_mb, held_mb)
                waited_ms = snapshot.at_ms - one.since_ms
                if held_mb - one.lowest_mb >= RISE_MB and waited_ms >= SOONEST_MS:
                    self._signs.append((snapshot.at_ms, waited_ms))
                    del silent[name]

    def _look_at_masters(self, snapshot: Snapshot) -> None:
        for app in [name for name in self._starting if name in snapshot.apps and snapshot.apps[name].running]:
            self._signs.append((snapshot.at_ms, snapshot.at_ms - self._starting.pop(app)[1]))
