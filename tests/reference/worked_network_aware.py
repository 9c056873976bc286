"""Network-aware placement worked out by hand. 8 Mbit/s are 1000 bytes in a ms: 1 MB over such a link takes a second."""

from __future__ import annotations

from dataclasses import replace

from heddle.model.cluster import Cluster, Node, Physics
from heddle.model.reasons import Outcome
from heddle.model.workload import EXECUTORS, INNER
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

from .trace import Policy
from .worked_example import Example, Span
from .worked_promises import FAULTS, OTHER_BACK, OTHER_LOST

FINISHED = Outcome.FINISHED
MB = 1_000_000
Spans = dict[int, list[Span]]


def _policy(**parameters: object) -> Policy:
    return Policy(ordering=("fifo", {"blocking": 0}), placement=("network-aware", parameters))


def _nodes(*racks: str, slots: int = 1) -> tuple[Node, ...]:
    size = (100 * slots, 1000 * slots)
    return tuple(Node(f"n{i}", size, size, rack, bandwidth_mbps=8) for i, rack in enumerate(racks))


def _stage(name: str, *tasks: TaskSpec, after: str = "", n_bytes: int = 0) -> StageSpec:
    return StageSpec(name, (100, 1000), list(tasks), (after,) if after else (), after_bytes=(n_bytes,) if after else ())


def _ten_seconds_of_transfers(name: str, reader_ms: int, busy_s: float) -> Example:
    # j's reader is due at 1 s, when n0, where its writer ran, is full. On n1, as near and half empty, runs a task of k,
    # of which one like it reads 20 MB // 2 from n2: 10 s of transfers. This one read nothing, but counts.
    reader = _stage("r", TaskSpec(1000), after="w", n_bytes=MB)
    inputs = _stage("s", TaskSpec(9000, None, "n2", 20 * MB), TaskSpec(9000))
    jobs = [
        JobSpec("j", 0, [_stage("w", TaskSpec(1000)), reader]),
        JobSpec("k", 500, [inputs]),
        JobSpec("late", 1000, [_stage("s", TaskSpec(9000))], priority=1),
    ]
    spans: Spans = {
        2: [(500, 9500, FINISHED)],
        3: [(500, 9500, FINISHED)],
        1: [(1000, 1000 + reader_ms, FINISHED)],
    }
    n0, n1, n2, n3 = _nodes("a", "a", "a", "b")
    roomy, slow = replace(n1, capacity=(200, 2000), allowance=(200, 2000)), replace(n3, speed_permille=500)
    return Example(build(name, jobs), Cluster((n0, roomy, n2, slow)), _policy(busy_s=busy_s), spans, 20_000)


def a_node_is_busy_as_long_as_a_task_that_moved_nothing_runs() -> Example:
    # So the reader goes to n3, slow and in another rack: a second for its 1 MB, and 2 s of work.
    return _ten_seconds_of_transfers("busy", 3000, busy_s=5)


def a_node_with_just_as_many_transfers_as_it_may_have_is_not_busy() -> Example:
    # So the reader goes to n1: a second for its 1 MB, and one of work.
    return _ten_seconds_of_transfers("just", 2000, busy_s=10)


def a_task_goes_where_it_fetches_soonest() -> Example:
    # As in the page's example, without a load: 1 MB lies on n0, 3 MB on n1. On n0 3 MB would move, on n1 1 MB does.
    task = TaskSpec(1000)
    small, big = _stage("p", task), _stage("q", task)
    reader = StageSpec("r", (100, 1000), [task], ("p", "q"), after_bytes=(MB, 3 * MB))
    spans: Spans = {2: [(1000, 3000, FINISHED)]}
    workload = build("fetch", [JobSpec("j", 0, [small, big, reader])])
    return Example(workload, Cluster(_nodes("a", "a", "b")), _policy(by="fetch"), spans, 20_000)


def jobs_are_bound_where_levels_have_room() -> Example:
    # The page's example: j1 is bound to n0. j2's writer finds n0 full at level 0 and goes to n2, in its rack, where it
    # fetches 1 MB; its reader follows it there.
    def job(name: str) -> JobSpec:
        writer, reader = TaskSpec(1000, None, "n0", MB), TaskSpec(1000)
        return JobSpec(name, 0, [_stage("w", writer), _stage("r", reader, after="w", n_bytes=MB)])

    spans: Spans = {
        0: [(0, 1000, FINISHED)],
        1: [(1000, 2000, FINISHED)],
        2: [(0, 2000, FINISHED)],
        3: [(2000, 3000, FINISHED)],
    }
    cluster = Cluster(_nodes("a", "b", "a", "b"))
    return Example(build("bound", [job("j1"), job("j2")]), cluster, _policy(early=1), spans, 20_000)


def a_bound_task_waits_for_its_node() -> Example:
    # Both tasks are bound to a node each, as both have room; the third to n0, the smaller number of equal backlogs. n1
    # is free from 1 s on, but it waits for n0.
    tasks = [TaskSpec(9000), TaskSpec(1000), TaskSpec(1000)]
    spans: Spans = {1: [(0, 1000, FINISHED)], 2: [(9000, 10_000, FINISHED)]}
    workload = build("waits", [JobSpec("j", 0, [_stage("s", *tasks)])])
    return Example(workload, Cluster(_nodes("a", "a")), _policy(early=1), spans, 20_000)


def of_lost_nodes_the_first_loses_its_tasks() -> Example:
    # w runs on n2. Of the five that come after it one is bound to n2, near w, two each to n0, which leaves at 35.5 s,
    # and n1, which is lost from 34.6 s to 58.6 s. n2 takes its own at 56 s, then those of n0: so there are two left for
    # n1, of which one waits until the other has ended, though n2 is free at 59 s.
    assert 34_000 < OTHER_LOST < 58_000 < OTHER_BACK < 59_000
    n0, n1, n2 = _nodes("a", "b", "c")
    writer = _stage("w", TaskSpec(22_000, None, "n2", 1))
    job = JobSpec("j", 34_000, [writer, _stage("r", *[TaskSpec(1000)] * 5, after="w")])
    starts = [56_000, 57_000, 58_000, OTHER_BACK, OTHER_BACK + 1000]
    spans: Spans = {0: [(34_000, 56_000, FINISHED)]} | {
        number: [(at_ms, at_ms + 1000, FINISHED)] for number, at_ms in enumerate(starts, 1)
    }
    cluster = Cluster((replace(n0, decommission_at_ms=35_500), n1, n2), faults=FAULTS)
    return Example(build("lost", [job]), cluster, _policy(early=1), spans, 62_000)


def a_task_that_no_node_could_hold_is_bound_where_it_runs() -> Example:
    # n0 is lost from 53.2 s to 64.2 s, n1 to 58.6 s. j arrives at 54 s, and runs on n1 when that is back. So k, which
    # would be near its input there, finds no room at 65 s and is bound to n0. (Were j bound to none, n1 would seem
    # empty, and k wait for it.)
    jobs = [
        JobSpec("j", 54_000, [_stage("s", TaskSpec(12_000))]),
        JobSpec("k", 65_000, [_stage("s", TaskSpec(1000, None, "n1", 1))]),
    ]
    spans: Spans = {0: [(OTHER_BACK, OTHER_BACK + 12_000, FINISHED)], 1: [(65_000, 66_001, FINISHED)]}
    return Example(build("unbound", jobs), Cluster(_nodes("a", "b"), faults=FAULTS), _policy(early=1), spans, 70_900)


def what_a_failed_job_would_have_read_is_forgotten() -> Example:
    # a's writer on n1 is killed at 2.5 s, and with it a fails, whose readers were bound to n0, n0 and n1: the two on n0
    # would have read 40 MB from n1. When the readers of b may run at 9 s, two bound to each node, nothing is assigned
    # to any, and of equals the first takes turn after turn: n0, where b's writer ran; the third is left for n1.
    def job(name: str, writer: TaskSpec, readers: int, n_bytes: int) -> JobSpec:
        reader = StageSpec("r", (100, 1000), [TaskSpec(1000)] * readers, ("w",), after_bytes=(n_bytes,))
        return JobSpec(name, 0, [StageSpec("w", (100, 1000), [writer]), reader])

    leaks = TaskSpec(5000, ((5000, (50, 0)), (10_000, (150, 0))), "n1", 1)
    jobs = [job("a", leaks, 3, 60 * MB), job("b", TaskSpec(9000), 4, 4000)]
    spans: Spans = {
        0: [(0, 2500, Outcome.LIMIT_KILLED)],
        4: [(0, 9000, FINISHED)],
        5: [(9000, 10_000, FINISHED)],
        6: [(9000, 10_000, FINISHED)],
        7: [(9000, 10_001, FINISHED)],
        8: [(10_000, 11_000, FINISHED)],
    }
    cluster = Cluster(_nodes("a", "a", slots=2), physics=Physics(pmem_check=True, max_attempts=1))
    return Example(build("forgotten", jobs), cluster, _policy(early=1), spans, 20_000)


def _follows(spans: Spans, *stages: StageSpec) -> Example:
    # The second container goes to n0, where the first is, though n1 has more free; n1 works at half speed.
    n0, n1 = _nodes("a", "a", slots=2)
    cluster = Cluster((n0, replace(n1, speed_permille=500)))
    return Example(build("follows", [JobSpec("j", 0, list(stages))]), cluster, _policy(by="last"), spans, 20_000)


def by_last_follows_where_nothing_is_read() -> Example:
    spans: Spans = {0: [(0, 1000, FINISHED)], 1: [(0, 1000, FINISHED)]}
    return _follows(spans, _stage("s", TaskSpec(1000), TaskSpec(1000)))


def by_last_executors_follow_too() -> Example:
    # Data tell nothing of executors, but they, too, go where the job's last container is: so do their inner tasks.
    executors = StageSpec("executors", (100, 1000), [TaskSpec(0)] * 2, kind=EXECUTORS)
    inner = StageSpec("inner", (0, 0), [TaskSpec(1000)] * 2, kind=INNER)
    return _follows({2: [(0, 1000, FINISHED)], 3: [(0, 1000, FINISHED)]}, executors, inner)
