"""Late, polled and lost usage reports, worked out by hand. Reports are made every second, the first at PHASE."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Level, Node
from heddle.model.draw import STREAM_USAGE_REPORT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

from .reports import STREAM_OBSERVATION
from .trace import EXACT, Observation, Policy
from .worked_example import SEED, Example, Span

PHASE = int(draw(SEED, STREAM_USAGE_REPORT, 0)) % 1000
FINISHED = Outcome.FINISHED


def job(name: str, at_ms: int, memory_mb: int, seconds: int) -> JobSpec:
    # Nothing is really used.
    return JobSpec(name, at_ms, [StageSpec("s", (memory_mb, 0), [TaskSpec(seconds * 1000, constant(0, 0))])])


def _background_goes(starts_at_ms: int, observation: Observation) -> Example:
    # Others use 500 of the 1000 MB until 5 s. `a` comes before anybody knows, and holds 600. With borg-default(1.0)
    # 1000 - 600 - 500 are then left: `b` waits until a report made at 5 s or later is seen, then 400 are free.
    node = Node("n0", (2000, 0), (1000, 0), background=(Level(0, (500, 0)), Level(5000, (0, 0))))
    workload = build("late", [job("a", 0, 600, 30), job("b", 3000, 300, 1)])
    spans: dict[int, list[Span]] = {1: [(starts_at_ms, starts_at_ms + 1000, FINISHED)]}
    policy = Policy(sizing=("borg-default", {"fraction": 1.0}))
    return Example(workload, Cluster((node,)), policy, spans, 20_000, observation=observation)


def seen_at_once() -> Example:
    return _background_goes(5000 + PHASE, EXACT)


def seen_late() -> Example:
    return _background_goes(5000 + PHASE + 1700, Observation(lag_ms=1700))


def seen_by_polls() -> Example:
    # Made at 5 s + PHASE, there 300 ms later; polls are at 6 s and at 9 s.
    at_ms = 6000 if PHASE + 300 <= 1000 else 9000
    return _background_goes(at_ms, Observation(poll_ms=3000, lag_ms=300))


def some_are_lost() -> Example:
    # Report i is made at i s + PHASE. The first from the fifth on that is not lost is the one that tells.
    first = next(i for i in range(5, 20) if draw(SEED, STREAM_OBSERVATION, i) % 10_000 >= 7000)
    return _background_goes(first * 1000 + PHASE, Observation(loss_permyriad=7000))


def a_poll_stands_for_the_reports_before_it() -> Example:
    # Usage feedback halves its estimate with each report: 800 for `a`. The poll at 3 s stands for three reports: 100.
    # `b` fits (900 free) and makes it 600, so that `c` fits exactly. With one report it would be 400 + 500 = 900.
    workload = build("value", [job("a", 0, 800, 30), job("b", 0, 500, 30), job("c", 0, 400, 30)])
    spans: dict[int, list[Span]] = {0: [(0, None, None)], 1: [(3000, None, None)], 2: [(3000, None, None)]}
    policy = Policy(sizing=("usage-feedback", {"damping": 0.5}))
    cluster = Cluster((Node("n0", (1000, 0), (1000, 0)),))
    return Example(workload, cluster, policy, spans, 5000, observation=Observation(poll_ms=3000))
