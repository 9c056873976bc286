"""Offers: free room meets waiting requests. Every walk sorts everything anew."""

from __future__ import annotations

from heddle.model.workload import EXECUTORS, INNER

from .admissions import Admission
from .jobs import Lives
from .orderings import Key, Ordering
from .partitions import Partition
from .placements import Placement
from .queues import Queues
from .sizings import Sizing
from .state import Job, Node, QueueState, Stage, World

Turn = tuple[int, bool, bool, int]


class Offers:
    def __init__(
        self,
        world: World,
        lives: Lives,
        admission: Admission,
        sizing: Sizing,
        partition: Partition,
        ordering: Ordering,
        placement: Placement,
        queues: Queues,
    ) -> None:
        self.world, self.lives, self.admission, self.sizing = world, lives, admission, sizing
        self.partition, self.ordering, self.placement, self.queues = partition, ordering, placement, queues
        self.served: set[Stage] = set()  # by the present offer: a node's heartbeat, or an ideal pass

    # Candidates

    def leaves(self, node: Node | None = None) -> list[list[Stage]]:
        """The heads of all buckets, leaf by leaf, in the order in which they are tried (on one node)."""
        heads = sorted(self._heads(), key=lambda head: head[:2])
        if self.queues.walks:
            return [leaf for root in self._roots(node) for leaf in self._walk(root, heads)]
        return [[stage for _, _, stage in heads]]

    def _roots(self, node: Node | None) -> list[QueueState]:
        """Of the trees that are walked: that of the node's partition, or all."""
        roots = self.world.roots()
        if node is None or not self.world.partitions:
            return roots
        return [root for root in roots if root.label == node.spec.label]

    def _heads(self) -> list[tuple[Key, Turn, Stage]]:
        buckets: dict[tuple[object, ...], list[tuple[Key, Turn, Stage]]] = {}
        for stage in self.world.stages:
            if stage.kind == INNER or not stage.waiting():
                continue
            job = stage.job
            leaf = stage.leaf if self.queues.walks else None
            user = job.user if self.queues.users else None
            open_to_all = job.admitted or self.admission.admits_all
            alone = stage if self.ordering.in_jobs or self.placement.alone else None
            bucket = buckets.setdefault((job.pool, leaf, user, stage.shape, stage.label, open_to_all, alone), [])
            bucket.append((self.ordering.key(self.world, stage), stage.turn, stage))
        return [min(bucket, key=lambda entry: entry[:2]) for bucket in buckets.values()]

    def _walk(self, queue: QueueState, heads: list[tuple[Key, Turn, Stage]]) -> list[list[Stage]]:
        found = [[stage for _, _, stage in heads if stage.leaf is queue]]
        below = [child for child in queue.children if any(child in h[2].leaf.upwards() for h in heads)]
        for child in sorted(below, key=lambda child: (self.queues.queue_key(self.world, child), child.number)):
            found += self._walk(child, heads)
        return found

    # Tests

    def is_let_in(self, stage: Stage) -> bool:
        """Test (a): admission."""
        return stage.job.admitted or self.admission.says_yes(self.world, stage.job)

    def _may_have_one(self, stage: Stage) -> bool:
        """Tests (a) to (c): admission, the limits of queues and users, the pool's limit; and that nobody holds it."""
        job = stage.job
        return (
            self.is_let_in(stage)
            and not self.ordering.holds(self.world, stage)
            and self.queues.within_limits(self.world, stage)
            and self.partition.allows(self.world, job, stage.shape)
        )

    def _fits(self, stage: Stage, node: Node) -> bool:
        free = self.sizing.free(self.world, node)
        return all(stage.shape[r] <= free[r] for r in self.world.counting)

    def _suits(self, stage: Stage, node: Node) -> bool:
        """Test (d) for one node."""
        return (
            node.alive
            and self.world.may_go_to(stage, node)
            and self._fits(stage, node)
            and not self.placement.vetoes(self.world, stage, node)
        )

    def _allocate(self, stage: Stage, node: Node) -> None:
        self.served.add(stage)
        task = self.placement.take(stage, node)
        if stage.kind == EXECUTORS and stage.idle_timeout_ms > 0:
            # Which executor it is matters to nobody but the record: the first neither alive nor on its way back.
            first = next(other for other in stage.tasks if other.run is None and other.ask_at is None)
            if not first.asked:
                first.asked, task.asked, task = True, False, first
        if not task.asked:  # one of as many that were
            other = stage.waiting()[-1]
            task.asked, task.ask_at, other.asked, other.ask_at = True, None, False, task.ask_at
        self.lives.allocate(task, node)
        if not stage.waiting():
            self.world.drop_reservations(stage)

    # A node's heartbeat

    def heartbeat(self, node: Node) -> None:
        given, most = 0, self.world.cluster.off_switch_per_heartbeat
        self.served.clear()
        if node.reserved_for is not None and not self._is_still_valid(node.reserved_for, node):
            node.reserved_for = None
        if node.reserved_for is not None:
            stage = node.reserved_for
            if not (self._may_have_one(stage) and self._fits(stage, node)):
                return
            node.reserved_for = None
            self._allocate(stage, node)
            given += 1
            if self.queues.reserve != "capacity":
                return
        while most == 0 or given < most:
            stage_or_none = self._packed(node, may_reserve=True) if self.ordering.packs else self._first(node)
            if stage_or_none is None:
                return
            self._allocate(stage_or_none, node)
            given += 1

    def _is_still_valid(self, stage: Stage, node: Node) -> bool:
        """Whether the node stays reserved for it."""
        if self.queues.reserve == "capacity" or not self.is_let_in(stage):
            return self.is_let_in(stage)
        return self.queues.within_limits(self.world, stage) and self._could_fit(stage, node)

    def _could_fit(self, stage: Stage, node: Node) -> bool:
        """Whether it would fit if nothing else were on the node."""
        total = self.sizing.total(self.world, node)
        return all(stage.shape[r] <= total[r] for r in self.world.counting)

    def _first(self, node: Node) -> Stage | None:
        """The request that gets a container of this node; None ends the offer, perhaps with the node reserved."""
        stopped: set[Job] = set()
        for leaf in self.leaves(node):
            for stage in leaf:
                if stage.job in stopped:
                    continue
                if not self._may_have_one(stage):
                    if (
                        self.queues.reserve == "capacity"
                        and self.world.may_go_to(stage, node)
                        and self._is_at_maximum(stage)
                    ):
                        break
                    continue
                if self._suits(stage, node):
                    return stage
                if self.world.may_go_to(stage, node) and not self._fits(stage, node):
                    if self._reserve(stage, node):
                        return None
                    if self._ends_the_leaf(stage, stopped):
                        break
        return None

    def _ends_the_leaf(self, stage: Stage, stopped: set[Job]) -> bool:
        """Whether what does not fit keeps back its whole leaf; if only the rest of its job, that is noted."""
        if self.ordering.in_jobs and self.ordering.blocking and stage not in self.served:
            stopped.add(stage.job)
        return self.ordering.blocking and not self.ordering.in_jobs

    def _is_at_maximum(self, stage: Stage) -> bool:
        """Whether it is let in, and the maximum of its queue or of one above is what keeps it back."""
        return self.is_let_in(stage) and not self.queues.is_below_maximum(self.world, stage)

    def _reserve(self, stage: Stage, node: Node) -> bool:
        """Whether the node is reserved now for a request that does not fit it."""
        if self.queues.reserve == "none" or not self._could_fit(stage, node):
            return False
        if self.queues.reserve == "capacity":
            reserved = sum(other.reserved_for is stage for other in self.world.nodes)
            may = reserved < len(stage.waiting())
        else:
            may = self.queues.reserve == "always" or (
                self.queues.may_reserve(self.world, stage) and self._has_reservations_left(stage, node)
            )
        if may:
            node.reserved_for = stage
        return may

    def _has_reservations_left(self, stage: Stage, node: Node) -> bool:
        """The third condition of the Fair scheduler."""
        preferred = {task.prefers for task in stage.eligible() if task.prefers is not None}
        if node in preferred:
            return True
        among = [other for other in self.world.nodes if other.alive]
        held = [other for other in self.world.nodes if other.reserved_for and other.reserved_for.job is stage.job]
        if any(other.spec.rack == node.spec.rack for other in preferred):
            among, held = ([n for n in some if n.spec.rack == node.spec.rack] for some in (among, held))
        return len(held) < -(-self.queues.nodes_permille * len(among) // 1000)

    # The ideal pass

    def ideal_pass(self) -> None:
        self.served.clear()
        if self.ordering.packs:
            for node in self.world.nodes:
                while (stage := self._packed(node, may_reserve=False)) is not None:
                    self._allocate(stage, node)
            return
        while (found := self._best()) is not None:
            self._allocate(*found)

    def _best(self) -> tuple[Stage, Node] | None:
        stopped: set[Job] = set()
        for leaf in self.leaves():
            for stage in leaf:
                if stage.job in stopped or not self._may_have_one(stage):
                    continue
                nodes = [node for node in self.world.nodes if self._suits(stage, node)]
                if nodes:
                    scores = [self.placement.score(self.world, self.sizing, stage, node) for node in nodes]
                    return stage, nodes[scores.index(max(scores))]  # the first of equals: the smaller number
                if self._ends_the_leaf(stage, stopped):
                    break
        return None

    # Orderings that pack

    def _packed(self, node: Node, *, may_reserve: bool) -> Stage | None:
        """The request that gets a container of this node; None ends the offer, perhaps with the node reserved."""
        for leaf in self.leaves(node):
            allowed = [stage for stage in leaf if self._may_have_one(stage)]
            found = [stage for stage in allowed if self._suits(stage, node)]
            if found:
                return self._winner(node, found)
            big = [stage for stage in allowed if self.world.may_go_to(stage, node) and not self._fits(stage, node)]
            if may_reserve and any(self._reserve(stage, node) for stage in big):  # the first that can
                return None
        return None

    def _winner(self, node: Node, found: list[Stage]) -> Stage:
        free = self.sizing.free(self.world, node)
        self.ordering.before_comparing(self.world, node, free)
        keys = [self.ordering.key(self.world, stage) for stage in found]
        fits = [self.ordering.fit(self.world, node, free, stage) for stage in found]
        scores = self.ordering.combine(self.world, found, keys, fits)
        ranked = sorted(zip(scores, keys, found, strict=True), key=lambda one: (-one[0], one[1], one[2].turn))
        return ranked[0][2]
