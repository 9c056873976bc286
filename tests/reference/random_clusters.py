"""Random small clusters."""

from __future__ import annotations

from hypothesis import strategies as st

from heddle.model.cluster import (
    CALCULATORS,
    CPU_RULES,
    LEAF_ORDERS,
    OOM_RULES,
    Cluster,
    Faults,
    LabelShare,
    Level,
    MapReduce,
    Network,
    Node,
    Physics,
    Preemption,
    Queue,
    Timing,
)
from heddle.model.resources import BASE_RESOURCES
from heddle.traces.build import Vector

from .features import Features

MAXIMA: tuple[Vector, ...] = ((2048, 2000, 2), (1500, 8000, 1), (6000, 3000, 2), (50_000, 50_000, 9))  # of queues
LABEL_SHARES: tuple[tuple[LabelShare, ...], ...] = ((), (), (LabelShare("red", 300, 700),), (LabelShare("red", 1000),))
DECOMMISSIONS_MS = st.one_of(st.sampled_from((-1, 0, 1000, 5000)), st.integers(0, 30_000))


@st.composite
def clusters(draw: st.DrawFn, features: Features = Features()) -> Cluster:  # noqa: B008
    n_nodes = draw(st.integers(1, 4))
    resources = (*BASE_RESOURCES, "gpu") if features.gpu else BASE_RESOURCES
    return Cluster(
        nodes=tuple(draw(_nodes(features, number)) for number in range(n_nodes)),
        resources=resources,
        exclusive=("gpu",) if features.gpu else (),
        queues=draw(_queues(len(resources), features)) if features.queues else (Queue("root"),),
        increment=(draw(st.sampled_from((1, 1, 256))), draw(st.sampled_from((1, 1, 500))), 1)[: len(resources)],
        calculator=draw(st.sampled_from(CALCULATORS)),
        off_switch_per_heartbeat=draw(st.sampled_from((0, 0, 1, 2))),
        timing=draw(_timings(features)),
        physics=draw(_physics()) if features.use else Physics(),
        map_reduce=draw(_map_reduces()),
        faults=draw(_faults()) if features.faults else Faults(),
        preemption=draw(_preemptions()) if features.preemption else Preemption(),
        network=draw(_networks()) if features.network else Network(),
    )


@st.composite
def _map_reduces(draw: st.DrawFn) -> MapReduce:
    return MapReduce(
        ramp_up_limit_permille=draw(st.sampled_from((0, 250, 500, 1000))),
        preemption_limit_permille=draw(st.sampled_from((0, 500, 1000))),
        no_headroom_delay_ms=draw(st.sampled_from((0, 0, 1500))),
        unconditional_delay_ms=draw(st.sampled_from((0, 2500, 300_000))),
    )


@st.composite
def _nodes(draw: st.DrawFn, features: Features, number: int) -> Node:
    # Multiples of the increments, so that the allowance can be promised to the last unit. The first node holds
    # the largest of everything; it has no label and stays, so that not all that wait wait for ever.
    memory = draw(st.sampled_from((2048, 3072, 4096) if number == 0 else (1024, 2048, 4096)))
    vcores = draw(st.sampled_from((3000, 4000) if number == 0 else (1000, 2000, 4000)))
    gpu = (2,) if number == 0 else (draw(st.sampled_from((0, 1, 2))),)
    extra = gpu if features.gpu else ()
    scale = draw(st.sampled_from((2, 2, 2, 1, 3)))  # hardware: as much as promised, half of it, or half as much again
    capacity = (memory * scale // 2, vcores * scale // 2, *extra)
    background: tuple[Level, ...] = ()
    if features.background:
        instants = sorted(
            draw(st.sets(st.one_of(st.sampled_from((0, 1000, 5000)), st.integers(0, 30_000)), max_size=3))
        )
        background = tuple(
            Level(
                at, (draw(st.sampled_from((0, 256, 1024))), draw(st.sampled_from((0, 500, 2000))), *(0 for _ in extra))
            )
            for at in instants
        )
    return Node(
        f"node-{number}",
        capacity,
        (memory, vcores, *extra),
        rack=f"rack-{draw(st.integers(0, 1))}",
        label=draw(st.sampled_from(("", "red"))) if features.labels and number > 0 else "",
        speed_permille=draw(st.sampled_from((1000, 1000, 1000, 500, 1500))),
        background=background,
        bandwidth_mbps=draw(st.sampled_from((1, 2, 8, 8, 0))) if features.network else 0,
        decommission_at_ms=draw(DECOMMISSIONS_MS) if features.decommissioning and number > 0 else -1,
    )


@st.composite
def _queues(draw: st.DrawFn, n_resources: int, features: Features) -> tuple[Queue, ...]:
    names = ["root.a", "root.b", "root.c.d"][: draw(st.integers(2, 3))]
    # Siblings all have amounts for guarantees, or all shares.
    parents_with_amounts = draw(st.sampled_from(((), (), ("root",), ("root.c",), ("root", "root.c"))))

    def guarantee(name: str) -> Vector:
        return draw(_amounts(n_resources)) if name.rpartition(".")[0] in parents_with_amounts else ()

    def maximum(name: str) -> Vector:
        is_limited = name != "root.a" and draw(st.integers(0, 3)) == 0
        return draw(st.sampled_from(MAXIMA))[:n_resources] if is_limited else ()

    def labels() -> tuple[LabelShare, ...]:
        return draw(st.sampled_from(LABEL_SHARES)) if features.labels else ()

    parents = []
    if "root.c.d" in names:
        permille = draw(st.sampled_from((300, 1000)))
        parents = [Queue("root.c", permille, guarantee=guarantee("root.c"), maximum=maximum("root.c"), labels=labels())]
    leaves = [
        Queue(
            name,
            guarantee_permille=draw(st.sampled_from((200, 500, 1000, 200, 500, 1000, 0))),
            maximum_permille=1000 if name == "root.a" else draw(st.sampled_from((1000, 1000, 700))),
            guarantee=guarantee(name),
            maximum=maximum(name),
            weight_milli=draw(st.sampled_from((500, 1000, 1000, 3000))),
            min_share=draw(st.sampled_from(((), (0,) * n_resources, (1024, 1000, 0)[:n_resources]))),
            am_share_permille=draw(st.sampled_from((-1, -1, 300))),
            user_limit_percent=draw(st.sampled_from((100, 50, 25))),
            user_limit_factor_milli=draw(st.sampled_from((1000, 500, 3000))),
            max_running_jobs=draw(st.sampled_from((-1, -1, 1, 2))),
            order=draw(st.sampled_from(LEAF_ORDERS)),
            labels=labels(),
        )
        for name in names
    ]
    return (Queue("root"), *parents, *leaves)


@st.composite
def _amounts(draw: st.DrawFn, n_resources: int) -> Vector:
    """Sometimes too much for any cluster; often of one resource only, so that the other one is scaled up."""
    if draw(st.integers(0, 5)) == 5:
        return (0,) * n_resources
    memory = draw(st.sampled_from((1024, 512, 700, 2048, 20_000)))
    vcores = draw(st.sampled_from((1000, 500, 700, 2000, 20_000)))
    return (memory, vcores, draw(st.sampled_from((0, 1, 2))))[:n_resources]


@st.composite
def _timings(draw: st.DrawFn, features: Features) -> Timing:
    if not features.heartbeats:
        delays = st.sampled_from((0, 0, 500, 1000))
        return Timing(launch_ms=draw(delays), am_start_ms=draw(delays), retry_ms=draw(st.sampled_from((1000, 500, 1))))
    return Timing(
        node_heartbeat_ms=draw(st.sampled_from((1000, 1000, 300))),
        am_heartbeat_ms=draw(st.sampled_from((1000, 0, 700))),
        usage_report_ms=draw(st.sampled_from((1000, 1000, 2500))),
        launch_ms=draw(st.sampled_from((0, 500, 1000))),
        am_start_ms=draw(st.sampled_from((0, 1000, 3000))),
        retry_ms=draw(st.sampled_from((1000, 500))),
        heartbeat_at_end=draw(st.booleans()),
    )


@st.composite
def _physics(draw: st.DrawFn) -> Physics:
    return Physics(
        oom=draw(st.sampled_from(OOM_RULES)),
        cpu=draw(st.sampled_from(CPU_RULES)),
        pmem_check=draw(st.booleans()),
        max_attempts=draw(st.sampled_from((4, 1, 2))),
        am_max_attempts=draw(st.sampled_from((2, 1))),
        livelock_crashes=draw(st.sampled_from((5, 20))),
    )


@st.composite
def _faults(draw: st.DrawFn) -> Faults:
    return Faults(
        node_mtbf_s=draw(st.sampled_from((0, 15, 60))),
        node_repair_s=draw(st.sampled_from((1, 10))),
        task_failure_permyriad=draw(st.sampled_from((0, 1000, 4000))),
        slow_node_permille=draw(st.sampled_from((0, 500))),
    )


@st.composite
def _networks(draw: st.DrawFn) -> Network:
    return Network(
        rack_uplink_mbps=draw(st.sampled_from((0, 1, 4))),
        uplink_of_rack=draw(st.sampled_from(((), (("rack-1", 3),)))),
        traffic_permille=draw(st.sampled_from((0, 0, 100, 500))),
        traffic_ms=draw(st.sampled_from((60_000, 700))),
    )


@st.composite
def _preemptions(draw: st.DrawFn) -> Preemption:
    return Preemption(
        every_ms=draw(st.sampled_from((500, 1000, 3000))),
        starved_ms=draw(st.sampled_from((0, 1000, 2500))),
        round_permille=draw(st.sampled_from((100, 1000))),
    )
