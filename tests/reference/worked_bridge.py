"""Stock YARN with the bridge, worked out by hand. Nodes of 1000 MB; the policy looks every second from 0 on, and 30 ms
after it has heard of a request."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import EXACT, Lever, Observation, Policy
from .worked_example import Example, Span

FINISHED, RELEASED = Outcome.FINISHED, Outcome.RELEASED
SMALLEST_FIRST: Lever = ("smallest-first", {})
Spans = dict[int, list[Span]]


def job(name: str, demand: tuple[int, int], seconds: float, tasks: int = 1, at_ms: int = 0, **more: object) -> JobSpec:
    stage = StageSpec("s", demand, [TaskSpec(round(seconds * 1000))] * tasks)
    return JobSpec(name, at_ms, [stage], **more)  # type: ignore[arg-type]


def example(
    jobs: list[JobSpec], ordering: Lever, starts: dict[int, int], observation: Observation = EXACT, nodes: int = 1
) -> Example:
    """`starts`: when which task starts, of those that run for 10 s."""
    cluster = Cluster(tuple(Node(f"n{n}", (1000, 8000), (1000, 8000)) for n in range(nodes)), queues=(Queue("root"),))
    spans: Spans = {task: [(at, at + 10_000, FINISHED)] for task, at in starts.items()}
    return Example(build("bridge", jobs), cluster, Policy(ordering=ordering), spans, 100_000, {}, observation, "bridge")


def a_table_says_who_goes_first() -> Example:
    # First in, first out it would be x before y. By demand y comes first (800), x is last (1600).
    jobs = [job("a", (800, 0), 10), job("x", (800, 0), 10, tasks=2), job("y", (800, 0), 10)]
    return example(jobs, SMALLEST_FIRST, {0: 0, 3: 10_000, 1: 20_000, 2: 30_000})


def a_newcomer_is_held_until_it_is_named() -> Example:
    # Nothing else is there; but the table of 0 s does not know it. It is heard of, and named at 630 ms.
    return example([job("a", (100, 0), 10, at_ms=600)], SMALLEST_FIRST, {0: 630})


def tables_do_not_follow_one_another_too_closely() -> Example:
    # 100 ms: heard at 130, but the last look was at 0. 200 ms: seen by the same look.
    jobs = [job("a", (100, 0), 10, at_ms=100), job("b", (100, 0), 10, at_ms=200)]
    return example(jobs, SMALLEST_FIRST, {0: 250, 1: 250})


def a_tick_may_come_before_it_is_heard() -> Example:
    # The tick of 1 s has seen it: nothing is left to be heard at 1.4 s. The next one, at 1.2 s, is heard at 2 s - that
    # is a tick as well.
    jobs = [job("a", (100, 0), 10, at_ms=600), job("b", (100, 0), 10, at_ms=1200)]
    return example(jobs, SMALLEST_FIRST, {0: 1000, 1: 2000}, Observation(latency_ms=800))


def nobody_is_held_for_longer_than_one_and_a_half_steps() -> Example:
    # Tables take effect 4.2 s late: at 6.5 s that of 2 s decides. The one that names the newcomer comes at 10.73 s.
    return example([job("a", (100, 0), 10, at_ms=6500)], SMALLEST_FIRST, {0: 8000}, Observation(lag_ms=4200))


def nobody_is_held_without_a_table() -> Example:
    # The first one takes effect at 4.2 s.
    return example([job("a", (100, 0), 10, at_ms=600)], SMALLEST_FIRST, {0: 600}, Observation(lag_ms=4200))


def masters_are_never_held() -> Example:
    # The AM starts at once, and is ready at once; its task has to be named.
    worked = example([job("a", (100, 0), 10, at_ms=600, am=(100, 0))], SMALLEST_FIRST, {1: 630})
    return replace(worked, spans=worked.spans | {0: [(600, 10_630, RELEASED)]})


def the_best_fit_goes_first() -> Example:
    # Parts of the node: a 0.1 and 0.125, b 0.6 and 0.5. b is first, then four of a. (By submission, eight of a.)
    jobs = [job("a", (100, 1000), 10, tasks=8), job("b", (600, 4000), 10)]
    return example(jobs, ("ffd-dp", {}), {8: 0, 0: 0, 3: 0, 4: 10_000, 7: 10_000})


def fitness_is_of_the_moment() -> Example:
    # a takes memory, so that nothing of m fits. 1 s: a is gone at 10 s; the table in the bridge was made before, when
    # vcores alone were free. What is free at 10 s counts: m, 0.6 of memory, is before v, 0.5 of vcores.
    jobs = [job("a", (900, 0), 10), job("v", (0, 4000), 10, at_ms=300, tasks=3), job("m", (600, 0), 10, at_ms=300)]
    return example(jobs, ("ffd-dp", {}), {0: 0, 1: 330, 2: 330, 4: 10_000, 3: 10_330})


def every_node_has_the_plan_of_an_empty_cluster() -> Example:
    # The knapsack of 1000 is two of 500, not 600. Both nodes have that plan. The first node takes both of b; nothing of
    # the plan is left to wait for the other one, which takes a.
    jobs = [job("a", (600, 0), 10), job("b", (500, 0), 10, tasks=2)]
    return example(jobs, ("haste", {}), {1: 0, 2: 0, 0: 0}, nodes=2)


def one_node_packs_by_plan() -> Example:
    jobs = [job("a", (600, 0), 10), job("b", (500, 0), 10, tasks=2)]
    return example(jobs, ("haste", {}), {1: 0, 2: 0, 0: 10_000})


def urgency_is_as_old_as_the_table() -> Example:
    # 0 s: nobody holds anything, all are alike: a, a, a, a, a of 200 each. 5 s: b comes. 10 s: a's five end in one
    # instant and its other five have the urgency of the tick before, when it held all: they go before b, although by
    # then it holds nothing.
    jobs = [job("a", (200, 0), 10, tasks=10), job("b", (200, 0), 10, tasks=5, at_ms=5000)]
    return example(jobs, ("haste", {"initial": 0}), {0: 0, 4: 0, 5: 10_000, 9: 10_000, 10: 20_000})
