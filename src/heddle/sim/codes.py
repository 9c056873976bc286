"""Outcomes, reasons, states, phases and kinds as the plain integers that compiled code passes around."""

from __future__ import annotations

from typing import Final

import numpy as np

from heddle.model.reasons import Outcome, Reason
from heddle.policy.reserving import RESERVING

END_FINISHED = int(Outcome.FINISHED)
END_CRASHED = int(Outcome.CRASHED)
END_LIMIT_KILLED = int(Outcome.LIMIT_KILLED)
END_FAILED = int(Outcome.FAILED)
END_NODE_LOST = int(Outcome.NODE_LOST)
END_PREEMPTED = int(Outcome.PREEMPTED)
END_AM_LOST = int(Outcome.AM_LOST)
END_JOB_FAILED = int(Outcome.JOB_FAILED)
END_RELEASED = int(Outcome.RELEASED)

WAIT_NONE = int(Reason.NONE)
WAIT_BEHIND = int(Reason.BEHIND)
WAIT_NO_ROOM = int(Reason.NO_ROOM)
WAIT_LABEL = int(Reason.LABEL)
WAIT_QUEUE_LIMIT = int(Reason.QUEUE_LIMIT)
WAIT_POOL_LIMIT = int(Reason.POOL_LIMIT)
WAIT_RESERVED = int(Reason.RESERVED)
WAIT_HELD = int(Reason.HELD)

FOREVER: Final = np.int64(1 << 62)
NEVER: Final = -FOREVER  # where an instant may lie before 0

# Phases of a container's row (slot).
FREE: Final = 0
LAUNCHING: Final = 1  # allocated, not running yet
AM_STARTING: Final = 2
AM_READY: Final = 3
WORKING: Final = 4
HOLDING: Final = 5  # an early reduce that waits for the maps
EXECUTOR: Final = 6
FETCHING: Final = 7  # a task whose input is on its way

# States of a task.
UNASKED: Final = 0
ASKED: Final = 1
HELD: Final = 2
DONE: Final = 3
RETURNING: Final = 4  # will be asked for again

# Kinds of timers, in the order in which they are served at one instant.
TIMER_NODE_RETURN: Final = 0
TIMER_NODE_LOSS: Final = 1
TIMER_DECOMMISSION: Final = 2
TIMER_BACKGROUND: Final = 3
TIMER_ARRIVE: Final = 4
TIMER_ASK: Final = 5
TIMER_RETRY: Final = 6
TIMER_WAKE: Final = 7
TIMER_LOOK: Final = 8  # of an AM at its early stages; the last: an instant of looks alone is told by it

# How nodes are kept for requests that do not fit (policy/lever.py, RESERVING).
AS_CAPACITY: Final = RESERVING.index("capacity")
IF_STARVED: Final = RESERVING.index("starved")

# Phases of an instant (docs/semantics.md, "Time"). NEXT is between two instants.
NEXT: Final = 0
CONTAINERS: Final = 1
NODES: Final = 2
REPORTS: Final = 3  # has no turn of its own: reports are read when somebody needs to know
ARRIVALS: Final = 4
ASKS: Final = 5
OFFERS: Final = 6
CRASHES: Final = 7

# A node that is being decommissioned.
LEAVING: Final = 1  # and holds something
LEFT: Final = 2  # and is gone, or lost

# Of an instant at which nothing is due but reports: it is idle unless a node that is there makes one.
ONLY_REPORTS: Final = 2
# Nothing is due but AMs' looks at their early stages: unless one of them does something, there is no such instant.
ONLY_LOOKS: Final = 3

# Why advance() came back.
RUNNING: Final = 0
FINISHED: Final = 1
STALLED: Final = 2
LIVELOCK: Final = 3
LOG_FULL: Final = 4
SLOTS_FULL: Final = 5
TIMERS_FULL: Final = 6
PAUSED: Final = 7
FLOWS_FULL: Final = 8
JOBS_WANTED: Final = 10  # the clock has come to jobs that are not in memory
LOOK: Final = 9  # whoever drives the cluster from outside looks now, and may turn knobs

GONE: Final = -1  # the turn of an entry that was taken out of the middle of a bucket's run

# Kinds of log rows.
LOG_ARRIVED: Final = 0
LOG_ADMITTED: Final = 1
LOG_WAIT: Final = 2
LOG_JOB_ENDED: Final = 3
LOG_NODE_LOST: Final = 4
LOG_NODE_RETURNED: Final = 5
LOG_RESIZED: Final = 6
LOG_MOVED: Final = 7  # this and the next four: knobs; `value` is the new one
LOG_PRIORITY: Final = 8
LOG_QUEUE_GUARANTEE: Final = 9  # of a queue: its number is in `node`
LOG_QUEUE_MAXIMUM: Final = 10
LOG_QUEUE_AM_SHARE: Final = 11
LOG_NAMES: Final = (
    "arrived", "admitted", "wait", "job-ended", "node-lost", "node-returned", "resized", "moved", "priority",
    "queue-guarantee", "queue-maximum", "queue-am-share",
)  # fmt: skip
