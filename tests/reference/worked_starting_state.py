"""Workloads that begin with running containers, worked out by hand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Level, Node, Physics, Timing
from heddle.model.reasons import Outcome
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

from .trace import Policy, Running
from .worked_example import Example

FINISHED, RELEASED, CRASHED = Outcome.FINISHED, Outcome.RELEASED, Outcome.CRASHED


def work_goes_on_where_it_stands() -> Example:
    # Both tasks last 10 s at full speed and have run for 4 s. At full speed 6 s are left. At half speed 2 s of the work
    # are done; the other 8 take 16 s. The third was not running: it starts at 0 where there is room, on the first.
    nodes = Node("n0", (200, 0), (200, 0)), Node("n1", (100, 0), (100, 0), speed_permille=500)
    workload = build("middle", [JobSpec("j", 0, [StageSpec("s", (100, 0), [TaskSpec(10_000)] * 3)])])
    spans = {0: [(-4000, 6000, FINISHED)], 1: [(-4000, 16_000, FINISHED)], 2: [(0, 10_000, FINISHED)]}
    running = {0: Running(0, -4000), 1: Running(1, -4000)}
    return Example(workload, Cluster(nodes), Policy(), spans, 20_000, running)


def nothing_is_left_to_do() -> Example:
    # It should have ended 2 s ago: it ends at 0, and at 0 the next one has its place.
    workload = build("over", [JobSpec("j", 0, [StageSpec("s", (100, 0), [TaskSpec(10_000)] * 2)])])
    spans = {0: [(-12_000, 0, FINISHED)], 1: [(0, 10_000, FINISHED)]}
    cluster = Cluster((Node("n0", (100, 0), (100, 0)),))
    return Example(workload, cluster, Policy(), spans, 20_000, {0: Running(0, -12_000)})


def use_goes_on_where_it_stands() -> Example:
    # At 0 it has done 4 of 10 s; at 1 s it comes to the second half and 900 MB. With the newcomer's 200 these are
    # more than 1000: it crashes, is asked for again at 2 s, and comes to its second half when the newcomer is gone.
    profile = ((5000, (100, 0)), (10_000, (900, 0)))
    jobs = [
        JobSpec("old", 0, [StageSpec("s", (500, 0), [TaskSpec(10_000, profile)])]),
        JobSpec("new", 0, [StageSpec("s", (500, 0), [TaskSpec(5000, constant(200, 0))])]),
    ]
    spans = {0: [(-4000, 1000, CRASHED), (2000, 12_000, FINISHED)], 1: [(0, 5000, FINISHED)]}
    cluster = Cluster((Node("n0", (1000, 0), (1000, 0)),))
    return Example(build("use", jobs), cluster, Policy(), spans, 20_000, {0: Running(0, -4000)})


def a_reduce_holds_from_the_beginning() -> Example:
    # The first map ends at 5 s, the second starts at 0 beside it (1000 + 1000 + 500 MB) and ends at 10 s. The reduce
    # has held its container for 3 s and has done nothing: its 5 s begin at 10 s.
    maps = StageSpec("map", (1000, 0), [TaskSpec(10_000)] * 2)
    reduce = StageSpec("reduce", (500, 0), [TaskSpec(5000)], after=("map",), slow_start_permille=0)
    spans = {0: [(-5000, 5000, FINISHED)], 1: [(0, 10_000, FINISHED)], 2: [(-3000, 15_000, FINISHED)]}
    cluster = Cluster((Node("n0", (2500, 0), (2500, 0)),))
    running = {0: Running(0, -5000), 2: Running(0, -3000)}
    return Example(build("mr", [JobSpec("j", 0, [maps, reduce])]), cluster, Policy(), spans, 20_000, running)


def a_master_may_still_be_starting() -> Example:
    # The AM began 1 s ago and takes 3 s: ready at 2 s. Then the inner task goes to the executor that is there, 2-3 s.
    executors = StageSpec("executors", (100, 0), [TaskSpec(0)], kind=EXECUTORS)
    inner = StageSpec("inner", (0, 0), [TaskSpec(1000)], kind=INNER)
    workload = build("spark", [JobSpec("j", 0, [executors, inner], am=(100, 0))])
    spans = {0: [(-1000, 3000, RELEASED)], 1: [(-500, 3000, RELEASED)], 2: [(2000, 3000, FINISHED)]}
    cluster = Cluster((Node("n0", (200, 0), (200, 0)),), timing=Timing(am_start_ms=3000))
    return Example(workload, cluster, Policy(), spans, 20_000, {0: Running(0, -1000), 1: Running(0, -500)})


def background_was_there_before() -> Example:
    # 400 MB of background and 300 + 300 + 200 of tasks on 700. The largest goes, of two the newer: task 1. That leaves
    # 900, so the newest goes: task 2. Task 0 fits. (If the background came a phase later, the look before it would take
    # task 1, and the one after it the largest of the two that are left: task 0.) The others come one by one.
    node = Node("n0", (700, 0), (100, 0), background=(Level(0, (400, 0)), Level(1000, (0, 0))))
    tasks = [TaskSpec(2000, constant(300, 0)), TaskSpec(2000, constant(300, 0)), TaskSpec(2000, constant(200, 0))]
    workload = build("before", [JobSpec("j", 0, [StageSpec("s", (100, 0), tasks)])])
    spans = {
        0: [(-1, 1999, FINISHED)],
        1: [(0, 0, CRASHED), (1999, 3999, FINISHED)],
        2: [(0, 0, CRASHED), (3999, 5999, FINISHED)],
    }
    running = {0: Running(0, -1), 1: Running(0, 0), 2: Running(0, 0)}
    return Example(workload, Cluster((node,), physics=Physics(oom="largest")), Policy(), spans, 20_000, running)
