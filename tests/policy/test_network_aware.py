"""Paper 4's placement and its stock: each rule with numbers worked out by hand. 8 Mbit/s are 1000 bytes in a ms."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from heddle.model.cluster import IDEAL, YARN, Cluster, Faults, Network, Node, Physics, Timing
from heddle.model.errors import RunRefused
from heddle.policy.lever import Question
from heddle.policy.levers.early_binding import forget_ended_jobs
from heddle.policy.levers.network_load import add_transfer, path_bandwidth
from heddle.policy.parse import parse_policy
from heddle.policy.state import as_words
from heddle.run import simulate
from heddle.sim.codes import FINISHED
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.yarn.live.levers import refuse_unfit

MB = 1_000_000
ONE = (100, 1000)


def racks(slots: int = 1, mbps: int = 8, timing: Timing = IDEAL, faults: Faults = Faults()) -> Cluster:  # noqa: B008
    """n0 and n2 in rack a, n1 and n3 in rack b; each holds so many containers."""
    size = (100 * slots, 1000 * slots)
    nodes = tuple(Node(f"n{i}", size, size, "ab"[i % 2], bandwidth_mbps=mbps) for i in range(4))
    return Cluster(nodes, timing=timing, faults=faults)


def stage(name: str, duration_ms: int, after: tuple[str, ...] = (), n_bytes: int = 0, n_tasks: int = 1) -> StageSpec:
    return StageSpec(name, ONE, [TaskSpec(duration_ms)] * n_tasks, after, after_bytes=(n_bytes,) * len(after))


def alone(name: str, duration_ms: int, submit_at_ms: int = 0, host: str | None = None, n_bytes: int = 0) -> JobSpec:
    return JobSpec(name, submit_at_ms, [StageSpec("s", ONE, [TaskSpec(duration_ms, None, host, n_bytes)])])


def nodes_of(jobs: list[JobSpec], cluster: Cluster, policy: str) -> list[tuple[int, int]]:
    """(node, start) of each task, by number."""
    run = simulate(build("x", jobs), cluster, policy, record=True, check=True, seed=1)
    assert run.manifest["outcome"] == "finished"
    rows = run.attempts.sort("task", "attempt").unique("task", keep="last", maintain_order=True)
    return rows.select("node", "started_at_ms").rows()


# Levels: Algorithm 1


def test_levels_by_repeated_removal() -> None:
    # a and e come after nothing; b and c after a; d after b, c and e; f after d and a: V0..V3.
    stages = [stage("a", 1), stage("b", 1, ("a",)), stage("c", 1, ("a",)), stage("d", 1, ("b", "c", "e"))]
    stages += [stage("e", 1), stage("f", 1, ("d", "a"))]
    sim = build_sim(RunInputs(build("x", [JobSpec("j", 0, stages)]), racks(), parse_policy("network-aware"), 0, False))
    assert sim.levers[Question.PLACEMENT].state.level.tolist() == [0, 1, 1, 2, 0, 3]


# Priority[i] = max over j of Trans[j][i] / BPre[j][i]


def test_ranking_by_transfers_over_bandwidth() -> None:
    nodes = tuple(
        Node(f"n{i}", ONE, ONE, rack, bandwidth_mbps=mbps)
        for i, (rack, mbps) in enumerate([("a", 8), ("a", 16), ("b", 4)])
    )
    cluster = Cluster(nodes, network=Network(uplink_of_rack=(("a", 2),)))
    sim = build_sim(RunInputs(build("x", [alone("j", 1)]), cluster, parse_policy("network-aware"), 0, False))
    view, state = sim.shown, sim.levers[Question.PLACEMENT].state
    # In the rack the slower of the two links; between racks also a's uplink of 2 Mbit/s = 250 bytes a ms.
    assert path_bandwidth(view, state, 1, 0) == 1000
    assert path_bandwidth(view, state, 2, 0) == 250
    add_transfer(view, state, 1, 0, 5000)
    assert state.node["priority"].tolist() == [5, 0, 0]
    add_transfer(view, state, 2, 0, 2000)
    assert state.node["priority"].tolist() == [8, 0, 0]
    add_transfer(view, state, 1, 0, 4000)  # 9000 / 1000
    assert state.node["priority"].tolist() == [9, 0, 0]
    add_transfer(view, state, 1, 0, -9000)  # ended: the other is the maximum again
    assert state.node["priority"].tolist() == [8, 0, 0]
    add_transfer(view, state, 2, 0, -2000)
    assert state.node["priority"].tolist() == [0, 0, 0]
    assert state.node["first_transfer"].tolist() == [0, 0, 0]
    add_transfer(view, state, 0, 0, 7000)  # on the node itself nothing moves
    assert state.node["priority"].tolist() == [0, 0, 0]


def test_a_pair_may_be_slower_than_its_links_in_one_direction() -> None:
    cluster = racks(mbps=8)
    view = build_sim(RunInputs(build("x", [alone("j", 1)]), cluster, parse_policy("network-aware"), 0, False)).shown
    declared = np.zeros(16, np.int64)
    declared[[4 * 1 + 3, 4 * 3 + 1, 4 * 2 + 3]] = 300, 700, 5000  # from n1 to n3, back, and from n2 to n3
    state = SimpleNamespace(bandwidth=np.full(4, 1000), uplink=np.zeros(2), pairs=declared)
    assert path_bandwidth(view, state, 1, 3) == 300
    assert path_bandwidth(view, state, 3, 1) == 700
    assert path_bandwidth(view, state, 2, 3) == 1000, "never more than the links have"
    assert path_bandwidth(view, state, 3, 2) == 1000, "nothing is declared"


# Late binding


def test_level_0_goes_to_its_input_else_is_spread() -> None:
    jobs = [alone("a", 9000), alone("b", 9000), alone("c", 9000, host="n3", n_bytes=MB)]
    # a and b: most free, so n0 and n1, not both on n0. c's input is on n3: it starts there and fetches nothing.
    assert nodes_of(jobs, racks(slots=2), "network-aware") == [(0, 0), (1, 0), (3, 0)]


def test_a_reader_goes_to_its_writer_else_to_its_rack() -> None:
    chain = JobSpec("j", 0, [stage("w", 1000), stage("r", 1000, ("w",), MB)])
    assert nodes_of([chain], racks(), "network-aware") == [(0, 0), (0, 1000)]
    # A job of higher priority arrives in the instant in which the writer ends and takes n0: n2 is in the same rack.
    first = JobSpec("first", 1000, [stage("s", 5000)], priority=1)
    assert nodes_of([chain, first], racks(), "network-aware") == [(0, 0), (2, 1000), (0, 1000)]


def test_no_bandwidth_to_spare_means_another_node() -> None:
    # The writer had all of n0, and so has a job of higher priority when it ends. Its two readers, of 4 MB each, go to
    # n2 in the same rack. Once the first is there, transfers of 4 s are assigned from n0 to n2; if that is too busy,
    # the second goes to n1, the first of those without any load.
    size = (200, 2000)
    readers = [stage("r", 1000, ("w",), 4 * MB), stage("q", 1000, ("w",), 4 * MB)]
    jobs = [
        JobSpec("j", 0, [StageSpec("w", size, [TaskSpec(1000)]), *readers]),
        JobSpec("long", 1000, [StageSpec("s", size, [TaskSpec(9000)])], priority=1),
    ]
    spare = nodes_of(jobs, racks(slots=2), "network-aware(busy_s=5)")
    busy = nodes_of(jobs, racks(slots=2), "network-aware(busy_s=3)")
    assert [node for node, _ in spare] == [0, 2, 2, 0]
    assert [node for node, _ in busy] == [0, 2, 1, 0]


def test_sub_tasks_stay_together() -> None:
    # Step 8: the second and third reader go where the first went while it has room, then to the nearest.
    job = JobSpec("j", 0, [stage("w", 1000), stage("r", 1000, ("w",), 3 * MB, n_tasks=3)])
    assert [node for node, _ in nodes_of([job], racks(slots=2), "network-aware")] == [0, 0, 0, 2]


def test_heartbeats_wait_for_near_nodes() -> None:
    timing = Timing(node_heartbeat_ms=YARN.node_heartbeat_ms)
    chain = JobSpec("j", 0, [stage("w", 1000), stage("r", 1000, ("w",), MB)])
    for policy in ("network-aware", "network-aware(early=1)"):
        (writer, _), (reader, _) = nodes_of([chain], racks(timing=timing), policy)
        assert reader == writer


# Other rankings


def test_by_nearness_the_load_of_a_node_is_not_looked_at() -> None:
    # As above with busy_s = 3, where the load sends the second reader to n1.
    size = (200, 2000)
    readers = [stage("r", 1000, ("w",), 4 * MB), stage("q", 1000, ("w",), 4 * MB)]
    jobs = [
        JobSpec("j", 0, [StageSpec("w", size, [TaskSpec(1000)]), *readers]),
        JobSpec("long", 1000, [StageSpec("s", size, [TaskSpec(9000)])], priority=1),
    ]
    got = nodes_of(jobs, racks(slots=2), "network-aware(by=nearness,busy_s=3)")
    assert [node for node, _ in got] == [0, 2, 2, 0]


def test_by_last_is_near_last() -> None:
    cluster, workload = suggested_cluster("network-dags"), make_workload("network-dags(jobs=8)", 3)
    for timing in (IDEAL, YARN):
        runs = [
            simulate(workload, replace(cluster, timing=timing), f"fifo+{policy}", record=True, seed=1).attempts
            for policy in ("near-last", "network-aware(by=last)")
        ]
        assert runs[0].equals(runs[1])


# Early binding


def test_stock_can_be_bound_early() -> None:
    # Level 0: v and w side by side on n0, where x follows; y has no room there, and goes to n2 of the same rack. Level
    # 1 is empty everywhere: r stays where y went, wherever what it reads lies.
    job = JobSpec("j", 0, [*(stage(name, 1000) for name in "vwxy"), stage("r", 1000, ("v",), MB)])
    got = nodes_of([job], racks(slots=3), "fifo(blocking=0)+network-aware(early=1,by=last)")
    assert [node for node, _ in got] == [0, 0, 0, 2, 2]


def test_bound_tasks_wait_for_their_node() -> None:
    # One container to a node. The job is planned at 0: w on n0, r there too, from 1 s to 6 s. At 1.5 s a job comes
    # whose input is on n0, where no level 0 is left: it is bound to n0 and waits, although three nodes are idle.
    jobs = [
        JobSpec("j", 0, [stage("w", 1000), stage("r", 5000, ("w",), MB)]),
        alone("first", 1000, 1500, "n0", MB),
    ]
    got = nodes_of(jobs, racks(), "fifo(blocking=0)+network-aware(early=1)")
    assert got == [(0, 0), (0, 1000), (0, 6000)]


def test_levels_are_planned_with_the_room_of_empty_nodes() -> None:
    # Level 0 has four writers: one to a node. Each reader of level 1 goes to its own writer's node.
    stages = [stage(f"w{i}", 1000) for i in range(4)] + [stage(f"r{i}", 1000, (f"w{i}",), MB) for i in range(4)]
    got = nodes_of([JobSpec("j", 0, stages)], racks(), "fifo(blocking=0)+network-aware(early=1)")
    assert got == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1000), (1, 1000), (2, 1000), (3, 1000)]


def test_bound_sub_tasks_stay_together() -> None:
    # Four readers fill the writer's rack. For the other two n1 is as far from it as n3, but they stay together.
    readers = [stage("q", 1000, ("w",), MB, n_tasks=4), stage("r", 1000, ("w",), MB, n_tasks=2)]
    got = nodes_of([JobSpec("j", 0, [stage("w", 1000), *readers])], racks(slots=2), "fifo+network-aware(early=1)")
    nodes = [node for node, _ in got]
    assert (sorted(nodes[1:5]), nodes[5:]) == ([0, 0, 2, 2], [1, 1])


def test_several_jobs_share_the_nodes() -> None:
    jobs = [JobSpec(f"j{i}", i, [stage("w", 1000)]) for i in range(4)]
    got = nodes_of(jobs, racks(), "fifo(blocking=0)+network-aware(early=1)")
    assert sorted(node for node, _ in got) == [0, 1, 2, 3]


def planned(name: str, submit_at_ms: int = 0, reader_ms: int = 1000) -> JobSpec:
    """A writer whose input lies on n0, and a reader."""
    writer = StageSpec("w", ONE, [TaskSpec(1000, None, "n0", MB)])
    return JobSpec(name, submit_at_ms, [writer, stage("r", reader_ms, ("w",), MB)])


def test_jobs_planned_one_after_another_see_each_other() -> None:
    # The example of semantics.md. Blind to j1, j2 would be bound to n0 as well, and queue up there. On n2 its writer
    # fetches for 1 s what lies on n0.
    got = nodes_of([planned("j1"), planned("j2")], racks(), "fifo(blocking=0)+network-aware(early=1)")
    assert got == [(0, 0), (0, 1000), (2, 0), (2, 2000)]


def test_what_ends_gives_its_room_back_level_by_level() -> None:
    # At 1.5 s j1's writer has ended and its reader runs until 6 s: n0 has room at level 0, not at level 1.
    jobs = [planned("j1", reader_ms=5000), planned("j2", 1500)]
    got = nodes_of(jobs, racks(), "fifo(blocking=0)+network-aware(early=1)")
    assert got == [(0, 0), (0, 1000), (0, 6000), (2, 7000)]


def test_a_failed_job_gives_its_room_back() -> None:
    # With one attempt each, both tasks of j1 are done for when its writer is killed at 0; j2 has n0 for itself.
    killed = StageSpec("w", ONE, [TaskSpec(1000, constant(101, 0), "n0", MB)])
    jobs = [JobSpec("j1", 0, [killed, stage("r", 1000, ("w",), MB)]), planned("j2", 500)]
    cluster = replace(racks(), physics=Physics(pmem_check=True, max_attempts=1))
    run = simulate(
        build("x", jobs), cluster, "fifo(blocking=0)+network-aware(early=1)", record=True, check=True, seed=1
    )
    assert run.attempts.sort("task").select("node", "started_at_ms").rows() == [(0, 0), (0, 500), (0, 1500)]


@pytest.mark.parametrize("policy", ["network-aware", "network-aware(early=1)"])
def test_lost_nodes_do_not_hold_a_job_for_ever(policy: str) -> None:
    stages = [stage(f"w{i}", 20_000) for i in range(4)] + [stage(f"r{i}", 9000, (f"w{i}",), MB) for i in range(4)]
    nodes_of([JobSpec("j", 0, stages)], racks(faults=Faults(30, 10)), f"fifo(blocking=0)+{policy}")


# Stock, as the text describes it


def test_near_last_follows_the_last_container() -> None:
    job = JobSpec("j", 0, [stage("s", 1000, n_tasks=4)])
    # Two on n0, then n2 of the same rack, twice; most-free would have used all four nodes.
    assert [node for node, _ in nodes_of([job], racks(slots=2), "near-last")] == [0, 0, 2, 2]
    assert [node for node, _ in nodes_of([job], racks(slots=2), "most-free")] == [0, 1, 2, 3]


def test_a_live_cluster_refuses_what_it_cannot_know() -> None:
    with pytest.raises(RunRefused, match="network-aware needs data sizes and bandwidths"):
        refuse_unfit(parse_policy("network-aware"))
    refuse_unfit(parse_policy("near-last"))


@pytest.mark.parametrize(("early", "by"), [(0, "load"), (1, "load"), (0, "fetch"), (1, "fetch")])
@pytest.mark.parametrize(
    "faults",
    [Faults(), Faults(task_failure_permyriad=1500), Faults(node_mtbf_s=100, node_repair_s=30)],
    ids=["well", "failing", "nodes-lost"],
)
def test_nothing_is_left_in_the_books(early: int, by: str, faults: Faults) -> None:
    # When all has ended, the next job to be planned would find no transfer assigned, no entry task, nothing bound and
    # nothing reserved.
    cluster = replace(suggested_cluster("network-dags"), timing=IDEAL, faults=faults)
    workload = make_workload("network-dags(jobs=8)", 3)
    policy = parse_policy(f"fifo(blocking=0)+network-aware(early={early},by={by})")
    ended = run_engine(workload, cluster, policy, 1, False)
    assert ended.status == FINISHED
    state = ended.sim.levers[Question.PLACEMENT].state
    forget_ended_jobs(ended.sim.shown, state)
    assert not as_words(state.node).any()
    assert not state.load.any()
    assert not state.up.any()
    assert not state.down.any()
    assert len(state.load) == 0 or early
