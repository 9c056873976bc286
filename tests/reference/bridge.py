"""Stock YARN with the bridge: the policy outside hears of new requests, and says in what order they are served."""

from __future__ import annotations

from heddle.model.cluster import Cluster
from heddle.model.workload import AM, INNER

from .haste import AM_RANK, Haste, HasteA
from .knobs import DEFAULT_POLL_MS, Knobs, PostedSize, Turns, stock
from .orderings import FfdDp, Key, LeafOrder, fifo_key
from .promises import Promises
from .state import Job, Node, Stage, Vector, World
from .tabled import Table, Tabled
from .trace import Observation, Policy

SMALLEST_GAP_MS = 250
OF_YARN = ("fifo", "leaf-order")


def has_use_for_bridge(policy: Policy) -> bool:
    return policy.ordering[0] not in OF_YARN


def tabled_ordering(policy: Policy, cluster: Cluster, observation: Observation) -> Tabled:
    """What orders a leaf of the YARN that this policy drives."""
    poll_ms = observation.poll_ms or DEFAULT_POLL_MS
    alone = policy.ordering[0] == "smallest-first" and cluster.timing.node_heartbeat_ms == 0
    return Tabled(LeafOrder(**stock(policy).ordering[1]), poll_ms * 3 // 2, by_keys_alone=alone)


class Bridge(Knobs):
    def __init__(
        self,
        world: World,
        policy: Policy,
        sizes: PostedSize,
        promises: Promises,
        observation: Observation,
        tabled: Tabled,
    ) -> None:
        super().__init__(world, policy, sizes, promises, observation)
        self.tabled = tabled
        self.looked_at = -SMALLEST_GAP_MS
        self.met: set[Job] = set()
        self.shapes: list[Vector] = []  # those of requests and containers seen so far

    # When

    def next_at(self, at: int) -> int:
        times = [super().next_at(at), *(until for until in self._held_until() if until >= at)]
        return min([*times, *([] if self.world.newcomer_at is None else [self._hears_at()])])

    def _hears_at(self) -> int:
        assert self.world.newcomer_at is not None
        return max(self.world.newcomer_at + self.observation.latency_ms, self.looked_at + SMALLEST_GAP_MS)

    def _looks_now(self) -> bool:
        heard = self.world.newcomer_at is not None and self._hears_at() <= self.world.now
        if heard or super()._looks_now():
            self.world.newcomer_at, self.looked_at = None, self.world.now
            return True
        return False

    def now(self) -> bool:
        moved = super().now()
        return self.world.now in self._held_until() or moved

    def _held_until(self) -> list[int]:
        waiting = [stage for stage in self.world.stages if stage.kind not in (AM, INNER) and stage.waiting()]
        return [s.waits_since + self.tabled.hold_ms for s in waiting if self.tabled.is_unnamed(s)]

    # What

    def _look(self) -> None:
        """Shapes have the order in which they are seen: newcomers' requests, new containers, all requests."""
        here, world = self.world.containers(), self.world
        live = [job for job in world.jobs if job.arrived and not job.ended]
        came = [job for job in live if job not in self.met]
        new = sorted(
            (run for run in here if run not in self.seen),
            key=lambda run: (run.task.job.number, run.record.attempt, run.task.number),
        )
        super()._look()
        asked = [[s for job in jobs for s in job.stages if s.kind != INNER and s.waiting()] for jobs in (came, live)]
        for stage in (*asked[0], *(run.task.stage for run in new), *asked[1]):
            if stage.shape not in self.shapes:
                self.shapes.append(stage.shape)
        self.met |= set(live)

    def _rank(self, turns: Turns, live: list[Job]) -> None:
        """A table in place of priorities."""
        waiting = [stage for job in live for stage in job.stages if stage.kind != INNER and stage.waiting()]
        if isinstance(self.ordering, Haste):
            haste = self.ordering
            named = {stage: self._key_and_urgency(haste, stage) for stage in waiting}
            turns.table = Table("scaled", haste.fitness, -(3 * 2**59), named)
            if isinstance(haste, HasteA):
                turns.table.form, turns.table.alignment_milli = "aligned", self._weight(haste)
            if haste.initial and all(run.kind == AM for run in self.seen):
                nodes = [node for node in self.alive if not (self.world.partitions and node.spec.label)]
                turns.table.plans = {node: self._plan(haste, node, waiting) for node in nodes}
        else:
            named = {stage: (self.ordering.key(self.world, stage), 0) for stage in waiting}
            by_fit = isinstance(self.ordering, FfdDp)
            turns.table = Table("fit" if by_fit else "key", by_fit, None, named)

    def _key_and_urgency(self, haste: Haste, stage: Stage) -> tuple[Key, int]:
        if stage.kind == AM:
            return AM_RANK + fifo_key(stage.job), 0
        urgency = self._urgency(haste, stage)
        return -(self._alignment(haste, stage) * 2**40) - urgency, urgency

    def _urgency(self, haste: Haste, stage: Stage) -> int:
        """As inside, of what was seen of the job so far."""
        if haste.form == "none":
            return 0
        known = [other for other in self.known.get(stage.job, []) if other.kind != AM]
        those = [other for other in known if _round(other) == _round(stage)]
        maps, reduces = [s for s in those if not s.is_early], [s for s in those if s.is_early]
        there = {other: sum(run.task.stage is other for run in self.seen) for other in those}
        part = {other: haste._part(self.world, other.shape) for other in those}
        passed = sum(self.done[s] + (0 if haste.progress == "finished" else there[s]) for s in maps)
        of_all = sum(len(s.waiting()) + there[s] + self.done[s] for s in maps)
        of_reduces = sum(there[s] * part[s] for s in reduces)
        holds = of_reduces + sum(there[s] * part[s] for s in maps)
        ever = sum((there[s] + self.done[s]) * part[s] for s in those)
        progress = passed * 2**20 // max(1, of_all)
        of_map = progress * (ever if haste.form == "assigned" else holds) // 2**20
        if not stage.is_early:
            return min(of_map, 2**40 - 1)
        if haste.holds_reduces and any(s.waiting() for s in maps):
            return 0
        return min(of_map * (progress * holds // 2**20) // max(1, of_reduces, part[stage]), 2**40 - 1)

    def _alignment(self, haste: Haste, stage: Stage) -> int:
        """Jobs count once they have been seen."""
        if not isinstance(haste, HasteA) or not stage.job.iterative or haste.aggressiveness == 0:
            return 0
        if 1000 * sum(job.iterative for job in self.met) >= 900 * len(self.met):
            return 0
        return 2**20 - 2**20 // (stage.iteration + 2)

    def _weight(self, haste: HasteA) -> int:
        if haste.aggressiveness != "auto":
            return round(1000 * float(haste.aggressiveness))
        return 1000 - 1000 * sum(job.iterative for job in self.met) // max(1, len(self.met))

    def _plan(self, haste: Haste, node: Node, waiting: list[Stage]) -> dict[Vector, int]:
        total, held = self.sizes.total(self.world, node), self.world.allocated_node(node)
        free = tuple(total[r] - held[r] for r in range(len(total)))
        return haste.knapsack(self.world, node, free, waiting, self.shapes)

    # Turning

    def _turn(self, turns: Turns) -> bool:
        moved = super()._turn(turns)
        if turns.table is not None:
            self.tabled.table = turns.table
        return moved or turns.table is not None


def _round(stage: Stage) -> int:
    """As the application tells it: of iterative jobs alone."""
    return stage.iteration if stage.job.iterative else 0
