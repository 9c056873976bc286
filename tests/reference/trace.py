"""What goes into a reference run besides workload and cluster, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heddle.model.reasons import JobOutcome, Outcome

Lever = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Policy:
    """Six levers, each a name of docs/semantics.md and the parameters that differ from its defaults."""

    admission: Lever = ("admit-all", {})
    sizing: Lever = ("reservation", {})
    partition: Lever = ("shared", {})
    ordering: Lever = ("fifo", {})
    placement: Lever = ("most-free", {})
    queues: Lever = ("one-leaf", {})


@dataclass(frozen=True)
class Observation:
    """How well the use of nodes is known; all 0: exactly."""

    poll_ms: int = 0
    lag_ms: int = 0
    loss_permyriad: int = 0
    latency_ms: int = 30  # with the bridge, from a new request until the policy outside looks


EXACT = Observation()


@dataclass(frozen=True)
class Running:
    """A container that a workload begins with."""

    node: int
    started_at_ms: int  # 0 or before


@dataclass
class Attempt:
    """One attempt of one task; inner tasks are allocated in the instant in which they start."""

    task: int
    attempt: int
    node: int
    allocated_at_ms: int
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    outcome: Outcome | None = None  # None: still there when the run ended


@dataclass
class Trace:
    outcome: str  # "finished" or "stalled"
    reason: str
    attempts: list[Attempt] = field(default_factory=list)  # in order of allocation
    jobs: list[tuple[JobOutcome, int | None]] = field(default_factory=list)
