"""Tables of what has been, if a log is kept; drained when they are full."""

from __future__ import annotations

from heddle.sim.memory.declaring import Int8, Int16, Int32, Int64, Row, Vector


class LogRow(Row):
    place: Int64  # in the order of all that happened, attempts' lives included
    at_ms: Int64
    value: Int64
    job: Int32
    stage: Int32
    node: Int32
    kind: Int8
    code: Int8  # a Reason, the state of a job, or the number of a resource


class Attempt(Row):
    """The life of an attempt: kept when it ends. Places are as in LogRow."""

    used_ms: Vector
    asked_at_ms: Int64
    allocated_at_ms: Int64
    allocated_place: Int64
    started_at_ms: Int64  # NEVER: it did not start
    started_place: Int64
    fetched_at_ms: Int64  # the end of its fetch; NEVER: it fetched nothing, as for the next four
    fetched_place: Int64
    fetch_ms: Int64
    fetched_bytes: Int64
    cross_rack_bytes: Int64
    ended_at_ms: Int64  # NEVER: it was still there when the run was over
    ended_place: Int64
    task: Int32
    stage: Int32
    node: Int32
    attempt: Int16
    outcome: Int8
