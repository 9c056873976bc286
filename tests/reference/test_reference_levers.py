"""Levers and faults of the reference simulator, with the arithmetic next to each number."""

from __future__ import annotations

import math

import pytest

from heddle.model.cluster import Cluster, Faults, Node, Queue, Timing
from heddle.model.draw import STREAM_NODE_FAULT, STREAM_NODE_HEARTBEAT, STREAM_USAGE_REPORT, draw
from heddle.model.reasons import Outcome
from heddle.traces.build import TaskSpec, build, constant

from . import Policy, simulate
from .test_reference import job, node, of_task, spans
from .worked_preemption import CAPACITY


def test_borg_default_promises_more_than_the_allowance() -> None:
    # fraction 1/2, A = 1000: L = 1000: P = 500, free 500. L = 1500: P = 750, free 250. L = 1750: P = 875, free 125.
    sizes = [1000, 500, 250, 250]
    jobs = [job(f"j{i}", 0, (size, 0), TaskSpec(10_000)) for i, size in enumerate(sizes)]
    policy = Policy(sizing=("borg-default", {"fraction": 0.5}))
    trace = simulate(build("borg", jobs), Cluster((node(1000, 0),)), policy, seed=1)
    assert [attempt.started_at_ms for attempt in trace.attempts] == [0, 0, 0, 10_000]


@pytest.mark.parametrize(("sizing", "at_once"), [("reservation", 10), ("borg-default", 7)])
def test_only_what_a_lever_says_is_rounded_down(sizing: str, at_once: int) -> None:
    # All that is reserved counts (fraction 1). 1000 MB are 3 * 256 = 768 and a rest, which only `reservation` promises.
    parameters = {"fraction": 1.0} if sizing == "borg-default" else {}
    jobs = [job("j", 0, (100, 0), *[TaskSpec(10_000)] * 10)]
    cluster = Cluster((node(1000, 0),), increment=(256, 1))
    trace = simulate(build("rest", jobs), cluster, Policy(sizing=(sizing, parameters)), seed=1, until_ms=5000)
    assert len(trace.attempts) == at_once


@pytest.mark.parametrize(("size", "starts_at"), [(400, 0), (401, 10_000)])
def test_oracle_promises_up_to_the_future_peak(size: int, starts_at: int) -> None:
    # 300, later 600 of 1000 MB used: P = 600, total = 1000 + 1000 - 600, so 400 are free at once.
    rising = TaskSpec(10_000, ((5000, (300, 0)), (10_000, (600, 0))))
    jobs = [job("a", 0, (1000, 0), rising), job("b", 0, (size, 0), TaskSpec(1000, constant(0, 0)))]
    trace = simulate(build("oracle", jobs), Cluster((node(1000, 0),)), Policy(sizing=("oracle", {})), seed=1)
    assert of_task(trace, 1)[0].started_at_ms == starts_at


@pytest.mark.parametrize("sizing", ["n-sigma", "percentile", "max-predictor"])
def test_rings_of_reports(sizing: str) -> None:
    # Two samples of 400 / 1000: ratio 419430 = floor(0.4 * 2^20), variance 0, P = 419430 * 1000 >> 20 = 399.
    # total = 1000 + 1000 - 399: exactly 601 MB are free from the second report on.
    seed = 2
    phase = draw(seed, STREAM_USAGE_REPORT, 0) % 1000
    assert phase > 0
    jobs = [
        job("a", 0, (1000, 0), TaskSpec(60_000, constant(400, 0))),
        job("b", 0, (601, 0), TaskSpec(1000, constant(0, 0))),
    ]
    policy = Policy(sizing=(sizing, {"samples": 2}))
    trace = simulate(build("ring", jobs), Cluster((node(1000, 0),)), policy, seed)
    assert of_task(trace, 1)[0].started_at_ms == phase + 1000


@pytest.mark.parametrize(
    ("ordering", "first"), [(("ffd-dp", {}), 0), (("tetris", {"weight": 0}), 0), (("tetris", {}), 1)]
)
def test_packing(ordering: tuple[str, dict[str, int]], first: int) -> None:
    # Fits 0.5 and 0.1: relative to their mean 1.67 and 0.33. Work 0.5 * 100 s and 0.1 * 1 s: 1.996 and 0.004.
    # Tetris with weight 1: -0.33 against 0.33.
    jobs = [job("a", 0, (500, 0), TaskSpec(100_000)), job("b", 0, (100, 0), TaskSpec(1000))]
    trace = simulate(build("pack", jobs), Cluster((node(1000, 0),)), Policy(ordering=ordering), seed=1)
    assert trace.attempts[0].task == first


def test_small_pool_keeps_room() -> None:
    # 10 shapes of 100 fit the empty node; theta 0.2: jobs of up to 2 tasks are small. Pools of 700 and 300 MB.
    jobs = [
        job("large", 0, (100, 0), *[TaskSpec(10_000)] * 10),
        job("small", 0, (100, 0), TaskSpec(10_000), TaskSpec(10_000)),
    ]
    policy = Policy(partition=("small-pool", {"share": 0.3, "theta": 0.2}))
    trace = simulate(build("pools", jobs), Cluster((node(1000, 0),)), policy, seed=1, until_ms=5000)
    assert [attempt.task for attempt in trace.attempts] == [0, 1, 2, 3, 4, 5, 6, 10, 11]


def test_delay_locality_waits_for_the_rack() -> None:
    # Both want node 0, which holds one. The other may go to the rack-mate when 3 s have passed since its ask at 0.
    seed = 1
    nodes = (node(1000, 0), node(1000, 0, name="n1"))
    jobs = [job(name, 0, (1000, 0), TaskSpec(10_000, prefers="n0")) for name in "ab"]
    cluster = Cluster(nodes, timing=Timing(node_heartbeat_ms=1000))
    trace = simulate(build("near", jobs), cluster, Policy(placement=("delay-locality", {})), seed)
    phases = [draw(seed, STREAM_NODE_HEARTBEAT, n) % 1000 for n in range(2)]
    assert [(a.node, a.started_at_ms) for a in trace.attempts] == [(0, phases[0]), (1, 3000 + phases[1])]


def test_user_limit() -> None:
    # Two active users: limit = max(1000 // 2, 1000 * 25 // 100) = 500 while the leaf is below its guarantee. A user is
    # refused above it: at 600. So ann gets 6 containers of 100, bob the other 4.
    queues = (Queue("root"), Queue("root.default", user_limit_percent=25))
    jobs = [job(user, 0, (100, 0), *[TaskSpec(10_000)] * 10, user=user) for user in ("ann", "bob")]
    cluster = Cluster((node(1000, 0),), queues=queues)
    trace = simulate(build("users", jobs), cluster, CAPACITY, seed=1, until_ms=5000)
    assert [attempt.task for attempt in trace.attempts] == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13]


def test_node_loss_and_return() -> None:
    seed, mean_ms = 3, (20_000, 5000)

    def span_ms(which: int) -> int:  # 0: first up time, 1: first repair
        x = draw(seed, STREAM_NODE_FAULT, which) % 2**20
        return 1 + mean_ms[which] * math.floor(-math.log((x + 0.5) / 2**20) * 2**20) // 2**20

    lost_at = span_ms(0)
    back_at = lost_at + span_ms(1)
    cluster = Cluster((Node("n0", (10, 0), (10, 0)),), faults=Faults(node_mtbf_s=20, node_repair_s=5))
    workload = build("loss", [job("j", 0, (10, 0), TaskSpec(lost_at + 1))])
    trace = simulate(workload, cluster, Policy(), seed, until_ms=back_at + 1000)
    assert spans(trace, 0)[0] == (0, lost_at, Outcome.NODE_LOST)
    assert of_task(trace, 0)[1].started_at_ms == max(back_at, lost_at + 1000)
