"""A small run worked out by hand, to be held against the reference and against the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from heddle.model.cluster import Cluster
from heddle.model.reasons import Outcome
from heddle.model.workload import Workload

from .simulator import simulate
from .trace import EXACT, Observation, Policy, Running, Trace

SEED = 1
Span = tuple[int | None, int | None, Outcome | None]  # started, ended, how; None: not yet


@dataclass(frozen=True)
class Example:
    workload: Workload
    cluster: Cluster
    policy: Policy
    spans: dict[int, list[Span]]  # all attempts of these tasks up to the instant `until_ms`
    until_ms: int
    running: dict[int, Running] = field(default_factory=dict)  # tasks that have containers from the beginning
    observation: Observation = EXACT
    executor: str = "native"

    def simulate(self) -> Trace:
        return simulate(
            self.workload,
            self.cluster,
            self.policy,
            SEED,
            self.until_ms,
            self.running,
            self.observation,
            self.executor,
        )

    def check(self, trace: Trace) -> None:
        for task, expected in self.spans.items():
            attempts = [attempt for attempt in trace.attempts if attempt.task == task]
            assert [(a.started_at_ms, a.ended_at_ms, a.outcome) for a in attempts] == expected, f"task {task}"
