"""Stock YARN driven by knobs, worked out by hand. One node of 1000 MB; the policy looks every second from 0 on."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Node, Queue, Timing
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import EXACT, Observation, Policy
from .worked_example import Example, Span

FINISHED, RELEASED = Outcome.FINISHED, Outcome.RELEASED
Spans = dict[int, list[Span]]
POOLS = Queue("root.pool-0", 500), Queue("root.pool-1", 500)


def job(name: str, memory_mb: int, seconds: float, tasks: int = 1, **more: object) -> JobSpec:
    stage = StageSpec("s", (memory_mb, 0), [TaskSpec(round(seconds * 1000))] * tasks)
    return JobSpec(name, 0, [stage], **more)  # type: ignore[arg-type]


def example(
    jobs: list[JobSpec], policy: Policy, spans: Spans, *queues: Queue, observation: Observation = EXACT
) -> Example:
    cluster = Cluster((Node("n0", (2000, 8000), (1000, 8000)),), queues=(Queue("root"), *queues))
    return Example(build("knobs", jobs), cluster, policy, spans, 100_000, {}, observation, "yarn-knobs")


def half_is_used(observation: Observation, second_ms: int, third_ms: int) -> Example:
    # Half of what is promised counts. 0 s: nothing is promised, 1000 MB: `a`. 1 s: 700 are, 350 count: the total is
    # 700 + 1000 - 350 = 1350: `b` fits (1300). 2 s: 1300 + 1000 - 650 = 1650: `c` fits exactly.
    jobs = [job("a", 700, 60), job("b", 600, 60), job("c", 350, 60)]
    spans: Spans = {task: [(at, at + 60_000, FINISHED)] for task, at in enumerate((0, second_ms, third_ms))}
    return example(jobs, Policy(sizing=("borg-default", {"fraction": 0.5})), spans, observation=observation)


def a_node_is_resized_at_ticks() -> Example:
    return half_is_used(EXACT, 1000, 2000)


def a_knob_turns_late() -> Example:
    # The tick of 1 s takes effect at 1.4 s, the one of 2 s, which sees `b`, at 2.4 s.
    return half_is_used(Observation(lag_ms=400), 1400, 2400)


def the_policy_may_look_less_often() -> Example:
    return half_is_used(Observation(poll_ms=4000), 4000, 8000)


def small_changes_are_not_posted() -> Example:
    # 480 of 600 count: 600 + 1000 - 480 = 1120, less than 256 more than 1000. `b` waits for `a` to end.
    jobs = [job("a", 600, 10), job("b", 600, 60)]
    spans: Spans = {1: [(10_000, 70_000, FINISHED)]}
    return example(jobs, Policy(sizing=("borg-default", {"fraction": 0.8})), spans)


def by_size(policy: Policy) -> Example:
    # All wait at 0. First in, first out it would be x before y. By demand a and y come first (800), x is last (1600):
    # priorities 10, 9, 10. `a` runs first, being the first of 10; at 1.5 s it is y's turn, then x's.
    jobs = [job("a", 800, 1.5), job("x", 800, 1, tasks=2), job("y", 800, 1)]
    spans: Spans = {0: [(0, 1500, FINISHED)], 3: [(1500, 2500, FINISHED)], 1: [(2500, 3500, FINISHED)]}
    return example(jobs, policy, spans)


def keys_become_priorities() -> Example:
    return by_size(Policy(ordering=("smallest-first", {})))


def keys_become_priorities_beside_queues_of_the_policy() -> Example:
    return by_size(Policy(ordering=("smallest-first", {}), queues=("capacity", {})))


def queues_of_the_policy_are_stock_yarns() -> Example:
    # Fair, and nothing else: its leaves are ordered by what jobs hold, so x and y take turns at 0. (First in, first out
    # would give x all four.)
    jobs = [job("x", 250, 10, tasks=4), job("y", 250, 10, tasks=4)]
    spans: Spans = {task: [(0, 10_000, FINISHED)] for task in (0, 1, 4, 5)}
    fair = Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))
    return example(jobs, fair, spans)


def fair_brings_its_share_of_masters() -> Example:
    # Both queues are active: fair shares of 500, half of which AMs may have: one of 200 in each queue. (Of what either
    # may have at most, 1000, half would be room for two.) The others follow after 5 s.
    jobs = [job(f"{q}{i}", 50, 5, am=(200, 0), queue=f"root.{q}") for q in "ab" for i in range(2)]
    spans: Spans = {0: [(0, 5000, RELEASED)], 4: [(0, 5000, RELEASED)]}
    spans |= {2: [(5000, 10_000, RELEASED)], 6: [(5000, 10_000, RELEASED)]}
    policy = Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))
    return example(jobs, policy, spans, Queue("root.a"), Queue("root.b"))


def admission_becomes_an_am_share() -> Example:
    # Two of three jobs may run: their AMs make 200 of 1000 MB, so the share is 20%. Stock YARN's would be 10%, one AM.
    # The third AM starts when the first two end. (With nothing to wait for, tasks start with their AM.)
    jobs = [job(name, 100, 5, am=(100, 0)) for name in ("a", "b", "c")]
    spans: Spans = {0: [(0, 5000, RELEASED)], 2: [(0, 5000, RELEASED)], 4: [(5000, 10_000, RELEASED)]}
    return example(jobs, Policy(admission=("max-running", {"jobs": 2})), spans)


def an_am_share_is_of_what_the_leaf_may_have_now() -> Example:
    # Three jobs may run: b's, which has no AM, and two of a's. 0 s: nothing is allocated, all 1000 MB are a's to have:
    # 200 of AMs are 20%. But in the offer b has its first 100 before a's second AM is looked at: 20% of 900 are 180.
    # 1 s: b holds 400, so a may have 600; 200 of AMs are 334 permille, rounded up, and 334 permille of 600 are 201. The
    # second AM starts. 10 s: the first job is gone, the third AM takes its place: 334 permille again.
    jobs = [job("b", 100, 60, tasks=4, queue="root.b")]
    jobs += [job(f"a{i}", 100, 10, am=(100, 0), queue="root.a") for i in range(3)]
    starts = {4: 0, 6: 1000, 8: 10_000}
    spans: Spans = {task: [(at, at + 10_000, RELEASED)] for task, at in starts.items()}
    halves = (Queue(f"root.{q}", 500, user_limit_factor_milli=2000) for q in "ab")
    return example(jobs, Policy(admission=("max-running", {"jobs": 3})), spans, *halves)


def pools_become_queues() -> Example:
    # `small` has 1 container, at most 0.2 * 10: pool 1, which may hold 300. `large` stays in pool 0 with 700: seven of
    # its tasks start, although there is room for nine; the others wait for them.
    jobs = [
        job("large", 100, 10, tasks=10, queue="root.pool-0"),
        job("small", 100, 10, queue="root.pool-0"),
    ]
    spans: Spans = {6: [(0, 10_000, FINISHED)], 7: [(10_000, 20_000, FINISHED)], 10: [(0, 10_000, FINISHED)]}
    policy = Policy(partition=("small-pool", {"share": 0.3, "theta": 0.2}))
    return example(jobs, policy, spans, *POOLS)


def masters_in_pools_count_where_others_wait() -> Example:
    # AMs of root.default may hold 20% of 1000: two. 0 s: a and b start. 1 s: both are small and would go to pool 1, but
    # then root.default would hold no AM and YARN let c in whatever its share: a goes, b stays, and the share falls to
    # 100 permille, b's own AM. 5 s: a has ended; of the 200, only b's 100 are held: c may start. 10 s: d follows.
    seconds = {"a": 5, "b": 10, "c": 5, "d": 5}
    jobs = [job(name, 100, lasts, am=(100, 0)) for name, lasts in seconds.items()]
    spans: Spans = {0: [(0, 5000, RELEASED)], 2: [(0, 10_000, RELEASED)]}
    spans |= {4: [(5000, 10_000, RELEASED)], 6: [(10_000, 15_000, RELEASED)]}
    policy = Policy(admission=("am-share", {"percent": 0.2}), partition=("small-pool", {"share": 0.5, "theta": 0.2}))
    return example(jobs, policy, spans, *POOLS)


def the_last_master_may_go_where_another_may_come() -> Example:
    # AMs may hold half: one more like this would be let in, so that it need not stay. 0 s: AM and nine tasks, in
    # root.default. 1 s: it is large and goes to pool 0, which may hold 700. 10 s: nine tasks end; the AM and six of the
    # other nine are 700. 20 s: the last three.
    jobs = [job("large", 100, 10, tasks=18, am=(100, 0))]
    spans: Spans = {9: [(0, 10_000, FINISHED)], 15: [(10_000, 20_000, FINISHED)], 16: [(20_000, 30_000, FINISHED)]}
    policy = Policy(admission=("am-share", {"percent": 0.5}), partition=("small-pool", {"share": 0.3, "theta": 0.2}))
    return example(jobs, policy, spans, *POOLS)


def a_posted_size_moves_a_leafs_maximum() -> Example:
    # a may have half. Half of what is promised counts. 0 s: T = 1000: a five, b five. 1 s: 1500 is posted, T follows in
    # the same instant: a may have 750, two more. 2 s: 1200 + 1000 - 600 = 1600 would be 100 more, less than 256: it is
    # not posted. The next one starts when the first ones end.
    jobs = [job("a", 100, 60, tasks=10, queue="root.a"), job("b", 100, 60, tasks=5, queue="root.b")]
    spans: Spans = {4: [(0, 60_000, FINISHED)], 6: [(1000, 61_000, FINISHED)], 7: [(60_000, None, None)]}
    queues = Queue("root.a", 500, 500), Queue("root.b", 500)
    policy = Policy(sizing=("borg-default", {"fraction": 0.5}))
    return replace(example(jobs, policy, spans, *queues), until_ms=61_000)


def the_prototypes_headroom_is_posted() -> Example:
    # 1 s: the report says that `a` uses its 700, and then its allocation is heard of: 1400 are expected. The hardware
    # has 2000, and containers use 700 of the 1000: 300 are left, the total stays 1000, and `b` has room. (With
    # 1000 - 1400 available, the 700 that are held would be posted.)
    later = JobSpec("b", 1500, [StageSpec("s", (300, 0), [TaskSpec(1000)])])
    policy = Policy(sizing=("usage-feedback", {"damping": 1, "headroom": "prototype"}))
    return example([job("a", 700, 60), later], policy, {1: [(1500, 2500, FINISHED)]})


def a_posted_size_counts_though_nobody_waits() -> Example:
    # The AM takes 600 MB of the large node. 1 s: half of that counts, and 1300 are posted: 1700 in all, though nothing
    # is asked for until the AM is ready. 3 s: 1100 are left, 700 for the map, 400 for the reduce. With the 1400 of
    # before it would be 100, and the reduce be asked for when no map waits, 1 ms later.
    stages = [
        StageSpec("map", (700, 0), [TaskSpec(10_000)]),
        StageSpec("reduce", (200, 0), [TaskSpec(5000)], after=("map",), slow_start_permille=0),
    ]
    nodes = Node("large", (1000, 0), (1000, 0)), Node("small", (400, 0), (400, 0))
    cluster = Cluster(nodes, timing=Timing(am_start_ms=3000))
    policy = Policy(sizing=("borg-default", {"fraction": 0.5}))
    workload = build("posted", [JobSpec("mr", 0, stages, am=(600, 0))])
    return Example(workload, cluster, policy, {2: [(3000, None, None)]}, 4000, executor="yarn-knobs")


def shares_of_nothing_stay_as_they_are() -> Example:
    # From 0.5 s on the only node takes nothing more, and what it holds needs nothing: ticks see a cluster of 0 MB.
    cluster = Cluster((Node("n0", (1000, 0), (1000, 0), decommission_at_ms=500),), queues=(Queue("root"), *POOLS))
    policy = Policy(partition=("small-pool", {"share": 0.3, "theta": 0.3}))
    spans: Spans = {0: [(0, 10_000, FINISHED)]}
    return Example(build("nothing", [job("a", 0, 10)]), cluster, policy, spans, 20_000, executor="yarn-knobs")
