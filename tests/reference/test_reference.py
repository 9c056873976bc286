"""The reference simulator against numbers worked out by hand: the arithmetic stands next to each number."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heddle.model.cluster import Cluster, Node, Physics, Queue, Timing
from heddle.model.draw import STREAM_AM_HEARTBEAT, STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.workload import EXECUTORS, INNER, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

from . import Policy, Trace, simulate
from .features import EVERYTHING, Features
from .random_policies import policies
from .random_workloads import pairs
from .trace import Attempt


def node(memory_mb: int, vcores_milli: int, capacity: tuple[int, int] | None = None, name: str = "n0") -> Node:
    return Node(name, capacity or (memory_mb, vcores_milli), (memory_mb, vcores_milli))


def job(name: str, at_ms: int, demand: tuple[int, int], *tasks: TaskSpec, **more: object) -> JobSpec:
    return JobSpec(name, at_ms, [StageSpec("work", demand, list(tasks))], **more)  # type: ignore[arg-type]


def of_task(trace: Trace, task: int) -> list[Attempt]:
    return [attempt for attempt in trace.attempts if attempt.task == task]


def spans(trace: Trace, task: int) -> list[tuple[int | None, int | None, Outcome | None]]:
    return [(attempt.started_at_ms, attempt.ended_at_ms, attempt.outcome) for attempt in of_task(trace, task)]


def test_paper_5_figure_1_under_fifo() -> None:
    # 3 vcores run 0-10 s. 4 more do not fit beside them: 10-30 s, a wait of 10 - 1 = 9 s. FIFO blocks, so
    # 3 and 2 vcores (3 + 2 <= 6) both start at 30 s: waits 30 - 2 = 28 s and 30 - 3 = 27 s. The end is 40 s.
    sizes = [(3, 10), (4, 20), (3, 10), (2, 10)]
    jobs = [job(f"j{i}", i * 1000, (1, c * 1000), TaskSpec(s * 1000)) for i, (c, s) in enumerate(sizes)]
    trace = simulate(build("fig1", jobs), Cluster((node(100, 6000),)), Policy(), seed=1)
    starts = [attempt.started_at_ms for attempt in trace.attempts]
    assert [start - i * 1000 for i, start in enumerate(starts) if start is not None] == [0, 9000, 28000, 27000]
    assert max(ended for _, ended in trace.jobs if ended is not None) == 40_000
    assert trace.outcome == "finished"


def test_drf_published_example() -> None:
    # Dominant shares grow by 4/18 per task of A and by 3/9 per task of B. B's third task would need 9 CPUs
    # for B alone; 3 * 1 + 2 * 3 = 9 CPUs and 3 * 4 + 2 * 1 = 14 GB are in use, so nothing more fits.
    a = job("a", 0, (4096, 1000), *[TaskSpec(10_000)] * 10, queue="root.a")
    b = job("b", 0, (1024, 3000), *[TaskSpec(10_000)] * 10, queue="root.b")
    policy = Policy(ordering=("leaf-order", {"default": "drf"}), queues=("drf", {}))
    trace = simulate(build("drf", [a, b]), Cluster((node(18 * 1024, 9000),)), policy, seed=1, until_ms=5000)
    assert [attempt.task < 10 for attempt in trace.attempts] == [True, False, True, False, True]
    assert (trace.outcome, trace.reason) == ("stalled", "until")


def test_cpu_contention_stretches_work() -> None:
    # Both want 4 of the 4 cores for 10 s: D = 8000 > C = 4000, rate = ONE / 2. From 20 s on (both end at once)
    # nothing is left. A third without CPU demand runs at full speed: 10 s.
    greedy = [job(f"g{i}", 0, (1, 1000), TaskSpec(10_000, constant(1, 4000))) for i in range(2)]
    idle = job("idle", 0, (1, 1000), TaskSpec(10_000, constant(1, 0)))
    trace = simulate(build("cpu", [*greedy, idle]), Cluster((node(100, 4000),)), Policy(), seed=1)
    assert [attempt.ended_at_ms for attempt in trace.attempts] == [20_000, 20_000, 10_000]


def test_cpu_rules_differ() -> None:
    # 4 cores; first: 1 reserved, wants 4; second: 3 reserved, wants 4; 12 s of work each.
    # paper: the first takes all 4 for 12 s, then the second: ends 12, 24.
    # cap: 1 + 3 = 4 cores: rates 1/4 and 3/4: the second ends at 16 s; the first keeps its 1 core: 48 s.
    # shares: 1 : 3 as well until 16 s (first has done 4 s of work), then the first has all: 16 + 8 = 24 s.
    jobs = [job(f"j{r}", 0, (1, r * 1000), TaskSpec(12_000, constant(1, 4000))) for r in (1, 3)]
    ends = {}
    for rule in ("paper", "cap", "shares"):
        cluster = Cluster((node(100, 4000),), physics=Physics(cpu=rule))
        trace = simulate(build("cpu", jobs), cluster, Policy(), seed=1)
        ends[rule] = [attempt.ended_at_ms for attempt in trace.attempts]
    assert ends == {"paper": [12_000, 24_000], "cap": [48_000, 16_000], "shares": [24_000, 16_000]}


def test_memory_crash_and_retry() -> None:
    # 600 + 600 > 1000: the second crashes whenever it starts beside the first, at 1, 2, ..., 9 s (retry 1 s).
    # At 10 s the first ends in phase 1, before the ask of phase 5: the tenth attempt runs 10-20 s.
    first = job("first", 0, (600, 0), TaskSpec(10_000, constant(600, 0)))
    second = job("second", 1000, (600, 0), TaskSpec(10_000, constant(600, 0)))
    cluster = Cluster((node(2000, 1000, capacity=(1000, 1000)),))
    trace = simulate(build("oom", [first, second]), cluster, Policy(), seed=1)
    crashes = [(t * 1000, t * 1000, Outcome.CRASHED) for t in range(1, 10)]
    assert spans(trace, 1) == [*crashes, (10_000, 20_000, Outcome.FINISHED)]


def test_livelock_is_a_stall() -> None:
    # Alone it already uses 1200 of 1000 MB: crashes at 0, 1, 2 s; the third ends the run.
    cluster = Cluster((node(2000, 1000, capacity=(1000, 1000)),), physics=Physics(livelock_crashes=3))
    trace = simulate(build("loop", [job("j", 0, (500, 0), TaskSpec(5, constant(1200, 0)))]), cluster, Policy(), 1)
    assert (trace.outcome, trace.reason, len(trace.attempts)) == ("stalled", "livelock", 3)


def test_limit_kill_fails_the_job() -> None:
    # The second half of the work needs 150 of 100 MB: killed after 2 s, asked for again 1 s later: 0-2, 3-5, ...
    profile = ((5000, (50, 0)), (10_000, (150, 0)))
    cluster = Cluster((node(1000, 1000),), physics=Physics(pmem_check=True))
    trace = simulate(build("pmem", [job("j", 0, (100, 0), TaskSpec(4000, profile))]), cluster, Policy(), 1)
    assert spans(trace, 0) == [(t, t + 2000, Outcome.LIMIT_KILLED) for t in (0, 3000, 6000, 9000)]
    assert trace.jobs == [(JobOutcome.FAILED, 11_000)]


def test_am_deadlock_stalls() -> None:
    # Two AMs of 1000 MB fill the node; neither task ever finds room.
    jobs = [job(f"j{i}", 0, (1000, 0), TaskSpec(1000), am=(1000, 0)) for i in range(2)]
    workload = build("dead", jobs)
    trace = simulate(workload, Cluster((node(2000, 0),)), Policy(), seed=1)
    assert (trace.outcome, trace.reason, len(trace.attempts)) == ("stalled", "am-deadlock", 2)
    # With an AM share of 0.5 one AM at a time: 0-1 s and 1-2 s.
    trace = simulate(workload, Cluster((node(2000, 0),)), Policy(admission=("am-share", {"percent": 0.5})), seed=1)
    assert trace.jobs == [(JobOutcome.FINISHED, 1000), (JobOutcome.FINISHED, 2000)]


def test_heartbeats() -> None:
    seed = 7
    node_phase, am_phase = draw(seed, STREAM_NODE_HEARTBEAT, 0) % 1000, draw(seed, STREAM_AM_HEARTBEAT, 0) % 1000
    timing = Timing(node_heartbeat_ms=1000, am_heartbeat_ms=1000, launch_ms=1000, am_start_ms=3000)
    workload = build("beat", [job("j", 0, (10, 10), TaskSpec(2000), am=(10, 10))])
    trace = simulate(workload, Cluster((node(100, 100),), timing=timing), Policy(), seed)

    def at_or_after(instant: int, phase: int) -> int:
        return next(t for t in range(instant, instant + 1000) if t % 1000 == phase)

    ready = node_phase + 1000 + 3000  # allocated at the node's first heartbeat, launched, started
    asked = at_or_after(ready, am_phase)
    allocated = at_or_after(asked, node_phase)
    started = at_or_after(allocated + 1, am_phase) + 1000
    am = Attempt(0, 0, 0, node_phase, node_phase + 1000, started + 2000, Outcome.RELEASED)
    assert trace.attempts == [am, Attempt(1, 0, 0, allocated, started, started + 2000, Outcome.FINISHED)]


def test_executors_run_inner_tasks_in_slots() -> None:
    # One executor with two slots, three inner tasks of 4 s: 0-4, 0-4, 4-8; it is released with the job at 8 s.
    stages = [
        StageSpec("executors", (100, 0), [TaskSpec(0)], kind=EXECUTORS, slots=2),
        StageSpec("inner", (0, 0), [TaskSpec(4000)] * 3, kind=INNER),
    ]
    trace = simulate(build("spark", [JobSpec("j", 0, stages)]), Cluster((node(100, 0),)), Policy(), seed=1)
    ends = [spans(trace, task) for task in range(4)]
    inner = [[(start, start + 4000, Outcome.FINISHED)] for start in (0, 0, 4000)]
    assert ends == [[(0, 8000, Outcome.RELEASED)], *inner]


def test_idle_executors_are_released() -> None:
    # Two inner tasks of one slot each: both executors at 0. The one that is idle from 1 s on goes at 1 + 2 s.
    stages = [
        StageSpec("executors", (100, 0), [TaskSpec(0)] * 3, kind=EXECUTORS, slots=1, idle_timeout_ms=2000),
        StageSpec("inner", (0, 0), [TaskSpec(1000), TaskSpec(5000)], kind=INNER),
    ]
    trace = simulate(build("spark", [JobSpec("j", 0, stages)]), Cluster((node(300, 0),)), Policy(), seed=1)
    assert spans(trace, 0) == [(0, 3000, Outcome.RELEASED)]
    assert spans(trace, 1) == [(0, 5000, Outcome.RELEASED)]
    assert spans(trace, 3) == [(0, 1000, Outcome.FINISHED)]


def test_usage_feedback_sells_what_is_not_used() -> None:
    # 1000 of 1000 MB reserved, nothing used; damping 1/2: after the first report E = 500, total = 1000 + 1000 - 500,
    # so 500 MB are free and the second starts at the instant of that report. The third waits for the next:
    # allocation set E0 = 1000; then E = 500, total = 1500 + 500, free 500 again, one second later.
    jobs = [
        job(name, at, (size, 0), TaskSpec(20_000, constant(0, 0))) for name, at, size in [("a", 0, 1000), ("b", 1, 500)]
    ]
    third = job("c", 1, (500, 0), TaskSpec(20_000, constant(0, 0)))
    policy = Policy(sizing=("usage-feedback", {"damping": 0.5}))
    trace = simulate(build("sell", [*jobs, third]), Cluster((node(1000, 0),)), policy, seed=3)
    second, last = (of_task(trace, task)[0].started_at_ms for task in (1, 2))
    assert second is not None
    assert last is not None
    assert 1 <= second <= 1000
    assert last == second + 1000


def test_capacity_reserves_a_node_for_the_big_request() -> None:
    # 600 of 1000 MB run for 10 s; 800 wait; then 300 come, which would fit. With reservation they wait for the 800.
    sizes = [(0, 600), (1000, 800), (3000, 300)]
    jobs = [job(f"j{at}", at, (size, 0), TaskSpec(10_000)) for at, size in sizes]
    # (The two small nodes are there because root's maximum, the sum of allowances, must not refuse 600 + 800.)
    nodes = (node(1000, 0), node(250, 0, name="n1"), node(250, 0, name="n2"))
    cluster = Cluster(nodes, timing=Timing(node_heartbeat_ms=1000))
    starts = {}
    for reserve in (0, 1):
        policy = Policy(ordering=("leaf-order", {}), queues=("capacity", {"reserve": reserve}))
        trace = simulate(build("big", jobs), cluster, policy, seed=1)
        starts[reserve] = [of_task(trace, task)[0].started_at_ms for task in range(3)]
    phase = draw(1, STREAM_NODE_HEARTBEAT, 0) % 1000
    # All start at heartbeats. 600 MB: phase to phase + 10 s (in phase 1, before that instant's heartbeat).
    # Unreserved: the 300 MB start at the first heartbeat from 3 s on and end 10 s later; then the 800 MB.
    assert starts[0] == [phase, 13_000 + phase, 3000 + phase]
    assert starts[1] == [phase, 10_000 + phase, 20_000 + phase]


def test_fair_queue_weights() -> None:
    # Queue b weighs three times as much; equal shapes of 100 of 800 MB. Keys: share / weight. The order of
    # allocation: a (tie at 0, smaller number), then b until 3 tasks (3/3 = 1/1: tie, a again), ...: 2 a, 6 b of 8.
    queues = (Queue("root"), Queue("root.a"), Queue("root.b", weight_milli=3000))
    jobs = [job(q, 0, (100, 0), *[TaskSpec(1000)] * 8, queue=f"root.{q}") for q in ("a", "b")]
    cluster = Cluster((node(800, 0),), queues=queues)
    policy = Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {}))
    trace = simulate(build("weights", jobs), cluster, policy, seed=1, until_ms=500)
    assert "".join("ab"[attempt.task >= 8] for attempt in trace.attempts) == "abbbabbb"


@settings(max_examples=30, deadline=None, derandomize=True)
@given(pairs(dataclasses.replace(EVERYTHING, early_stages=False)), policies(), st.integers(0, 9))
def test_random_runs_keep_the_rules(pair: tuple[Workload, Cluster], policy: Policy, seed: int) -> None:
    workload, cluster = pair
    policy = dataclasses.replace(policy, sizing=("reservation", {}))
    trace = simulate(workload, cluster, policy, seed, until_ms=60_000)
    assert trace == simulate(workload, cluster, policy, seed, until_ms=60_000)
    stage_of = [stage for stage in workload.stages for _ in range(int(stage["n_tasks"]))]
    finished = [
        (attempt.task, attempt.ended_at_ms) for attempt in trace.attempts if attempt.outcome == Outcome.FINISHED
    ]
    ends = {task: ended for task, ended in finished if ended is not None}
    assert len(ends) == len(finished), "a task finished twice"
    for attempt in trace.attempts:
        stage = stage_of[attempt.task]
        first_after, n_after = int(stage["first_after"]), int(stage["n_after"])
        for before in workload.stages[workload.stage_after[first_after : first_after + n_after]]:
            first_task, n_tasks = int(before["first_task"]), int(before["n_tasks"])
            last = max(ends[task] for task in range(first_task, first_task + n_tasks))
            assert last <= attempt.allocated_at_ms, "a task before its predecessors"
    containers = [attempt for attempt in trace.attempts if stage_of[attempt.task]["kind"] != INNER]
    for instant in {attempt.allocated_at_ms for attempt in containers}:
        reserved_mb = [0] * cluster.n_nodes
        for attempt in containers:
            ended = attempt.ended_at_ms is not None and attempt.ended_at_ms <= instant
            if attempt.allocated_at_ms <= instant and not ended:
                reserved_mb[attempt.node] += int(workload.shapes[stage_of[attempt.task]["shape"]][0])
        for spec, reserved in zip(cluster.nodes, reserved_mb, strict=True):
            assert reserved <= spec.allowance[0], "more memory promised than allowed"


STOCK = [
    Policy(),
    Policy(ordering=("fifo", {"yarn": 1})),
    Policy(ordering=("haste", {})),
    Policy(ordering=("leaf-order", {}), queues=("capacity", {})),
    Policy(ordering=("leaf-order", {"default": "fair"}), queues=("fair", {})),
]


@pytest.mark.parametrize("heartbeats", [False, True])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.data(), st.sampled_from(STOCK), st.integers(0, 9))
def test_map_reduce_ends(heartbeats: bool, data: st.DataObject, policy: Policy, seed: int) -> None:
    # Reduces as large as maps, larger, filling the cluster, several stages of them beside or after each other.
    workload, cluster = data.draw(pairs(Features(heartbeats=heartbeats, dag=True, early_stages=True)))
    assert simulate(workload, cluster, policy, seed, until_ms=4_000_000).outcome == "finished"


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    pairs(dataclasses.replace(EVERYTHING, gpu=False)),
    st.sampled_from([("capacity", "fifo"), ("fair", "fair"), ("drf", "drf")]),
    st.sampled_from(["most-free", "delay-locality"]),
    st.integers(0, 9),
)
def test_knobs_that_nobody_turns_change_nothing(
    pair: tuple[Workload, Cluster], scheduler: tuple[str, str], placement: str, seed: int
) -> None:
    workload, cluster = pair
    queues, default = scheduler
    policy = Policy(
        admission=("am-share", {"percent": 0.3}),
        ordering=("leaf-order", {"default": default}),
        placement=(placement, {}),
        queues=(queues, {}),
    )
    native = simulate(workload, cluster, policy, seed, until_ms=8_000)
    assert simulate(workload, cluster, policy, seed, until_ms=8_000, executor="yarn-knobs") == native
