"""Why not, as data: every wait in a record has one of these reasons."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Why a request is not running. The numbers are part of the record format: never reuse one."""

    NONE = 0
    BEHIND = 1  # others come first in the order
    NO_ROOM = 2  # no offered node has enough free
    NOT_ADMITTED = 3  # admission: the AM may not start yet
    AM_SHARE = 4  # admission: the queue's AM share is used up
    MAX_RUNNING = 5  # admission: as many jobs run as may
    QUEUE_LIMIT = 6  # the queue, or one above it, is at its maximum
    USER_LIMIT = 7  # the user has their share of the queue
    POOL_LIMIT = 8  # the pool's share is used up
    RESERVED = 9  # the node is kept for a bigger request
    LOCALITY = 10  # waiting for a node near the input
    LABEL = 11  # no node with the label has room
    VETO = 12  # the policy's placement refuses every offered node
    HELD = 13  # the bridge has no table yet that names the request

    @property
    def phrase(self) -> str:
        return _PHRASES[self]


_PHRASES = {
    Reason.NONE: "running or not asked for",
    Reason.BEHIND: "others come first",
    Reason.NO_ROOM: "no node has enough free",
    Reason.NOT_ADMITTED: "its application master is not admitted",
    Reason.AM_SHARE: "the queue's AM share is used up",
    Reason.MAX_RUNNING: "as many jobs run as may",
    Reason.QUEUE_LIMIT: "the queue is at its maximum",
    Reason.USER_LIMIT: "the user has their share of the queue",
    Reason.POOL_LIMIT: "the pool's share is used up",
    Reason.RESERVED: "the node is kept for a bigger request",
    Reason.LOCALITY: "waiting for a node near its input",
    Reason.LABEL: "no node with its label has room",
    Reason.VETO: "the placement policy refuses the nodes",
    Reason.HELD: "the bridge waits for a table that names it",
}


class Outcome(IntEnum):
    """How one attempt of a container ended."""

    FINISHED = 0
    CRASHED = 1  # the node's memory was saturated
    LIMIT_KILLED = 2  # above its own reservation
    FAILED = 3  # a fault of its own
    NODE_LOST = 4
    PREEMPTED = 5
    AM_LOST = 6  # its application master died
    JOB_FAILED = 7  # killed because the job gave up
    RELEASED = 8  # given back idle (executors, AMs at the job's end)


class JobOutcome(IntEnum):
    """How a job ended."""

    UNFINISHED = 0
    FINISHED = 1
    FAILED = 2
