"""The state of a run as plain objects. Nothing here is summed up ahead: whoever needs a sum adds it up."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field

from heddle.model.cluster import Cluster, Queue
from heddle.model.cluster import Node as NodeSpec
from heddle.model.draw import (
    STREAM_AM_HEARTBEAT,
    STREAM_NODE_FAULT,
    STREAM_SLOW_NODE,
    draw,
)
from heddle.model.reasons import JobOutcome
from heddle.model.resources import MEMORY, ONE
from heddle.model.workload import AM, INNER

from .trace import Attempt

Vector = tuple[int, ...]


def add(a: Vector, b: Vector) -> Vector:
    return tuple(map(operator.add, a, b))


@dataclass(eq=False)
class Task:
    number: int
    stage: Stage
    duration_ms: int
    profile: list[tuple[int, Vector]] | None  # (until permyriad, use); None: not recorded
    prefers: Node | None
    input_bytes: int = 0  # that lie on the preferred node
    finished_on: Node | None = None
    asked: bool = False  # visible to the scheduler (inner task: waiting for a slot)
    ask_at: int | None = None  # will become visible then
    back_at: int | None = None  # of an early stage: will be pending again then
    run: Run | None = None
    finished: bool = False
    ran_ms: int = 0  # end - start of the attempt that finished
    attempts: int = 0
    failures: int = 0  # attempts that count: failed or limit-killed; for an AM, node losses
    crashes: int = 0  # since a task of any job finished

    @property
    def job(self) -> Job:
        return self.stage.job


@dataclass(eq=False)
class Stage:
    number: int
    job: Job
    kind: int
    shape: Vector
    shuffle_ms: int
    idle_timeout_ms: int
    slow_start_permille: int
    slots: int
    label: str
    iteration: int = 0
    tasks: list[Task] = field(default_factory=list)
    after: list[Stage] = field(default_factory=list)
    after_bytes: list[int] = field(default_factory=list)
    opened: bool = False  # runnable, as the page calls it
    asked_at: int | None = None
    waits_since: int = 0  # when it last began to wait, none of its tasks having waited
    look_at: set[int] = field(default_factory=set)  # of executors: when the AM looks at how many it may ask for
    gave_way: bool = False  # an early stage that asks for nothing until one of its maps is allocated
    last_end: int | None = None  # when a container of it last ended
    last_node: Node | None = None  # of the container that it was given last

    @property
    def done(self) -> bool:
        return all(task.finished for task in self.tasks)

    @property
    def is_early(self) -> bool:
        return self.slow_start_permille >= 0

    @property
    def turn(self) -> tuple[int, bool, bool, int]:
        """In what order requests go: AM, reduces, maps."""
        return self.job.number, self.kind != AM, not self.is_early, self.number

    @property
    def leaf(self) -> QueueState:
        """Where its requests wait and its containers count: its job's queue, in the tree of its partition."""
        return self.job.queue.copies.get(self.label, self.job.queue)

    def waiting(self) -> list[Task]:
        return [task for task in self.tasks if task.asked]

    def eligible(self) -> list[Task]:
        """The tasks one of which a container would go to: of an early stage, those too that are not asked for."""
        if not self.is_early:
            return self.waiting()
        return [task for task in self.tasks if not task.finished and task.run is None and task.back_at is None]


@dataclass(eq=False)
class Job:
    number: int
    submit_at_ms: int
    queue: QueueState
    user: int
    priority: int
    has_am: bool
    iterative: bool = False
    failed_at_arrival: bool = False
    stages: list[Stage] = field(default_factory=list)
    after: list[Job] = field(default_factory=list)
    arrived: bool = False
    admitted: bool = False
    begun: bool = False  # its AM is ready, or it has none and has arrived
    began_before: bool = False  # now, or before its AM was lost
    look_at: set[int] = field(default_factory=set)  # when its AM looks at its early stages, since something changed
    alarms: set[int] = field(default_factory=set)  # and when because maps will have waited long enough
    last_node: Node | None = None  # of the container that it was given last
    pool: int = 0
    outcome: JobOutcome = JobOutcome.UNFINISHED
    ended_at: int | None = None

    @property
    def ended(self) -> bool:
        return self.outcome != JobOutcome.UNFINISHED

    def tasks(self) -> list[Task]:
        return [task for stage in self.stages for task in stage.tasks]


@dataclass(frozen=True)
class Report:
    """What a node told of its use when the report was made."""

    node: Node
    number: int
    background: Vector
    of_container: dict[Run, Vector]


@dataclass(eq=False)
class Node:
    number: int
    spec: NodeSpec
    speed_permille: int
    background: Vector
    lost: bool = False
    leaving: bool = False  # it is being decommissioned, or is gone for that reason
    faults: int = 0  # losses so far
    loss_at: int | None = None
    return_at: int | None = None
    leaves_at: int | None = None  # when it begins to be decommissioned
    reports_made: int = 0
    reports: int = 0  # seen, those included that the seen ones stand for
    last_made: Report | None = None
    report: Report | None = None  # the last one that was seen
    reported_background: Vector = ()
    reserved_for: Stage | None = None

    @property
    def alive(self) -> bool:
        """Whether it takes containers."""
        return not self.lost and not self.leaving


@dataclass(eq=False)
class QueueState:
    number: int
    spec: Queue
    parent: QueueState | None
    guarantee: Vector = ()  # these two follow what the cluster may promise now
    maximum: Vector = ()
    children: list[QueueState] = field(default_factory=list)
    label: str = ""  # the partition in whose tree it is
    copies: dict[str, QueueState] = field(default_factory=dict)  # of a queue of the default partition: in the others

    def upwards(self) -> list[QueueState]:
        """This queue, its parent, ..., root."""
        return [self] if self.parent is None else [self, *self.parent.upwards()]


@dataclass(eq=False)
class Run:
    """A live attempt: a container, or an inner task in a slot of the container `executor`."""

    task: Task
    node: Node
    executor: Run | None
    starts_at: int
    record: Attempt
    fail_at_us: int | None  # a fault of its own strikes when so much work is done
    reports_before: int  # reports its node had made when it was allocated
    live: bool = True
    ready_at: int | None = None  # AMs
    idle_since: int | None = None  # executors
    holding: bool = False  # early stages
    fetching: bool = False  # its input is on its way
    has_fetched: bool = False
    work_us: int = 0
    rate: int = 0
    since: int = 0
    due: int | None = None  # next breakpoint; None: never
    timed: bool = False  # whether `due` was computed for the present breakpoint
    memory_before: int = 0  # use when the instant began
    reported: Vector | None = None  # its use, as last seen

    @property
    def started(self) -> bool:
        return self.record.started_at_ms is not None

    @property
    def kind(self) -> int:
        return self.task.stage.kind

    @property
    def newness(self) -> tuple[int, int]:
        assert self.record.started_at_ms is not None
        return self.record.started_at_ms, self.task.number


class World:
    """Everything that exists at one instant of a run. loading.py puts queues and jobs into it."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.seed, self.now = cluster, seed, 0
        self.n_resources = len(cluster.resources)
        self.zero: Vector = (0,) * self.n_resources
        self.exclusive = [cluster.resources.index(name) for name in cluster.exclusive]
        dominant = cluster.calculator == "dominant"
        self.counting = [r for r in range(self.n_resources) if dominant or r == MEMORY or r in self.exclusive]
        self.capacity_sum = cluster.total_allowance()  # C_r of the page
        self.total_sum: Vector = self.capacity_sum  # T_r of the page
        self.total_of: dict[str, Vector] = {}  # that of each partition
        self.nodes = [self._node(number, spec) for number, spec in enumerate(cluster.nodes)]
        self.queues: list[QueueState] = []  # of all partitions; the tree of the default one is first
        self.partitions: list[str] = []  # their labels; empty: labels are properties of nodes
        self.jobs: list[Job] = []
        self.stages: list[Stage] = []
        self.tasks: list[Task] = []
        self.runs: list[Run] = []
        self.attempts: list[Attempt] = []
        self.shapes: list[Vector] = []  # distinct reservations, in the workload's order
        self.allocations = 0
        self.late = False  # AMs have looked in this instant
        self.newcomer_at: int | None = None  # when a stage first began to wait, since somebody outside looked
        self.untold: set[int] = set()  # nodes on which containers ended since heartbeats were last sent

    def anything_waits(self) -> bool:
        """Whether the scheduler has requests that it has not met."""
        return any(stage.waiting() for stage in self.stages if stage.kind != INNER)

    def roots(self) -> list[QueueState]:
        return [queue for queue in self.queues if queue.parent is None]

    def may_go_to(self, stage: Stage, node: Node) -> bool:
        """As far as labels say."""
        return stage.label == node.spec.label or (stage.label == "" and not self.partitions)

    def changed(self) -> None:
        """Something that AMs may see in their headroom, or in their own containers."""
        for job in self.jobs:
            if job.begun and not job.ended:
                self.looks_soon(job)

    def looks_soon(self, job: Job) -> None:
        """At its first heartbeat from now on at which it has not looked."""
        if any(stage.is_early for stage in job.stages):
            job.look_at.add(self.next_am(job, self.now + self.late))

    def drop_reservations(self, stage: Stage) -> None:
        for node in self.nodes:
            if node.reserved_for is stage:
                node.reserved_for = None

    def _node(self, number: int, spec: NodeSpec) -> Node:
        faults = self.cluster.faults
        slow = draw(self.seed, STREAM_SLOW_NODE, number) % 1000 < faults.slow_node_permille
        node = Node(number, spec, faults.slow_speed_permille if slow else spec.speed_permille, self.zero)
        node.background, node.reported_background = self.background_level(node, 0), self.zero
        node.leaves_at = spec.decommission_at_ms if spec.decommission_at_ms >= 0 else None
        if faults.node_mtbf_s > 0:
            node.loss_at = self.fault_span_ms(node, faults.node_mtbf_s, repair=False)
        return node

    def fault_span_ms(self, node: Node, mean_s: int, *, repair: bool) -> int:
        """The up time (or repair time) that follows `node.faults` losses."""
        x = int(draw(self.seed, STREAM_NODE_FAULT, node.number * 2**20 + 2 * node.faults + int(repair)))
        exponential = math.floor(-math.log((x % 2**20 + 0.5) / 2**20) * 2**20)
        return 1 + mean_s * 1000 * exponential // ONE

    def background_level(self, node: Node, at: int) -> Vector:
        levels = [level.use for level in node.spec.background if level.from_at_ms <= at]
        return tuple(levels[-1]) if levels else self.zero

    # Sums, from scratch each time.

    def containers(self, node: Node | None = None) -> list[Run]:
        found = [run for run in self.runs if run.executor is None and (node is None or run.node is node)]
        return sorted(found, key=lambda run: run.task.number)

    def inner_of(self, executor: Run) -> list[Run]:
        return [run for run in self.runs if run.executor is executor]

    def runs_of(self, job: Job) -> list[Run]:
        return sorted((run for run in self.runs if run.task.job is job), key=lambda run: run.task.number)

    def sum_shapes(self, runs: list[Run]) -> Vector:
        total = self.zero
        for run in runs:
            total = add(total, run.task.stage.shape)
        return total

    def allocated_node(self, node: Node) -> Vector:
        return self.sum_shapes(self.containers(node))

    def allocated_job(self, job: Job) -> Vector:
        return self.sum_shapes([run for run in self.containers() if run.task.job is job])

    def allocated_queue(self, queue: QueueState, *, user: int | None = None, only_ams: bool = False) -> Vector:
        """What the queue's containers, or those of queues below it, reserve; optionally one user's, or AMs'."""
        return self.sum_shapes(
            [
                run
                for run in self.containers()
                if queue in run.task.stage.leaf.upwards()
                and user in (None, run.task.job.user)
                and (not only_ams or run.kind == AM)
            ]
        )

    def allocated_pool(self, pool: int) -> Vector:
        return self.sum_shapes([run for run in self.containers() if run.task.job.pool == pool])

    def share(self, amount: Vector) -> int:
        """The dominant share of an amount, in units of 2**-20."""
        return max((amount[r] * ONE // self.capacity_sum[r] for r in self.counting if self.capacity_sum[r]), default=0)

    def next_am(self, job: Job, at: int) -> int:
        """The first heartbeat of the job's AM at or after an instant."""
        interval = self.cluster.timing.am_heartbeat_ms
        if interval == 0 or not job.has_am:
            return at
        phase = int(draw(self.seed, STREAM_AM_HEARTBEAT, job.number)) % interval
        return at + (phase - at) % interval
