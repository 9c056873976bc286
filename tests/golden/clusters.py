"""A random small cluster. Every setting is said, so that no new default can change what these runs are."""

from __future__ import annotations

from heddle.model.cluster import (
    Cluster,
    Faults,
    Level,
    MapReduce,
    Network,
    Node,
    Observation,
    Physics,
    Preemption,
    Queue,
    Timing,
)

from .draws import Draws

POOL_LEAVES = ("root.pool-0", "root.pool-1")


def cluster(draws: Draws, features: frozenset[str]) -> Cluster:
    gpu = "gpu" in features
    vectors = 3 if gpu else 2
    pick = draws.pick
    return Cluster(
        name="golden",
        nodes=tuple(_node(draws, features, number) for number in range(draws.between(1, 4))),
        resources=("memory_mb", "vcores_milli", "gpu")[:vectors],
        exclusive=("gpu",) if gpu else (),
        queues=_queues(draws, features, vectors),
        # Sizes that are rounded change AM limits, which class A must not see (see runs.py).
        increment=(pick(1, 256), pick(1, 500), 1)[:vectors] if "rounded" in features else (1,) * vectors,
        calculator=pick("memory", "dominant"),
        off_switch_per_heartbeat=pick(0, 0, 1, 2),
        timing=_timing(draws, features),
        physics=Physics(
            oom=pick("paper", "newest", "largest", "all"),
            cpu=pick("proportional", "shares", "cap", "paper"),
            pmem_check=draws.often(300),
            max_attempts=pick(4, 1, 2),
            am_max_attempts=pick(2, 1),
            livelock_crashes=pick(5, 20),
        ),
        map_reduce=MapReduce(pick(0, 250, 500, 1000), 500, *pick((0, 300_000), (1000, 2500), (2500, 10_000))),
        preemption=Preemption(
            every_ms=pick(500, 1000, 3000) if "preemption" in features else 0,
            starved_ms=pick(0, 1000, 2500),
            round_permille=pick(100, 1000, 1000),
        ),
        observation=Observation(
            poll_ms=pick(0, 300, 1000, 2500), lag_ms=pick(0, 1, 700, 4200), loss_permyriad=pick(0, 3000)
        )
        if "observation" in features
        else Observation(poll_ms=0, lag_ms=0, loss_permyriad=0),
        faults=Faults(
            node_mtbf_s=pick(15, 60) if "lost-nodes" in features else 0,
            node_repair_s=pick(1, 10),
            task_failure_permyriad=pick(0, 1000, 4000) if "faults" in features else 0,
            slow_node_permille=pick(0, 500) if "faults" in features else 0,
            slow_speed_permille=500,
        ),
        network=Network(
            rack_uplink_mbps=pick(0, 1, 4),
            uplink_of_rack=pick((), (("rack-1", 3),)),
            traffic_permille=pick(0, 0, 100, 500),
            traffic_ms=pick(60_000, 700),
        )
        if "network" in features
        else Network(rack_uplink_mbps=0, uplink_of_rack=(), traffic_permille=0, traffic_ms=60_000),
    )


def _node(draws: Draws, features: frozenset[str], number: int) -> Node:
    pick, first = draws.pick, number == 0
    memory = pick(2048, 3072, 4096) if first else pick(1024, 2048, 4096)
    vcores = pick(3000, 4000) if first else pick(1000, 2000, 4000)
    gpus = ((2,) if first else (pick(0, 1, 2),)) if "gpu" in features else ()
    halves = pick(2, 2, 2, 2, 2, 1, 3, 3)  # hardware: as much as is promised, half of it, or half as much again
    background: tuple[Level, ...] = ()
    if "background" in features:
        background = tuple(
            Level(from_at_ms=at, use=(pick(0, 256, 1024), pick(0, 500, 2000), *(0 for _ in gpus)))
            for at in draws.some((0, 1000, 5000, 7300, 12_000, 29_999), most=3)
        )
    return Node(
        name=f"node-{number}",
        capacity=(memory * halves // 2, vcores * halves // 2, *gpus),
        allowance=(memory, vcores, *gpus),
        rack=pick("rack-0", "rack-1"),
        label=pick("", "red") if "labels" in features else "",
        speed_permille=pick(1000, 1000, 1000, 500, 1500),
        background=background,
        bandwidth_mbps=pick(1, 2, 8, 8, 0) if "network" in features else 0,
    )


def _queue(name: str, guarantee_permille: int = 1000) -> Queue:
    """One without limits of its own."""
    return Queue(
        name=name,
        guarantee_permille=guarantee_permille,
        maximum_permille=1000,
        weight_milli=1000,
        min_share=(),
        am_share_permille=-1,
        user_limit_percent=100,
        user_limit_factor_milli=1000,
        max_running_jobs=-1,
        order="",
    )


def _queues(draws: Draws, features: frozenset[str], vectors: int) -> tuple[Queue, ...]:
    pick = draws.pick
    queues = [_queue("root")]
    if "queues" in features:
        leaves = ("root.a", "root.b", "root.c.d")[: draws.between(2, 3)]
        queues += [_queue("root.c", pick(300, 1000))] if "root.c.d" in leaves else []
        queues += [
            Queue(
                name=name,
                # With small ones a queue has more than its due, for preemption to take.
                guarantee_permille=pick(100, 200, 400) if "preemption" in features else pick(200, 500, 1000),
                maximum_permille=1000 if name == "root.a" else pick(1000, 1000, 700),
                weight_milli=pick(500, 1000, 1000, 3000),
                min_share=pick((), (0, 0, 0)[:vectors], (1024, 1000, 0)[:vectors]),
                am_share_permille=pick(-1, -1, 300),
                user_limit_percent=pick(100, 50, 25),
                user_limit_factor_milli=pick(1000, 500, 3000),
                max_running_jobs=pick(-1, -1, 1, 2),
                order=pick("", "fifo", "fair", "drf"),
            )
            for name in leaves
        ]
    if "pool-leaves" in features:
        queues += [_queue(name, 500) for name in POOL_LEAVES]
    return tuple(queues)


def _timing(draws: Draws, features: frozenset[str]) -> Timing:
    pick, heartbeats = draws.pick, "heartbeats" in features
    return Timing(
        node_heartbeat_ms=pick(1000, 1000, 300) if heartbeats else 0,
        am_heartbeat_ms=pick(1000, 0, 700) if heartbeats else 0,
        usage_report_ms=pick(1000, 1000, 2500),
        launch_ms=pick(0, 500, 1000),
        am_start_ms=pick(0, 1000, 3000) if heartbeats else pick(0, 0, 500, 1000),
        retry_ms=pick(1000, 500) if heartbeats else pick(1000, 500, 1),
        heartbeat_at_end=heartbeats and draws.often(500),
    )
