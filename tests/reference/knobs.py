"""Stock YARN driven by knobs: a policy outside that looks now and then and turns what YARN lets it turn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from heddle.model.cluster import Queue
from heddle.model.draw import STREAM_NODE_HEARTBEAT, draw
from heddle.model.reasons import JobOutcome, Outcome
from heddle.model.resources import MEMORY, VCORES
from heddle.model.workload import INNER

from .admissions import AmShare, make_admission
from .every_ordering import make_ordering
from .orderings import Key
from .partitions import ASKED_FOR, make_partition
from .promises import Promises, share_out
from .queues import make_queues
from .reports import STREAM_OBSERVATION
from .sizings import Sizing, make_sizing
from .state import Job, Node, QueueState, Report, Run, Stage, Vector, World
from .trace import Attempt, Lever, Observation, Policy

if TYPE_CHECKING:
    from .tabled import Table

DEFAULT_POLL_MS = 1000
HIGHEST_PRIORITY = 10
WHOLE: Vector = (1, 1000)  # node totals are whole MB and whole vcores
DEAD_BAND: Vector = (256, 1000)
OF_YARN = ("am-share", "fair-am-share")
ADMISSION_OF: dict[str, Lever] = {
    "capacity": ("am-share", {}),
    "fair": ("fair-am-share", {}),
    "drf": ("fair-am-share", {"shares": "dominant"}),
}
LEAF_ORDER_OF = {"capacity": "fifo", "fair": "fair", "drf": "drf"}
FIRST_LOSS = 2**60  # index of the first tick in the stream


class PostedSize(Sizing):
    """Stock YARN's sizes of nodes: the allowance, or what was posted last."""

    def __init__(self) -> None:
        self.posted: dict[Node, Vector] = {}

    def total(self, world: World, node: Node) -> Vector:
        posted = self.posted.get(node, node.spec.allowance)
        return tuple(max(size, held) for size, held in zip(posted, world.allocated_node(node), strict=True))


def stock(policy: Policy, *, by_bridge: bool = False) -> Policy:
    """What decides between two ticks. Its sizing is a PostedSize."""
    alone: Lever = ("capacity", {"reserve": 0} if by_bridge else {})
    queues: Lever = policy.queues if make_queues(*policy.queues).walks else alone
    admission = policy.admission if policy.admission[0] in OF_YARN else ADMISSION_OF[queues[0]]
    default = {"fifo": "fifo", "leaf-order": policy.ordering[1].get("default", "fifo")}
    ordering: Lever = ("leaf-order", {"default": default.get(policy.ordering[0], LEAF_ORDER_OF[queues[0]])})
    placement = policy.placement if policy.placement[0] == "delay-locality" else ("most-free", {})
    return Policy(admission, ("reservation", {}), ("shared", {}), ordering, placement, queues)


@dataclass
class Turns:
    """What one tick decided. Empty where the policy has no opinion."""

    leaf: dict[Job, QueueState] = field(default_factory=dict)
    queue_permille: dict[QueueState, tuple[int, int]] = field(default_factory=dict)  # guarantee, maximum
    # Of a leaf: what AMs hold, with those that may start, and what the AM share is a share of.
    ams: dict[QueueState, tuple[Vector, Vector]] = field(default_factory=dict)
    priority: dict[Job, int] = field(default_factory=dict)
    size: dict[Node, Vector] = field(default_factory=dict)
    table: Table | None = None


class Knobs:
    def __init__(
        self, world: World, policy: Policy, sizes: PostedSize, promises: Promises, observation: Observation
    ) -> None:
        self.world, self.sizes, self.promises, self.observation = world, sizes, promises, observation
        self.poll_ms = observation.poll_ms or DEFAULT_POLL_MS
        self.partition = make_partition(*policy.partition)
        self.admission = make_admission(*policy.admission, self.partition)
        self.sizing, self.ordering = make_sizing(*policy.sizing), make_ordering(*policy.ordering)
        self.sizes_nodes = policy.sizing[0] != "reservation"
        self.ranks_jobs = policy.ordering[0] not in ("fifo", "leaf-order")
        self.holds_back = policy.admission[0] not in ("admit-all", *OF_YARN)
        self.pools: list[QueueState] = []
        if policy.partition[0] != "shared":
            self.pools = [
                queue
                for i in range(2)
                for queue in world.queues
                if queue.spec.name == f"root.pool-{i}" and not queue.label
            ]
            self.holds_back = policy.admission[0] != "fair-am-share"
            if policy.admission[0] == "admit-all":
                self.admission = AmShare()
        self.submitted_priority = {job: job.priority for job in world.jobs}
        self.found = {queue: queue.spec for queue in world.queues}
        self.submitted_to = {job: job.queue for job in world.jobs}
        self.due: list[tuple[int, Turns]] = []  # (when it takes effect, what)
        self.last_tick: int | None = None
        self.seen: list[Run] = []
        self.alive: list[Node] = []
        self.started: set[Job] = set()  # those of which a tick has seen a container
        self.known: dict[Job, list[Stage]] = {}  # kinds of requests seen so far, in the order in which they were
        self.done: Counter[Stage] = Counter()  # containers of theirs that were seen and ended well, as far as told

    # When

    def next_at(self, at: int) -> int:
        return min([at + -at % self.poll_ms, *(effect_at for effect_at, _ in self.due)])

    def now(self) -> bool:
        """Effects and tick of this instant; whether a knob moved."""
        moved = self._take_effect()
        if self._looks_now():
            there, of_yarn, of_partitions = self.world.runs, self.world.total_sum, dict(self.world.total_of)
            self.world.runs = there + self._untold()
            leaving = self._show_leaving()
            self.promises.add_up()  # as the tick sees it
            self._look()
            self.due.append((self.world.now + self.observation.lag_ms, self._decide()))
            for node in leaving:
                node.leaving = True
            self.world.runs, self.world.total_sum, self.world.total_of = there, of_yarn, of_partitions
            share_out(self.world)
        return self._take_effect() or moved

    def _looks_now(self) -> bool:
        tick, rest = divmod(self.world.now, self.poll_ms)
        chance = draw(self.world.seed, STREAM_OBSERVATION, FIRST_LOSS + tick) % 10000
        return rest == 0 and chance >= self.observation.loss_permyriad

    def _take_effect(self) -> bool:
        ready = [turns for effect_at, turns in self.due if effect_at <= self.world.now]
        self.due = [(effect_at, turns) for effect_at, turns in self.due if effect_at > self.world.now]
        moved = [self._turn(turns) for turns in ready]  # all of them are turned
        return any(moved)

    # Looking

    def _untold(self) -> list[Run]:
        """Containers of the last tick that have finished, which no heartbeat of their node has told yet."""
        timing = self.world.cluster.timing
        interval = min(1, timing.node_heartbeat_ms) if timing.heartbeat_at_end else timing.node_heartbeat_ms
        found = []
        for run in self.seen if interval else []:
            ended = run.record.ended_at_ms
            if run.record.outcome is Outcome.FINISHED and ended is not None:
                phase = draw(self.world.seed, STREAM_NODE_HEARTBEAT, run.node.number) % interval
                told_at = ended + (phase - ended) % interval
                if told_at >= self.world.now and run.node.alive and not run.task.job.ended:
                    found.append(run)
        return found

    def _show_leaving(self) -> list[Node]:
        """Nodes that still hold something while they are decommissioned, as nodes that are there and have no room."""
        shown = [node for node in self.world.nodes if node.leaving and self.world.containers(node)]
        for node in shown:
            node.leaving, self.sizes.posted[node] = False, self.world.allocated_node(node)
        return shown

    def _look(self) -> None:
        """Tells the sizing lever what happened between two ticks."""
        world, now = self.world, self.world.now
        here = world.containers()
        alive = [node for node in world.nodes if node.alive]
        # What is on a node that was lost in between ends after the others; the order matters to no lever.
        for run in self.seen:
            if run not in here:
                self.sizing.on_end(world, run)
                self.done[run.task.stage] += self._ended_well(run)
        for node in self.alive:
            if node not in alive:
                self.sizing.on_loss(node)
        report_ms = world.cluster.timing.usage_report_ms
        passed = 0 if self.last_tick is None or report_ms == 0 else now // report_ms - self.last_tick // report_ms
        still_there = [run for run in self.seen if run in here]
        world.runs, everything = [run for run in world.runs if run in still_there or run.executor], world.runs
        for node in alive:
            for _ in range(passed if node in self.alive else 1):
                node.reports += 1
                node.report = node.last_made or Report(node, -1, world.zero, {})
                node.reported_background = node.report.background
                self.sizing.on_report(world, node)
        world.runs = everything
        for run in here:
            if run not in still_there:
                run.reports_before = run.node.reports
                self.sizing.on_allocation(world, run)
        self.last_tick, self.seen, self.alive = now, here, alive
        self.started |= {run.task.job for run in here}
        for job in world.jobs:
            for stage in job.stages:
                if stage.kind in ASKED_FOR and self._wanted_now(stage) and stage not in self.known.setdefault(job, []):
                    self.known[job].append(stage)

    def _ended_well(self, run: Run) -> bool:
        """As far as REST tells: its node is there, and its job has not failed."""
        return run.node.alive and run.task.job.outcome != JobOutcome.FAILED

    def _wanted_now(self, stage: Stage) -> int:
        """Containers that it has or waits for."""
        return len(stage.waiting()) + sum(run.task.stage is stage for run in self.seen)

    # Deciding

    def _decide(self) -> Turns:
        turns = Turns()
        live = [job for job in self.world.jobs if job.arrived and not job.ended]
        shown = {queue: queue.spec for queue in self.world.queues}
        set_priority = {job: job.priority for job in self.world.jobs}
        admitted = {job: job.admitted for job in self.world.jobs}
        for queue in self.world.queues:
            queue.spec = replace(queue.spec, am_share_permille=self.found[queue].am_share_permille)
        for job in self.world.jobs:
            job.priority, job.admitted = self.submitted_priority[job], job in self.started
        if self.pools:
            self._share_out(turns, live)
        if self.holds_back:
            self._let_in(turns, live)
        if self.ranks_jobs:
            self._rank(turns, live)
        for queue, spec in shown.items():
            queue.spec = spec
        for job, priority in set_priority.items():
            job.priority, job.admitted = priority, admitted[job]
        if self.sizes_nodes:
            turns.size = {node: self._wanted(node) for node in self.alive}
        return turns

    def _share_out(self, turns: Turns, live: list[Job]) -> None:
        world = self.world
        whole = {r: world.total_sum[r] for r in world.counting if world.total_sum[r]}
        maxima = []
        for number, _ in enumerate(self.pools):
            limit = self.partition.limit(world, number)
            assert limit is not None
            maxima.append(min((limit[r] * 1000 // total for r, total in whole.items()), default=0))
        guarantees = [max(0, 1000 - sum(maxima[1:])), *maxima[1:]]
        maxima[0] = max(maxima[0], guarantees[0])
        if whole:
            turns.queue_permille = dict(zip(self.pools, zip(guarantees, maxima, strict=True), strict=True))
        for job in (one for one in live if self.known.get(one)):
            wanted = [(stage.shape, self._wanted_now(stage) + self.done[stage]) for stage in self.known.get(job, [])]
            turns.leaf[job] = self.pools[self.partition.pool_for(world, wanted)]

    def _let_in(self, turns: Turns, live: list[Job]) -> None:
        world = self.world
        before = list(world.runs)
        leaves = [queue for queue in world.queues if not queue.children and not queue.label]
        bases = {leaf: AmShare().base(world, leaf) for leaf in leaves}
        is_in, set_to = {job: job.queue for job in world.jobs}, {queue: queue.spec for queue in world.queues}
        if self.pools:  # as if nothing had been turned
            self._set(self.submitted_to, self.found)
        with_am = [job for job in live if job.has_am and job.stages[0].tasks[0].run is not None]
        one_more = [job for job in with_am if self.pools and self.admission.says_yes(world, job)]
        asked = [job for job in live if not job.admitted]
        said_yes = self._say_yes(asked)
        self._set(is_in, set_to)
        self._keep_an_am(turns, with_am, asked, [*said_yes, *one_more])
        self._set(is_in | turns.leaf, set_to)  # where AMs will be
        for leaf, base in bases.items():
            held = world.allocated_queue(leaf, only_ams=True)
            may_start = any(job.has_am and is_in[job] is leaf for job in said_yes)
            moved_in = any(job.queue is leaf and is_in[job] is not leaf for job in with_am)
            there = [job.stages[0].shape for job in with_am if is_in[job] is leaf]
            if not may_start and not moved_in:
                largest = [max((shape[r] for shape in there), default=0) for r in range(world.n_resources)]
                held = tuple(max(0, x - y) for x, y in zip(held, largest, strict=True))
            turns.ams[leaf] = held, base
        self._set(is_in, set_to)
        world.runs = before
        for job in said_yes:
            job.admitted = False
            if job.has_am:
                job.stages[0].tasks[0].run = None

    def _set(self, leaf_of: dict[Job, QueueState], specs: dict[QueueState, Queue]) -> None:
        for job, leaf in leaf_of.items():
            job.queue = leaf
        for queue, spec in specs.items():
            queue.spec = spec
        share_out(self.world)

    def _say_yes(self, asked: list[Job]) -> list[Job]:
        """Jobs that may start; each counts as started for those behind it, and still does afterwards."""
        world, said_yes = self.world, []
        for job in sorted(asked, key=lambda job: (-job.priority, job.number)):
            if self.admission.says_yes(world, job):
                said_yes.append(job)
                job.admitted = True
                if job.has_am:  # as if it were allocated; where, makes a difference only among nodes that are there
                    node = max(self.alive or world.nodes, key=lambda node: (self._free_memory(node), -node.number))
                    am = job.stages[0].tasks[0]
                    am.run = Run(am, node, None, 0, Attempt(am.number, 0, node.number, world.now), None, 0)
                    world.runs.append(am.run)
        return said_yes

    def _keep_an_am(self, turns: Turns, with_am: list[Job], asked: list[Job], may_start: list[Job]) -> None:
        """Takes the last AM that would leave a leaf off the moves, where nobody else may start there."""
        will_be_in = {turns.leaf.get(job, job.queue) for job in with_am}
        for leaf in set(self.submitted_to.values()) - will_be_in:
            leaving = [job for job in with_am if job.queue is leaf and self.submitted_to[job] is leaf]
            waiting = [job for job in asked if job.queue is leaf and job.has_am]
            if leaving and not any(job in may_start for job in waiting or leaving[-1:]):
                del turns.leaf[leaving[-1]]

    def _free_memory(self, node: Node) -> int:
        return self.sizes.posted.get(node, node.spec.allowance)[MEMORY] - self.world.allocated_node(node)[MEMORY]

    def _rank(self, turns: Turns, live: list[Job]) -> None:
        for leaf in self.world.queues:
            keys: dict[Job, Key] = {}
            for job in live:
                waiting = [stage for stage in job.stages if stage.kind != INNER and stage.waiting()]
                if job.queue is leaf and waiting:
                    keys[job] = min(self.ordering.key(self.world, stage) for stage in waiting)
            ranks = sorted(set(keys.values()))
            for job, key in keys.items():
                turns.priority[job] = priority_of(ranks.index(key), len(ranks))

    def _wanted(self, node: Node) -> Vector:
        promised, held = self.sizing.promised(self.world, node), self.world.allocated_node(node)
        return tuple(max(promised[r] // WHOLE[r] * WHOLE[r], held[r]) for r in (MEMORY, VCORES))

    # Turning

    def _turn(self, turns: Turns) -> bool:
        """Whether anything is different now."""
        before = self._settings()
        for queue, (guarantee, maximum) in turns.queue_permille.items():
            queue.spec = replace(
                queue.spec,
                guarantee_permille=guarantee,
                maximum_permille=maximum,
                guarantee=(),  # amounts that the cluster has given it make way
                maximum=(),
                weight_milli=max(1, guarantee),
            )
        for job, leaf in turns.leaf.items():
            job.queue = leaf
        posted = {node: wanted for node, wanted in turns.size.items() if self._is_posted(node, wanted)}
        growth = {
            r: sum(max(0, wanted[r] - self._posted_last(node)[r]) for node, wanted in posted.items())
            for r in (MEMORY, VCORES)
        }
        for queue, (held, base) in turns.ams.items():
            whole = {r: base[r] + growth.get(r, 0) for r in self.world.counting}
            parts = [-(-1000 * held[r] // whole[r]) for r in whole if whole[r] > 0]
            queue.spec = replace(queue.spec, am_share_permille=min(1000, max(parts, default=0)))
        for job, priority in turns.priority.items():
            job.priority = priority
        self.sizes.posted.update(posted)
        moved = before != self._settings()
        if moved:
            self.promises.add_up()
        return moved

    def _posted_last(self, node: Node) -> Vector:
        return self.sizes.posted.get(node, node.spec.allowance)

    def _is_posted(self, node: Node, wanted: Vector) -> bool:
        step = [abs(wanted[r] - self._posted_last(node)[r]) for r in (MEMORY, VCORES)]
        return node.alive and (step[MEMORY] >= DEAD_BAND[MEMORY] or step[VCORES] >= DEAD_BAND[VCORES])

    def _settings(self) -> tuple[object, ...]:
        return (
            [queue.spec for queue in self.world.queues],
            [(job.queue, job.priority) for job in self.world.jobs],
            dict(self.sizes.posted),
        )


def priority_of(rank: int, ranks: int) -> int:
    """0 is the first rank; the larger number is the more important."""
    if ranks <= HIGHEST_PRIORITY + 1:
        return HIGHEST_PRIORITY - rank
    return HIGHEST_PRIORITY - rank * (HIGHEST_PRIORITY + 1) // ranks
