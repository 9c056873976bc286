"""Preemption between queues: who has more than is due to them, and which of their containers are called for."""

from __future__ import annotations

from heddle.model.resources import MEMORY, ONE
from heddle.model.workload import AM, INNER

from .offers import Offers
from .queues import Queues, min_share
from .state import Job, QueueState, Run, Stage, World, add

IGNORED_OVER_PERMILLE = 100  # a queue that is above its due by no more than this gives nothing back
NATURAL_TERMINATION_PERMILLE = 200  # the part of what is to be given back that one round calls for

Amounts = dict[QueueState, int]  # of one resource


class Preemption:
    def __init__(self, world: World, offers: Offers) -> None:
        self.world, self.offers = world, offers
        self.settings = world.cluster.preemption
        self.claims: list[Stage] = []
        self.marks: dict[Run, int] = {}  # when the rounds began that have called for it without a break

    @property
    def every_ms(self) -> int:
        return self.settings.every_ms if self.queues.walks else 0

    @property
    def queues(self) -> Queues:
        return self.offers.queues

    def round(self) -> list[Run]:
        """The containers that must go now."""
        now = self.world.now
        called = self._called_for()
        self.marks = {run: self.marks.get(run, now) for run in called}
        return [run for run in called if now - self.marks[run] >= self.settings.starved_ms]

    # Who gives back how much

    def _resources(self) -> list[int]:
        counting = [r for r in self.world.counting if self.world.total_sum[r] > 0]
        return [r for r in counting if r == MEMORY or not self.queues.fair_by_memory]

    def _leaves(self) -> list[QueueState]:
        return [queue for queue in self.world.queues if not queue.children]

    def _find_claims(self) -> list[Stage]:
        """The requests that would be served if there were room."""
        asked = [stage for stage in self.world.stages if stage.kind != INNER and stage.waiting()]
        return [s for s in asked if self.offers.is_let_in(s) and self.queues.user_has_room(self.world, s)]

    def _pending(self, r: int) -> Amounts:
        pending = dict.fromkeys(self._leaves(), 0)
        for stage in self.claims:
            pending[stage.leaf] += stage.shape[r] * len(stage.waiting())
        return pending

    def _is_active(self, queue: QueueState) -> bool:
        stages = [run.task.stage for run in self.world.containers()] + self.claims
        return any(queue in stage.leaf.upwards() for stage in stages)

    def theirs(self, r: int) -> Amounts:
        """g of the page: what nobody may take from a queue."""
        if not self.queues.fair_share:
            return {queue: queue.guarantee[r] for queue in self.world.queues}
        shares = {root: root.maximum[r] for root in self.world.roots()}
        for parent in self.world.queues:
            active = [child for child in parent.children if self._is_active(child)]
            weights = sum(child.spec.weight_milli for child in active)
            for child in parent.children:
                shares[child] = 0
                if child in active:
                    by_weight = shares[parent] * child.spec.weight_milli // weights
                    shares[child] = min(child.maximum[r], max(min_share(self.world, child)[r], by_weight))
        return shares

    def _wanted(self, r: int, theirs: Amounts) -> Amounts:
        pending, wanted = self._pending(r), dict.fromkeys(self.world.queues, 0)
        for leaf in self._leaves():
            used, due = self.world.allocated_queue(leaf)[r], theirs[leaf]
            if self.queues.fair_share:
                due = min(due, max(min_share(self.world, leaf)[r], due // 2))
            wanted[leaf] = max(used, min(used + pending[leaf], due, leaf.maximum[r]))
        for parent in reversed(self.world.queues):  # children come before their parents
            if parent.children:
                most = max(self.world.allocated_queue(parent)[r], parent.maximum[r])
                wanted[parent] = min(most, sum(wanted[child] for child in parent.children))
        return wanted

    def _ideal(self, r: int, theirs: Amounts) -> Amounts:
        wanted = self._wanted(r, theirs)
        roots = self.world.roots()
        ideal = {root: max(root.maximum[r], self.world.allocated_queue(root)[r]) for root in roots}
        for parent in self.world.queues:  # parents come before their children
            caps = {child: min(wanted[child], theirs[child]) for child in parent.children}
            base = _fill(ideal[parent], caps, theirs)
            more = {child: wanted[child] - base[child] for child in parent.children}
            extra = _fill(ideal[parent] - sum(base.values()), more, theirs)
            ideal.update({child: base[child] + extra[child] for child in parent.children})
        return ideal

    def _to_obtain(self, r: int, theirs: Amounts) -> Amounts:
        ideal, takes = self._ideal(r, theirs), {}
        for leaf in self._leaves():
            used = self.world.allocated_queue(leaf)[r]
            above = used * 1000 > (1000 + IGNORED_OVER_PERMILLE) * theirs[leaf]
            takes[leaf] = max(0, used - ideal[leaf]) if above else 0
        total, most = sum(takes.values()), self.world.total_sum[r] * self.settings.round_permille // 1000
        if total > most:
            takes = {leaf: take * most // total for leaf, take in takes.items()}
        return {leaf: -(-take * NATURAL_TERMINATION_PERMILLE // 1000) for leaf, take in takes.items()}

    # Which containers

    def _called_for(self) -> list[Run]:
        self.claims = self._find_claims()
        if not self.claims:
            return []  # nobody wants more than they have: all would keep it
        resources = self._resources()
        theirs = {r: self.theirs(r) for r in resources}
        obtain = {r: self._to_obtain(r, theirs[r]) for r in resources}
        found: list[Run] = []
        for leaf in self._leaves():
            rest = {r: obtain[r][leaf] for r in resources}
            keep = {r: theirs[r][leaf] for r in resources}
            found += self._called_for_in(leaf, rest, keep)
        return found

    def _called_for_in(self, leaf: QueueState, rest: dict[int, int], keep: dict[int, int]) -> list[Run]:
        used, gone, found = self.world.allocated_queue(leaf), self.world.zero, []
        for run in self._newest_first(leaf):
            shape = run.task.stage.shape
            helps = [r for r in rest if rest[r] > 0 and shape[r] > 0]
            if helps and all(used[r] - gone[r] - shape[r] >= keep[r] for r in helps):
                gone = add(gone, shape)
                rest = {r: rest[r] - shape[r] for r in rest}
                found.append(run)
        return found

    def _newest_first(self, leaf: QueueState) -> list[Run]:
        jobs = sorted(self.world.jobs, key=self._job_order, reverse=True)
        runs = [run for job in jobs for run in self._of_job(job) if run.task.stage.leaf is leaf]
        return [run for run in runs if run.kind != AM] + [run for run in runs if run.kind == AM]

    def _job_order(self, job: Job) -> tuple[int, int]:
        return self.offers.ordering.key(self.world, job.stages[0]), job.number

    def _of_job(self, job: Job) -> list[Run]:
        runs = [run for run in self.world.containers() if run.task.job is job]
        return sorted(runs, key=lambda run: (run.record.allocated_at_ms, run.task.number), reverse=True)


def _fill(amount: int, caps: Amounts, weights: Amounts) -> Amounts:
    """Everybody up to their cap or, where that is too much, to the same part of their weight."""
    if sum(caps.values()) <= amount:
        return caps
    filled: Amounts = {}
    weight = {queue: max(1, weights[queue]) for queue in caps}
    unserved = sorted(caps, key=lambda queue: (caps[queue] * ONE // weight[queue], queue.number))
    while unserved:
        queue = unserved[0]
        filled[queue] = min(caps[queue], amount * weight[queue] // sum(weight[other] for other in unserved))
        amount -= filled[queue]
        unserved = unserved[1:]
    return filled
