"""Executors, whose inner tasks the scheduler never sees but whose ends still count; worked out by hand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Physics, Timing
from heddle.model.reasons import Outcome
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

from .trace import Policy
from .worked_example import Example, Span

FINISHED, RELEASED = Outcome.FINISHED, Outcome.RELEASED


def finished_inner_tasks_are_no_remaining_work() -> Example:
    # Two containers fit. Spark has 2 * 10 s of work, plain 15 s. At 12 s the blocker ends; one inner task has finished,
    # so that Spark has 10 s left: its second executor (which has nothing to do) goes before plain's task.
    executors = StageSpec("executors", (100, 0), [TaskSpec(0)] * 2, kind=EXECUTORS)
    inner = StageSpec("inner", (0, 0), [TaskSpec(10_000)] * 2, kind=INNER)
    jobs = [
        JobSpec("blocker", 0, [StageSpec("s", (100, 0), [TaskSpec(12_000)])]),
        JobSpec("spark", 0, [executors, inner]),
        JobSpec("plain", 1, [StageSpec("s", (100, 0), [TaskSpec(15_000)])]),
    ]
    spans: dict[int, list[Span]] = {2: [(12_000, 20_000, RELEASED)], 5: [(20_000, 35_000, FINISHED)]}
    cluster = Cluster((Node("n0", (200, 0), (200, 0)),))
    return Example(build("work", jobs), cluster, Policy(ordering=("srpt", {})), spans, 40_000)


def the_end_of_an_inner_task_leads_to_a_pass() -> Example:
    # One job at a time. 0.5 s: n0 is full and is passed; on n1 the doomed task goes beyond its limit a second time, so
    # that its job fails and n0 is empty; Spark's first executor takes n1, the second fits there no more. n0 has had its
    # turn in this pass. The next pass is at 0.6 s, when the first inner task ends: the second executor starts on n0.
    doomed = StageSpec("doomed", (1000, 0), [TaskSpec(9000), TaskSpec(0, constant(1024, 0))])
    executors = StageSpec("executors", (1100, 0), [TaskSpec(0)] * 2, kind=EXECUTORS)
    inner = StageSpec("inner", (0, 0), [TaskSpec(100)] * 2, kind=INNER)
    jobs = [
        JobSpec("fails", 0, [StageSpec("fill", (1024, 0), [TaskSpec(9000)]), doomed]),
        JobSpec("spark", 300, [executors, inner]),
    ]
    nodes = Node("n0", (2048, 2000), (2048, 2000)), Node("n1", (3072, 6000), (2048, 4000))
    spans: dict[int, list[Span]] = {3: [(500, 700, RELEASED)], 4: [(600, 700, RELEASED)], 6: [(600, 700, FINISHED)]}
    cluster = Cluster(nodes, timing=Timing(retry_ms=500), physics=Physics(pmem_check=True, max_attempts=2))
    policy = Policy(admission=("max-running", {"jobs": 1}), ordering=("ffd-dp", {}))
    return Example(build("pass", jobs), cluster, policy, spans, 5000)
