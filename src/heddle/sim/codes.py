"""Outcomes and reasons as the plain integers that compiled code passes around."""

from __future__ import annotations

from heddle.model.reasons import Outcome, Reason

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
WAIT_NO_ROOM = int(Reason.NO_ROOM)
WAIT_LABEL = int(Reason.LABEL)
WAIT_QUEUE_LIMIT = int(Reason.QUEUE_LIMIT)
WAIT_POOL_LIMIT = int(Reason.POOL_LIMIT)
WAIT_RESERVED = int(Reason.RESERVED)
