"""YARN's FifoScheduler, worked out by hand: who is passed, who is stopped, and what counts."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Timing
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import SEED, Example, Span

PHASE = int(draw(SEED, STREAM_NODE_HEARTBEAT, 0)) % 1000
HEARTBEATS = Timing(node_heartbeat_ms=1000)
FIFO_SCHEDULER = Policy(ordering=("fifo", {"yarn": 1}))


def stage(name: str, memory_mb: int, tasks: int = 1, vcores_milli: int = 0) -> StageSpec:
    return StageSpec(name, (memory_mb, vcores_milli), [TaskSpec(10_000)] * tasks)


def example(jobs: list[JobSpec], starts: list[int], timing: Timing, policy: Policy = FIFO_SCHEDULER) -> Example:
    """All tasks last 10 s, on one node of 1000 MB and one vcore."""
    spans: dict[int, list[Span]] = {k: [(at, at + 10_000, Outcome.FINISHED)] for k, at in enumerate(starts)}
    cluster = Cluster((Node("n0", (1000, 1000), (1000, 1000)),), timing=timing)
    return Example(build("fifo", jobs), cluster, policy, spans, 60_000)


def another_job_passes_a_head_that_does_not_fit() -> Example:
    # 600 MB of `first` leave 400: `second` (600) waits, though its priority is higher; `third` (300) passes it.
    jobs = [
        JobSpec("first", 0, [stage("s", 600)]),
        JobSpec("second", 0, [stage("s", 600)], priority=1),
        JobSpec("third", 0, [stage("s", 300)]),
    ]
    return example(jobs, [PHASE, PHASE + 10_000, PHASE], HEARTBEATS)


def memory_alone_counts() -> Example:
    # The calculator is `dominant` and the node has one vcore; three requests of one vcore each fit by memory.
    jobs = [JobSpec(name, 0, [stage("s", 300, vcores_milli=1000)]) for name in ("first", "second", "third")]
    return example(jobs, [PHASE, PHASE, PHASE], HEARTBEATS)


def a_request_that_gets_nothing_stops_the_later_ones_of_its_job() -> Example:
    # 400 MB are left beside `first`. `large` (600) of the second job does not fit, and stops its `small` (200), which
    # would; `third` (300) goes. In 10 s large and small begin together: 600 + 200 of 1000.
    jobs = [
        JobSpec("first", 0, [stage("s", 600)]),
        JobSpec("second", 0, [stage("large", 600), stage("small", 200)]),
        JobSpec("third", 0, [stage("s", 300)]),
    ]
    return example(jobs, [PHASE, PHASE + 10_000, PHASE + 10_000, PHASE], HEARTBEATS)


def without_blocking_it_stops_nobody() -> Example:
    # The same: `small` takes 200 of the 400 MB, and `third` waits for 10 s; then 600 + 300 leave nothing to nobody.
    worked = a_request_that_gets_nothing_stops_the_later_ones_of_its_job()
    starts = [PHASE, PHASE + 10_000, PHASE, PHASE + 10_000]
    spans: dict[int, list[Span]] = {k: [(at, at + 10_000, Outcome.FINISHED)] for k, at in enumerate(starts)}
    policy = Policy(ordering=("fifo", {"yarn": 1, "blocking": 0}))
    return Example(worked.workload, worked.cluster, policy, spans, worked.until_ms)


def one_that_got_something_in_this_offer_stops_nobody() -> Example:
    # Two of 600 MB, then one of 300, of one job. The first 600 fit; the second do not, but the request got a container
    # in this very heartbeat: 300 go too.
    jobs = [JobSpec("only", 0, [stage("large", 600, tasks=2), stage("small", 300)])]
    return example(jobs, [PHASE, PHASE + 10_000, PHASE], HEARTBEATS)


def the_same_in_an_ideal_pass() -> Example:
    jobs = [JobSpec("only", 0, [stage("large", 600, tasks=2), stage("small", 300)])]
    return example(jobs, [0, 10_000, 0], Timing())


def one_that_got_something_in_an_offer_before_stops_the_later_ones() -> Example:
    # `large` gets 600 MB at the first heartbeat; `small` is asked for at 2 s, when nothing is left for the second of
    # `large`, which got nothing in that offer: `small` (300) waits for it.
    wait = StageSpec("wait", (50, 0), [TaskSpec(2000 - PHASE)])
    small = StageSpec("small", (300, 0), [TaskSpec(10_000)], after=("wait",))
    jobs = [JobSpec("only", 0, [wait, stage("large", 600, tasks=2), small])]
    worked = example(jobs, [PHASE, PHASE, PHASE + 10_000, PHASE + 10_000], HEARTBEATS)
    worked.spans[0] = [(PHASE, 2000, Outcome.FINISHED)]
    return worked
