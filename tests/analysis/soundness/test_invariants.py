"""Every invariant can fail: a good log is damaged in one place, and the damage is found, whole or in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from heddle.analysis.soundness.happenings import ALLOCATED, ENDED, FETCHED, in_order
from heddle.analysis.soundness.invariants import broken_invariants, sums_left
from heddle.model.cluster import Cluster, Faults, Node
from heddle.model.reasons import Outcome
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.sim import codes
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import uniform_cluster
from log_pieces import broken_in_pieces

Log = npt.NDArray[Any]
CLUSTER = uniform_cluster(2, 2048, 2)


def stages(*, early: bool) -> list[StageSpec]:
    reduce = StageSpec("reduce", (1024, 1000), [TaskSpec(1000)], after=("map",), slow_start_permille=0 if early else -1)
    return [StageSpec("map", (1024, 1000), [TaskSpec(1000)] * 6), reduce]


COUNTS = (True, True)


def workload(*, early: bool = False) -> Workload:
    return build("w", [JobSpec("a", 0, stages(early=early)), JobSpec("b", 1, stages(early=early), after=("a",))])


def run(cluster: Cluster = CLUSTER, policy: str = "fifo", *, early: bool = False) -> tuple[Log, Workload]:
    made = workload(early=early)
    ended = run_engine(made, cluster, parse_policy(policy), 0, True)
    assert ended.status == codes.FINISHED
    assert sums_left(ended.sim.shown) == []
    return in_order(ended.logs, ended.attempts, made), made


def broken(
    log: Log, made: Workload, cluster: Cluster, counts: Sequence[bool] = COUNTS, *, finished: bool = True
) -> list[str]:
    """What is found in the whole log; in pieces of it, with jobs one by one, it must be the same."""
    whole = broken_invariants(log, made, cluster, counts, finished=finished)
    for rows in (1, 2, 7):
        assert broken_in_pieces(log, rows, 1, made, cluster, counts, finished=finished) == whole
    return whole


def place(log: Log, kind: int, nth: int = 0, **fields: int) -> int:
    match = log["kind"] == kind
    for name, value in fields.items():
        match &= log[name] == value
    return int(np.flatnonzero(match)[nth])


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("policy", ["fifo", "capacity", "fifo+usage-feedback"])
def test_a_good_run_breaks_nothing(policy: str, early: bool) -> None:
    log, made = run(policy=policy, early=early)
    assert broken(log, made, CLUSTER) == []


def test_a_run_with_lost_nodes_breaks_nothing() -> None:
    cluster = replace(CLUSTER, faults=Faults(node_mtbf_s=5, node_repair_s=2))
    log, made = run(cluster)
    assert (log["kind"] == codes.LOG_NODE_LOST).any()
    assert broken(log, made, cluster) == []
    # The same log in which a node was lost just before it was given away.
    first = place(log, ALLOCATED)
    lost = log[[place(log, codes.LOG_NODE_LOST)]].copy()
    lost["at_ms"], lost["node"] = log["at_ms"][first], log["node"][first]
    damaged = np.concatenate([log[:first], lost, log[first:]])
    assert any("lost node" in text for text in broken(damaged, made, cluster))


def found_in(log: Log, made: Workload, cluster: Cluster = CLUSTER) -> str:
    return "\n".join(broken(log, made, cluster))


def test_a_clock_that_runs_backwards_is_found() -> None:
    log, made = run()
    log["at_ms"][len(log) // 2] = -1
    assert "clock runs backwards" in found_in(log, made)


def test_more_than_a_node_has_is_found() -> None:
    log, made = run()
    assert "memory_mb promised twice" in found_in(log, made, uniform_cluster(2, 1500, 2))
    log["node"] = np.where(log["node"] == 1, 0, log["node"])
    assert "vcores_milli promised twice, 3000 of 2000" in found_in(log, made)


def test_what_is_not_given_back_is_found() -> None:
    log, made = run()
    text = found_in(np.delete(log, place(log, ENDED)), made)
    assert "still allocated on node" in text
    assert "never ended" in text
    assert "never finished" in text


def test_a_task_that_finishes_twice_is_found() -> None:
    log, made = run()
    row = place(log, ENDED)
    assert "a task finished more than once" in found_in(np.insert(log, row, log[row]), made)


def test_a_task_that_runs_again_after_its_end_is_found() -> None:
    log, made = run()
    again = log[[place(log, ALLOCATED)]].copy()
    again["at_ms"], again["attempt"] = log["at_ms"][-1], 1
    assert "a finished task ran again" in found_in(np.concatenate([log, again]), made)


def test_a_task_before_its_predecessors_is_found() -> None:
    log, made = run()
    reduce = place(log, ALLOCATED, stage=1)
    moved = np.insert(np.delete(log, reduce), 3, log[reduce])
    assert "began before its predecessors ended" in found_in(moved, made)


def test_work_of_an_early_task_before_its_predecessors_is_found() -> None:
    log, made = run(early=True)
    ends = log["kind"] == ENDED
    log["at_ms"][ends & (log["stage"] == 0)] += 1
    assert "an early task worked before" in found_in(log, made)


def test_a_job_before_the_job_it_comes_after_is_found() -> None:
    log, made = run()
    later = place(log, ALLOCATED, job=1)
    moved = np.insert(np.delete(log, later), 2, log[later])
    assert "a job began before" in found_in(moved, made)


def test_a_task_of_a_finished_job_that_did_not_finish_is_found() -> None:
    log, made = run()
    log["code"][place(log, ENDED)] = int(Outcome.CRASHED)
    assert "of a finished job never finished" in found_in(log, made)


def run_with_network() -> tuple[Log, Workload, Cluster]:
    size = (2048, 2000)
    cluster = Cluster(tuple(Node(f"n{i}", size, size, bandwidth_mbps=8) for i in range(2)))
    reduce = StageSpec("reduce", (1024, 1000), [TaskSpec(1000)] * 2, after=("map",), after_bytes=(2_000_000,))
    made = build("w", [JobSpec("a", 0, [StageSpec("map", (1024, 1000), [TaskSpec(1000)] * 4), reduce])])
    ended = run_engine(made, cluster, parse_policy("fifo"), 0, True)
    return in_order(ended.logs, ended.attempts, made), made, cluster


def test_a_good_run_with_a_network_breaks_nothing() -> None:
    log, made, cluster = run_with_network()
    assert (log["kind"] == FETCHED).sum() == 2
    assert broken(log, made, cluster) == []


def test_data_that_comes_too_fast_is_found() -> None:
    log, made, cluster = run_with_network()
    log["value"][place(log, FETCHED)] *= 3
    (found,) = broken(log, made, cluster)
    assert found.startswith("data came faster than its node's link carries it")


def test_work_before_the_input_is_there_is_found() -> None:
    log, made, cluster = run_with_network()
    made.tasks["duration_ms"][-1] = 1001
    (found,) = broken(log, made, cluster)
    assert found.startswith("a task worked before its input was there")


def test_what_a_scheduler_does_not_count_may_be_promised_twice() -> None:
    """YARN's FifoScheduler looks at memory alone, whatever the calculator."""
    made = build("w", [JobSpec("a", 0, [StageSpec("map", (256, 1000), [TaskSpec(1000)] * 8)])])
    ended = run_engine(made, CLUSTER, parse_policy("fifo(yarn=true)"), 0, True)
    log = in_order(ended.logs, ended.attempts, made)
    assert ended.counts == [True, False]
    assert broken(log, made, CLUSTER, ended.counts) == []
    (found,) = broken(log, made, CLUSTER, [True, True])
    assert found.startswith("vcores_milli promised twice")


def test_queues_that_are_turned_are_no_nodes() -> None:
    """Rows of knobs have a queue's number where others have a node's; there may be more queues than nodes."""
    log, made = run()
    turned = log[[0]].copy()
    turned["kind"], turned["node"], turned["value"] = codes.LOG_QUEUE_MAXIMUM, 7, 500
    assert found_in(np.concatenate([turned, log]), made) == ""
