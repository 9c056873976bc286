"""What guards go by: how far they may let a controller go, and what it saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.things_seen import NodeSeen, QueueSeen, Size


@dataclass(frozen=True)
class Limits:
    """The defaults limit nothing."""

    overcommit: float = math.inf  # of a node's own size
    rise: float = math.inf  # of a node's own size, in one step
    stale_ms: int | None = None  # metrics unchanged for this long are stale and ignored; None: never stale
    pressure: float = math.inf  # share of memory in use from which nothing more is promised
    only: frozenset[str] | None = None  # nodes that may be steered; None: all
    queues: frozenset[str] | None = None  # leaves that may be changed, with their applications; None: all
    keep_largest: bool = False  # one of the largest nodes is never made smaller than it was


@dataclass(frozen=True)
class Seen:
    """One look at a cluster, as far as guards need it."""

    limits: Limits = field(default_factory=Limits)
    nodes: Mapping[str, NodeSeen] = field(default_factory=dict)
    own: Mapping[str, Size] = field(default_factory=dict)  # every node's size without us
    ages_ms: Mapping[str, int] = field(default_factory=dict)  # for how long a node's figures have not moved
    queue_of: Mapping[str, str] = field(default_factory=dict)  # application -> its leaf
    queues: tuple[QueueSeen, ...] = ()
    may_preempt: Callable[[], bool] = lambda: False  # YARN takes from queues what they are not due, or may; asked late
    ownership: Ownership = field(default_factory=Ownership)  # after this look
