"""Random small workloads with their clusters, and random policies, for comparing simulators.

Sizes come from short lists, so that ties and contention are common. Every task fits the allowance of some node
that has its label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
from heddle.model.workload import EXECUTORS, INNER, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, Vector, build

from .trace import Lever, Observation, Policy

MEMORY_MB = (0, 256, 512, 1024, 1024, 2048)
VCORES_MILLI = (0, 500, 1000, 1000, 2000, 3000)
MAXIMA: tuple[Vector, ...] = ((2048, 2000, 2), (1500, 8000, 1), (6000, 3000, 2), (50_000, 50_000, 9))  # of queues
LABEL_SHARES: tuple[tuple[LabelShare, ...], ...] = ((), (), (LabelShare("red", 300, 700),), (LabelShare("red", 1000),))
DURATIONS_MS = st.one_of(
    st.sampled_from((0, 500, 1000, 1000, 2000, 2500, 5000, 10_000, 20_000)), st.integers(0, 20_000)
)
DECOMMISSIONS_MS = st.one_of(st.sampled_from((-1, 0, 1000, 5000)), st.integers(0, 30_000))
SUBMISSIONS_MS = st.one_of(st.sampled_from((0, 0, 0, 500, 1000, 2000, 10_000)), st.integers(0, 20_000))


@dataclass(frozen=True)
class Features:
    """What a generated pair may contain; everything is off unless asked for."""

    heartbeats: bool = False  # else the ideal scheduler (launch and AM start may still take time)
    ams: bool = False
    dag: bool = False  # stages after stages, jobs after jobs
    early_stages: bool = False
    executors: bool = False
    use: bool = False  # recorded use: piecewise, sometimes above the reservation; and all physics rules
    background: bool = False
    faults: bool = False
    queues: bool = False
    labels: bool = False
    gpu: bool = False
    locality: bool = False
    preemption: bool = False  # between queues, of which there may be several
    network: bool = False  # bandwidth, and data to move
    decommissioning: bool = False


EVERYTHING = Features(*[True] * 15)


@st.composite
def pairs(draw: st.DrawFn, features: Features = Features()) -> tuple[Workload, Cluster]:  # noqa: B008
    """A workload and a cluster that can hold each of its tasks."""
    cluster = draw(clusters(features))
    maker = _JobMaker(draw, features, cluster)
    n_jobs = draw(st.integers(1, 8))
    jobs: list[JobSpec] = []
    for number in range(n_jobs):
        jobs.append(maker.job(number, jobs))
    return build("random", jobs, resources=cluster.resources), cluster


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


class _JobMaker:
    """Draws jobs that fit one cluster."""

    def __init__(self, draw: st.DrawFn, features: Features, cluster: Cluster) -> None:
        self.draw, self.features, self.cluster = draw, features, cluster
        parents = {queue.name.rpartition(".")[0] for queue in cluster.queues}
        self.leaves = [queue.name for queue in cluster.queues if queue.name not in parents and queue.name != "root"]

    def pick(self, *options: int) -> int:
        return self.draw(st.sampled_from(options))

    def job(self, number: int, before: list[JobSpec]) -> JobSpec:
        draw, features = self.draw, self.features
        after: tuple[str, ...] = ()
        if features.dag and before and draw(st.integers(0, 3)) == 0:
            after = (draw(st.sampled_from(before)).name,)
        has_am = features.ams and draw(st.integers(0, 3)) > 0
        stages = self.stages()
        iterative = self.pick(0, 0, 1) == 1
        if iterative:
            stages = [replace(stage, iteration=i // 2) for i, stage in enumerate(stages)]
        return JobSpec(
            f"job-{number}",
            draw(SUBMISSIONS_MS),
            stages,
            iterative=iterative,
            am=self.demand("", largest=3) if has_am else None,
            am_use=self.use(0)[0][1] if has_am and features.use and draw(st.booleans()) else None,
            queue=draw(st.sampled_from([*self.leaves, "root.new"])) if self.leaves else "root.default",
            user=draw(st.sampled_from(("ann", "bob", "cyd"))) if features.queues else "nobody",
            after=after,
            priority=self.pick(0, 0, 0, 1),
        )

    def stages(self) -> list[StageSpec]:
        kinds = ["plain"]
        kinds += ["early"] * 2 if self.features.early_stages else []
        kinds += ["executors"] * 2 if self.features.executors else []
        kind = self.draw(st.sampled_from(kinds))
        if kind == "early":
            return self.map_reduce()
        if kind == "executors":
            return self.spark()
        return self.plain(self.draw(st.integers(1, 3)), prefix="stage")

    def plain(self, n_stages: int, prefix: str) -> list[StageSpec]:
        stages: list[StageSpec] = []
        for i in range(n_stages):
            label = self.label()
            after = self.after(stages)
            stages.append(
                StageSpec(
                    f"{prefix}-{i}",
                    self.demand(label),
                    self.tasks(),
                    after=after,
                    after_bytes=self.sizes(len(after)),
                    shuffle_ms=self.pick(0, 0, 0, 500, 1500),
                    label=label,
                )
            )
        return stages

    def after(self, stages: list[StageSpec]) -> tuple[str, ...]:
        if not stages or not self.features.dag:
            return ()
        return tuple(sorted(self.draw(st.sets(st.sampled_from([stage.name for stage in stages]), max_size=2))))

    def map_reduce(self) -> list[StageSpec]:
        stages = self.plain(self.pick(1, 1, 2), prefix="map")
        before = tuple(stage.name for stage in stages)
        for i in range(self.pick(1, 1, 1, 2)):
            same = self.pick(0, 1) == 1  # Hadoop's defaults are equal
            label = stages[0].label if same else self.label()
            stages.append(
                StageSpec(
                    f"reduce-{i}",
                    stages[0].demand if same else self.demand(label),
                    self.tasks(),
                    after=before,
                    after_bytes=self.sizes(len(before)),
                    slow_start_permille=self.pick(0, 50, 500, 1000),
                    shuffle_ms=self.pick(0, 500, 2000),
                    label=label,
                )
            )
            before = self.pick(before, before, (f"reduce-{i}",))  # beside it, or after it
        return stages

    def spark(self) -> list[StageSpec]:
        label = self.label()
        executors = StageSpec(
            "executors",
            self.demand(label),
            [TaskSpec(0, self.profile(0) if self.draw(st.booleans()) else None)] * self.draw(st.integers(1, 4)),
            kind=EXECUTORS,
            slots=self.pick(1, 2, 3),
            idle_timeout_ms=self.pick(0, 500, 2000),
            label=label,
        )
        stages: list[StageSpec] = []
        nothing = (0,) * len(self.cluster.resources)
        for i in range(self.draw(st.integers(1, 2))):
            after, tasks = self.after(stages), self.tasks()
            sizes = self.sizes(len(after))
            stages.append(StageSpec(f"inner-{i}", nothing, tasks, after=after, after_bytes=sizes, kind=INNER))
        return [executors, *stages]

    def tasks(self) -> list[TaskSpec]:
        # Tasks of one stage often last equally long.
        same = self.draw(DURATIONS_MS)
        durations = [self.draw(st.one_of(st.just(same), DURATIONS_MS)) for _ in range(self.draw(st.integers(1, 5)))]
        recorded = self.features.use and self.pick(0, 1, 1, 1) == 1
        return [
            TaskSpec(duration, self.profile(duration) if recorded else None, self.host(), sum(self.sizes(1)))
            for duration in durations
        ]

    def sizes(self, count: int) -> tuple[int, ...]:
        """Bytes to move; a Mbit/s is 125 of them in a ms."""
        if not self.features.network:
            return ()
        return tuple(self.pick(0, 1, 1000, 250_000, 250_000, 999_999, 2_000_000) for _ in range(count))

    def host(self) -> str | None:
        if not self.features.locality or self.draw(st.booleans()):
            return None
        return self.draw(st.sampled_from([node.name for node in self.cluster.nodes] + ["elsewhere"]))

    def profile(self, duration_ms: int) -> Profile | None:
        return self.use(duration_ms) if self.features.use else None

    def use(self, duration_ms: int) -> Profile:
        # A task of no duration has no time in which its use could change.
        cuts = (
            self.draw(st.sets(st.sampled_from((1, 2500, 3333, 5000, 9000)), max_size=2)) if duration_ms > 0 else set()
        )
        extra = (0,) * (len(self.cluster.resources) - 2)
        return tuple(
            (until, (self.pick(0, 128, 256, 512, 1024, 1500), self.pick(0, 250, 500, 1000, 1500, 2500), *extra))
            for until in (*sorted(cuts), 10_000)
        )

    def label(self) -> str:
        has_red = any(node.label == "red" for node in self.cluster.nodes)
        return self.draw(st.sampled_from(("", "red"))) if has_red else ""

    def demand(self, label: str, largest: int = 6) -> Vector:
        """A reservation that one node with the label can promise in full."""
        hosts = [node for node in self.cluster.nodes if label == node.label]
        host = self.draw(st.sampled_from(hosts)).allowance
        wanted = (self.pick(*MEMORY_MB[:largest]), self.pick(*VCORES_MILLI[:largest]), self.pick(0, 0, 1, 2))
        return tuple(min(want, have) for want, have in zip(wanted, host, strict=False))


SIZINGS: tuple[Lever, ...] = (
    ("reservation", {}),
    ("borg-default", {"fraction": 0.7}),
    ("usage-feedback", {"damping": 0.25}),
    ("usage-feedback", {"damping": 0.25, "headroom": "prototype", "young_reports": 2}),
    ("usage-feedback", {"damping": 0.5, "side": "worker", "forget": 1}),
    ("usage-feedback", {"side": "worker", "young_reports": 3, "headroom": "prototype", "forget": 1}),
    ("usage-feedback", {"damping": 0.25, "target_failures": 20.0}),
    ("usage-feedback", {"target_failures": 40.0, "young_reports": 2, "forget": 1}),
    ("n-sigma", {"n": 2, "samples": 3}),
    ("percentile", {"percent": 80, "samples": 3}),
    ("max-predictor", {"n": 1, "percent": 50, "samples": 2, "every": 2}),
    ("oracle", {}),
)
ORDERINGS: tuple[Lever, ...] = (
    ("fifo", {}),
    ("fifo", {"blocking": 0}),
    ("fifo", {"yarn": 1}),
    ("fifo", {"yarn": 1, "blocking": 0}),
    ("random-order", {}),
    ("sjf", {}),
    ("srpt", {}),
    ("smallest-first", {}),
    ("smallest-first", {"demand": "whole"}),
    ("leaf-order", {}),
    ("leaf-order", {"default": "fair"}),
    ("leaf-order", {"default": "drf"}),
    ("ffd-dp", {}),
    ("ffd-dp", {"ties": "even"}),
    ("tetris", {}),
    ("tetris", {"weight": 0.3}),
    ("haste", {}),
    ("haste", {"urgency": "assigned", "initial": 0}),
    ("haste", {"progress": "finished"}),
    ("haste", {"hold_reduces": 1}),
    ("haste-a", {}),
    ("haste-a", {"aggressiveness": 0.5, "fitness": 0, "urgency": "assigned"}),
)
QUEUES: tuple[Lever, ...] = (
    ("one-leaf", {}),
    ("fair", {}),
    ("fair", {"threshold_mb": 512, "nodes": 0.5}),
    ("fair", {"reserve": "always"}),
    ("fair", {"reserve": "capacity"}),
    ("drf", {}),
    ("drf", {"threshold_mb": 512, "threshold_vcores": 1, "nodes": 0.3}),
    ("drf", {"reserve": "none"}),
    ("capacity", {}),
    ("capacity", {"reserve": 0}),
)
ADMISSIONS: tuple[Lever, ...] = (
    ("admit-all", {}),
    ("max-running", {"jobs": 2}),
    ("am-share", {"percent": 0.3}),
    ("fair-am-share", {}),
    ("fair-am-share", {"percent": 0.3, "shares": "dominant"}),
    ("admission-control", {}),
    ("admission-control", {"rule": "literal", "cold_start": "none"}),
    ("admission-control", {"rule": "literal"}),
    ("admission-control", {"backlog": 0.0}),
    ("admission-control", {"capacity": "usable"}),
    ("admission-control-scaled", {"rule": "literal"}),
    ("admission-control", {"rule": "literal", "backlog": 0.7}),
    ("whole-jobs", {}),
)
PARTITIONS: tuple[Lever, ...] = (
    ("shared", {}),
    ("small-pool", {"share": 0.3, "theta": 0.5}),
    ("dress-pools", {"theta": 0.3}),
    ("dress-pools", {"theta": 0.4, "basis": "available", "initial_share": 0.5, "window_s": 2}),
    ("dress-pools", {"theta": 0.3, "demand": "asked", "release": "literal", "t_s": 2, "t_e": 1, "window_s": 5}),
    ("dress-pools", {"theta": 0.4, "alg3": "literal", "t_s": 3, "t_e": 2}),
    ("dress-pools", {"theta": 0.4}),
)
PLACEMENTS: tuple[Lever, ...] = (
    ("most-free", {}),
    ("first-fit", {}),
    ("best-fit", {}),
    ("random-node", {}),
    ("delay-locality", {"wait_s": 2}),
    ("near-last", {}),
)


def observations() -> st.SearchStrategy[Observation]:
    """Looks and reports that come late, by polls, or never."""
    return st.builds(
        Observation,
        poll_ms=st.sampled_from((0, 300, 1000, 2500)),
        lag_ms=st.sampled_from((0, 1, 700, 4200)),
        loss_permyriad=st.sampled_from((0, 3000)),
    )


def policies() -> st.SearchStrategy[Policy]:
    """Any combination of the levers."""
    return st.builds(
        Policy,
        admission=st.sampled_from(ADMISSIONS),
        sizing=st.sampled_from(SIZINGS),
        partition=st.sampled_from(PARTITIONS),
        ordering=st.sampled_from(ORDERINGS),
        placement=st.sampled_from(PLACEMENTS),
        queues=st.sampled_from(QUEUES),
    )
