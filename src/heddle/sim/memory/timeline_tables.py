"""Tables of what is to come: containers that are due, and timers."""

from __future__ import annotations

from heddle.sim.memory.declaring import Int32, Int64, Row


class Due(Row):
    at_ms: Int64
    task: Int32
    slot: Int32


class Timer(Row):
    at_ms: Int64
    kind: Int32
    subject: Int32
