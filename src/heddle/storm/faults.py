"""What may go wrong, as data: drawn from the seed before the storm begins, so that a storm can be run with fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final


class Kind(StrEnum):
    """The first part of a name says whom it befalls."""

    RM_TIMES_OUT_BEFORE = "rm-times-out-before-the-effect"
    RM_TIMES_OUT_AFTER = "rm-times-out-after-the-effect"
    RM_REFUSES = "rm-refuses"  # 401, 403, 500, 503, or says that it is a standby
    RM_REFUSES_CHANGES = "rm-refuses-changes"
    RM_CUTS_OFF = "rm-cuts-answers-off"
    RM_GARBLES = "rm-garbles-answers"  # other shapes, missing fields, not JSON
    RM_STALE = "rm-answers-stale"
    RM_REORDERS = "rm-reorders-answers"  # rows in another order, and one missing
    RM_SLOW = "rm-slow"
    RM_HALF = "rm-applies-half"  # of a change of several things, and then says 500
    RM_LATE = "rm-acts-late"  # after it has answered
    RM_RESTARTS = "rm-restarts"
    RM_LOSES_APPS = "rm-loses-applications"  # it is restarted without recovery, and its NodeManagers with it
    RM_FAILS_OVER = "rm-fails-over"  # to a standby, which learns of its nodes one by one
    NODE_LOST = "node-lost"
    NODE_HANGS = "node-hangs"
    NODE_RESIZED = "node-resized-by-a-person"
    NODE_DECOMMISSIONED = "node-decommissioned"
    NODE_ANEW = "node-registers-anew"
    QUEUE_CHANGED = "queue-changed-by-a-person"
    QUEUE_STOPPED = "queue-stopped-by-a-person"
    QUEUE_ADDED = "queue-added-by-a-person"  # and removed, when it is over
    APP_CHANGED = "application-changed-by-a-person"
    CLOCK_JUMPS = "clock-jumps"
    DISK_FULL = "disk-full"
    DISK_READ_ONLY = "disk-read-only"
    CONTROLLER_KILLED = "controller-killed"
    CONTROLLER_HANGS = "controller-hangs"
    CONTROLLER_ENDS = "controller-ends"
    CONTROLLER_PAUSED = "controller-paused"
    WATCHDOG_KILLED = "watchdog-killed"
    BOTH_KILLED = "both-killed"
    SECOND_CONTROLLER = "second-controller"
    OBSERVER_KILLED = "observer-killed"
    BRIDGE_FORGETS = "bridge-forgets"  # its table
    BRIDGE_OFF = "bridge-turns-itself-off"
    BRIDGE_HEARS_AGAIN = "bridge-hears-again"  # tables and withdrawals that it was sent before


@dataclass(frozen=True)
class Fault:
    """`at_s`: since the storm began. `pick`: what is left to chance of it (which node, which status, how many)."""

    kind: Kind
    at_s: float
    for_s: float
    pick: int

    def __str__(self) -> str:
        return f"{self.at_s:.1f} s: {self.kind} for {self.for_s:.1f} s (pick {self.pick})"


FAULTS_FROM_S: Final = 5.0
OF_BRIDGE: Final = frozenset(kind for kind in Kind if kind.startswith("bridge-"))


def draw_faults(random: Random, until_s: float, kinds: Sequence[Kind] = tuple(Kind)) -> tuple[Fault, ...]:
    """Few or many; half of the time some of them at almost the same time."""
    faults: list[Fault] = []
    for _ in range(random.choice((1, 2, 3, 4, 6, 9))):
        near = faults[-1].at_s + random.uniform(0, 6) if faults and random.random() < 0.5 else until_s
        at_s = near if near < until_s - 1 else random.uniform(FAULTS_FROM_S, until_s - 1)
        for_s = min(random.choice((0.5, 2.0, 5.0, 12.0, 25.0)) * random.uniform(0.5, 1.5), until_s - at_s)
        faults.append(Fault(random.choice(kinds), at_s, for_s, random.randrange(1 << 20)))
    return tuple(sorted(faults, key=lambda fault: fault.at_s))
