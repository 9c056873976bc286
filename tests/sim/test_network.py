"""The network: its rates against another way to compute them, and what is told of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waiting.explain import explain
from heddle.model.cluster import Cluster, Network, Node
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.codes import NEVER
from heddle.sim.memory.tables import Sim
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from reference.network import fair_rates
from reference.worked_example import SEED
from reference.worked_network import a_lost_reader_fetches_anew

MBPS = 128_000  # in units of 1/1024 byte per ms


def flows_of(sim: Sim) -> list[tuple[tuple[int, ...], int]]:
    """The links and the rate of each flow that is on its way."""
    return [
        (tuple(link for link in route["link"].tolist() if link >= 0), int(route["rate"]))
        for route in sim.route
        if route["flows"] > 0
        for _ in range(route["flows"])
    ]


def raised_together(flows: list[tuple[int, ...]], capacity: list[int]) -> list[Fraction]:
    """Max-min fair rates, exactly: all flows grow at the same speed, and stop as soon as a link of theirs is full."""
    rates = [Fraction(0)] * len(flows)
    growing = set(range(len(flows)))
    while growing:
        room = {link: Fraction(capacity[link]) for i in growing for link in flows[i]}
        for i, links in enumerate(flows):
            for link in links:
                if link in room:
                    room[link] -= rates[i]
        crowd = {link: sum(link in flows[i] for i in growing) for link in room}
        step = min(room[link] / crowd[link] for link in room)
        for i in growing:
            rates[i] += step
        full = {link for link in room if room[link] == step * crowd[link]}
        growing = {i for i in growing if not full.intersection(flows[i])}
    return rates


@pytest.mark.parametrize("seed", range(12))
def test_rates_are_max_min_fair(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_nodes = 20
    size = (1000, 8000)
    nodes = tuple(
        Node(f"n{i}", size, size, f"rack-{i % 3}", bandwidth_mbps=int(random.choice([5, 10, 10, 40])))
        for i in range(n_nodes)
    )
    cluster = Cluster(nodes, network=Network(rack_uplink_mbps=int(random.choice([0, 15, 60]))))
    jobs = [
        JobSpec(
            f"j{i}",
            int(random.integers(0, 3000)),
            [StageSpec("s", (100, 1000), [TaskSpec(500, None, f"n{random.integers(n_nodes)}", int(size_b))])],
        )
        for i, size_b in enumerate(random.integers(100_000, 4_000_000, 300))
    ]
    workload = build("random", jobs)
    looked = 0
    for until_ms in (500, 1500, 2500, 4000, 7000, 12_000):
        sim = run_engine(workload, cluster, parse_policy("fifo+random-node"), seed, False, until_ms).sim
        found = flows_of(sim)
        # To the unit what filling from scratch gives, although only what can have changed is computed anew ...
        scratch = fair_rates(dict(enumerate(links for links, _ in found)), sim.link["capacity"].tolist().__getitem__)
        assert [rate for _, rate in found] == [scratch[i] for i in range(len(found))]
        # ... and max-min fair by another way to compute it.
        exact = raised_together([links for links, _ in found], sim.link["capacity"].tolist())
        for (links, rate), wanted in zip(found, exact, strict=True):
            # Each share that is given away is rounded down, by less than 1 unit; what is left goes to others.
            assert abs(rate - wanted) <= len(sim.link), (links, rate, float(wanted))
        used = np.zeros(len(sim.link), np.int64)
        for links, rate in found:
            used[list(links)] += rate
        assert (used == sim.link["used"]).all()
        assert (used <= sim.link["available"]).all()
        looked += len(found)
    assert looked > 100


def test_room_for_flows_grows() -> None:
    # 40 readers of 40 writers each have flows from 39 other nodes: more than the engine has room for at first.
    size = (100, 1000)
    cluster = Cluster(tuple(Node(f"n{i}", size, size, bandwidth_mbps=8) for i in range(40)))
    writers = StageSpec("w", size, [TaskSpec(10)] * 40)
    readers = StageSpec("r", size, [TaskSpec(10)] * 40, ("w",), after_bytes=(40 * 40 * 1000,))
    workload = build("all-to-all", [JobSpec("j", 0, [writers, readers])])
    ended = run_engine(workload, cluster, parse_policy("fifo"), 0, False)
    assert len(ended.sim.flow) > 1024
    # Each link carries 39 flows of 1000 bytes: 39,000 bytes at 1000 a ms; a share is floor(1,024,000 / 39) = 26,256,
    # and 1,024,000 units at that rate take 39.0006 ms, so 40.
    assert ended.sim.job_run["ended_at_ms"][0] == 10 + 40 + 10
    assert ended.sim.control["moved_bytes"][0] == 40 * 39 * 1000
    assert ended.sim.control["local_bytes"][0] == 40 * 1000
    assert ended.sim.control["fetch_ms"][0] == 40 * 40


def test_what_was_moved_is_in_the_record_and_the_metrics() -> None:
    # Writers on n0 and n1, in two racks; the reader on n0 fetches 1 MB from n1 for 1 s. See worked_network.py.
    size = (100, 1000)
    cluster = Cluster(tuple(Node(f"n{i}", size, size, f"rack-{i}", bandwidth_mbps=8) for i in range(2)))
    stages = [
        StageSpec("w", size, [TaskSpec(500)] * 2),
        StageSpec("r", size, [TaskSpec(1000)], ("w",), after_bytes=(2_000_000,)),
    ]
    run = simulate(build("x", [JobSpec("j", 0, stages)]), cluster, "fifo+first-fit", record=True, check=True)
    fetches = run.attempts.select("fetched_at_ms", "fetch_ms", "fetched_bytes", "cross_rack_bytes")
    assert fetches.rows() == [(None,) * 4, (None,) * 4, (1500, 1000, 1_000_000, 1_000_000)]
    moved = {"moved_gb": 0.001, "cross_rack_gb": 0.001, "local_gb": 0.001, "fetching_s": 1.0}
    assert run_metrics(run)["network"] == moved
    assert [(span.state, span.from_ms, span.to_ms) for span in explain(run, 0).spans] == [
        ("runs", 0, 500),
        ("fetches", 500, 1500),
        ("runs", 1500, 2500),
    ]


def test_a_fetch_that_is_broken_off_has_moved_what_it_has() -> None:
    worked = a_lost_reader_fetches_anew()
    ended = run_engine(worked.workload, worked.cluster, parse_policy("fifo+first-fit"), SEED, True, worked.until_ms)
    rows = ended.attempts[ended.attempts["fetched_at_ms"] != NEVER]
    # Two attempts of 45.279 s and of 60.931 - 49.034 s at 1000 bytes a ms.
    assert rows["fetched_bytes"].tolist() == [45_279_000, 11_897_000]
    assert rows["fetch_ms"].tolist() == [45_279, 11_897]


def test_without_bandwidth_there_is_no_network() -> None:
    size = (100, 1000)
    workload = build("x", [JobSpec("j", 0, [StageSpec("s", size, [TaskSpec(1)])])])
    run = simulate(workload, Cluster((Node("n", size, size),)), "fifo")
    assert run_metrics(run)["network"] is None
