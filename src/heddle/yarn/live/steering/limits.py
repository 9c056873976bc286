"""How far a controller may go, whatever its levers say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from heddle.model.resources import MEMORY, VCORES
from heddle.yarn.live.knobs import Turns
from heddle.yarn.live.snapshot import NodeSeen, Size

FOREIGN_POLLS: Final = 3  # so often a size that is not ours must be seen before we believe it


class Cause(StrEnum):
    """What had the last word on a node's size."""

    LEVER = "lever"
    STALE = "stale"  # its metrics do not move: back to its own size
    PRESSURE = "pressure"  # its memory is nearly full: nothing more is promised
    CAP = "cap"  # as much as may be promised at most
    RISE = "rise"  # as much more as may be promised at once
    LARGEST = "largest"  # one node stays as large as it was, so that no request becomes too large for the cluster
    STRANGE = "strange"  # it has a size that is not ours: wait and see
    FOREIGN = "foreign"  # somebody else resized it: it is theirs
    OUTSIDE = "outside"  # not among the nodes that may be steered


@dataclass(frozen=True)
class Limits:
    """The defaults limit nothing."""

    overcommit: float = math.inf  # of a node's own size
    rise: float = math.inf  # of a node's own size, in one step
    stale_ms: int | None = None  # metrics that have not moved for so long are not believed; None: always believed
    pressure: float = math.inf  # share of memory in use from which nothing more is promised
    only: frozenset[str] | None = None  # nodes that may be steered; None: all
    queues: frozenset[str] | None = None  # leaves whose AM share and applications may be changed; None: all
    keep_largest: bool = False  # one of the largest nodes is never made smaller than it was


class Guards:
    """Applies limits to what levers decide. Remembers metrics, to see that they move, and what was posted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._metrics: dict[str, tuple[tuple[float, ...], int]] = {}  # of each node, and since when
        self._expected: dict[str, tuple[Size, ...]] = {}
        self._strange: dict[str, int] = {}

    def posting(self, node: str, size: Size) -> None:
        """A change that is under way: it comes true after the answer, and may even if no answer comes."""
        self._expected[node] = (*self._expected.get(node, ())[-1:], size)

    def look(self, nodes: Iterable[NodeSeen], now_ms: int) -> dict[str, int]:
        """For how long the figures of each node have not moved.

        A node whose NodeManager hangs stays in the RM's list with its last figures, which then never change.
        """
        ages_ms = {}
        for node in nodes:
            figures = (
                node.used_memory_mb,
                node.physical_cores_used,
                node.containers_memory_mb,
                node.container_vcores_used,
            )
            if node.id not in self._metrics or self._metrics[node.id][0] != figures:
                self._metrics[node.id] = figures, now_ms
            ages_ms[node.id] = now_ms - self._metrics[node.id][1]
        return ages_ms

    def judge(self, node: NodeSeen, decided: Size, own: Size, now_ms: int) -> tuple[Size, Cause]:
        """The size that a node may get, and why. `own`: its size without us. Sizes only ever keep what is allocated."""
        limits = self._limits
        if limits.only is not None and node.id not in limits.only:
            return node.total, Cause.OUTSIDE
        if polls := self._strange_for(node, own):
            return node.total, Cause.FOREIGN if polls >= FOREIGN_POLLS else Cause.STRANGE
        if self._is_stale(node, now_ms):
            return _at_least(own, node.allocated), Cause.STALE
        if self._is_full(node, own):
            return node.allocated, Cause.PRESSURE
        wanted, cause = _at_least(decided, node.allocated), Cause.LEVER
        for bound, why in ((limits.overcommit, Cause.CAP), (limits.rise, Cause.RISE)):
            base = (0, 0) if why is Cause.CAP else node.total
            most = _at_least(_plus(base, own, bound), node.allocated)
            if wanted[MEMORY] > most[MEMORY] or wanted[VCORES] > most[VCORES]:
                wanted, cause = (min(wanted[MEMORY], most[MEMORY]), min(wanted[VCORES], most[VCORES])), why
        return wanted, cause

    def _is_stale(self, node: NodeSeen, now_ms: int) -> bool:
        age_ms = self.look([node], now_ms)[node.id]
        return self._limits.stale_ms is not None and age_ms > self._limits.stale_ms

    def _is_full(self, node: NodeSeen, own: Size) -> bool:
        shares = (node.memory_share or 0.0, node.containers_memory_mb / max(1, own[MEMORY]))
        return max(shares) > self._limits.pressure

    def _strange_for(self, node: NodeSeen, own: Size) -> int:
        """For how many polls a node has had a size that is neither its own nor ours."""
        if node.total in (own, *self._expected.get(node.id, ())):  # a NodeManager that starts anew has its own size
            self._strange[node.id] = 0
        else:
            self._strange[node.id] = self._strange.get(node.id, 0) + 1
        return self._strange[node.id]


def within_queues(turns: Turns, queue_of: Mapping[str, str], queues: frozenset[str] | None) -> Turns:
    """What may be turned: AM shares of these leaves, priorities of the applications in them."""
    if queues is None:
        return turns
    return replace(
        turns,
        am_share_permille={leaf: share for leaf, share in turns.am_share_permille.items() if leaf in queues},
        priorities={app: value for app, value in turns.priorities.items() if queue_of[app] in queues},
    )


def keep_one_large(wanted: Mapping[str, Size], own: Mapping[str, Size]) -> dict[str, Size]:
    """Nodes to lift to their own size: none, or one, if otherwise all of the largest would be smaller than they were.

    The largest request that YARN accepts follows the largest node; below it, applications would be refused.
    """
    largest = max((size[MEMORY] for size in own.values()), default=0)
    large = [node for node in wanted if own[node][MEMORY] == largest]
    if not large or any(wanted[n][MEMORY] >= largest and wanted[n][VCORES] >= own[n][VCORES] for n in wanted):
        return {}
    best = max(large, key=lambda node: (wanted[node], node))
    return {best: _at_least(wanted[best], own[best])}


def _at_least(size: Size, least: Size) -> Size:
    return max(size[MEMORY], least[MEMORY]), max(size[VCORES], least[VCORES])


def _plus(base: Size, own: Size, share: float) -> Size:
    if math.isinf(share):
        return 2**62, 2**62
    return base[MEMORY] + int(own[MEMORY] * share), base[VCORES] + int(own[VCORES] * share) // 1000 * 1000
