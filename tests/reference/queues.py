"""Queues: how the tree is walked, and what a queue or user may not exceed."""

from __future__ import annotations

from typing import Any

from heddle.model.resources import MEMORY, ONE
from heddle.model.workload import INNER

from .fair_shares import fair_share_of_job
from .state import QueueState, Stage, Vector, World

WELL_SUPPLIED = 2**60  # queues above their minimum share come after all that are below


class Queues:
    """`one-leaf`: all requests wait in one place, and nothing is limited."""

    walks = False  # the tree is walked: requests of different leaves are kept apart
    users = False  # and those of different users
    counts_partitions = False  # the nodes of each label have a tree of their own
    reserve = "none"  # in which form nodes are reserved
    nodes_permille = 0  # of the nodes, on which a job may have reservations
    counts_all = False  # every resource counts, whatever the calculator
    fair_share = False  # preemption goes by fair shares, not guarantees
    fair_by_memory = False  # and looks at memory only

    def queue_key(self, world: World, queue: QueueState) -> int:
        raise NotImplementedError

    def within_limits(self, world: World, stage: Stage) -> bool:
        return True

    def user_has_room(self, world: World, stage: Stage) -> bool:
        return True

    def may_reserve(self, world: World, stage: Stage) -> bool:
        """Fair's form: whether the job is starved and the request large."""
        raise NotImplementedError

    def is_below_maximum(self, world: World, stage: Stage) -> bool:
        """The queue and all above it have room for one more below their maximum."""
        for queue in stage.leaf.upwards():
            allocated = world.allocated_queue(queue)
            if any(allocated[r] + stage.shape[r] > queue.maximum[r] for r in self.limited(world, queue)):
                return False
        return True

    def limited(self, world: World, queue: QueueState) -> list[int]:
        """The resources of which the queue has a maximum."""
        return world.counting


def min_share(world: World, queue: QueueState) -> Vector:
    return queue.spec.min_share or world.zero


class Fair(Queues):
    walks = True
    fair_share = True
    fair_by_memory = True
    counts_all = True

    def __init__(self, reserve: str = "starved", threshold_mb: int = 2048, nodes: float = 0.05) -> None:
        self.reserve, self.threshold_mb, self.nodes_permille = reserve, threshold_mb, round(1000 * nodes)

    def may_reserve(self, world: World, stage: Stage) -> bool:
        has, due = world.allocated_job(stage.job)[MEMORY], fair_share_of_job(world, stage.job)[MEMORY]
        return has < due and stage.shape[MEMORY] >= self.threshold_mb

    def queue_key(self, world: World, queue: QueueState) -> int:
        used, due = world.allocated_queue(queue)[MEMORY], min_share(world, queue)[MEMORY]
        return used * ONE // due if used < due else WELL_SUPPLIED + used * 1000 // queue.spec.weight_milli

    def within_limits(self, world: World, stage: Stage) -> bool:
        return self.is_below_maximum(world, stage)

    def limited(self, world: World, queue: QueueState) -> list[int]:
        return [r for r in world.counting if queue.maximum[r] < world.total_sum[r]]


class Drf(Fair):
    fair_by_memory = False

    def __init__(
        self, reserve: str = "starved", threshold_mb: int = 2048, threshold_vcores: int = 2, nodes: float = 0.05
    ) -> None:
        super().__init__(reserve, threshold_mb, nodes)
        self.threshold_vcores = threshold_vcores

    def may_reserve(self, world: World, stage: Stage) -> bool:
        def shares(amount: Vector) -> tuple[int, int]:
            """The largest and the smallest."""
            found = [amount[r] * ONE // world.total_sum[r] for r in world.counting if world.total_sum[r]]
            return max(found, default=0), min(found, default=0)

        threshold = (self.threshold_mb, 1000 * self.threshold_vcores, *world.zero[2:])
        is_starved = shares(world.allocated_job(stage.job))[0] < shares(fair_share_of_job(world, stage.job))[0]
        return is_starved and shares(stage.shape) >= shares(threshold)

    def queue_key(self, world: World, queue: QueueState) -> int:
        allocated = world.allocated_queue(queue)
        shares = {r: allocated[r] * ONE // world.total_sum[r] for r in world.counting if world.total_sum[r]}
        if shares:
            # max() keeps the first of equals: the smaller resource number
            dominant = max(shares, key=lambda r: shares[r])
            used, due = allocated[dominant], min_share(world, queue)[dominant]
            if used < due:
                return used * ONE // due
        return WELL_SUPPLIED + max(shares.values(), default=0) * 1000 // queue.spec.weight_milli


class Capacity(Queues):
    walks = True
    users = True
    counts_partitions = True

    def __init__(self, reserve: int = 1) -> None:
        self.reserve = "capacity" if reserve else "none"

    def queue_key(self, world: World, queue: QueueState) -> int:
        allocated = world.allocated_queue(queue)
        return max(allocated[r] * ONE // max(1, queue.guarantee[r]) for r in world.counting)

    def within_limits(self, world: World, stage: Stage) -> bool:
        return self.is_below_maximum(world, stage) and self.user_has_room(world, stage)

    def user_has_room(self, world: World, stage: Stage) -> bool:
        of_user = world.allocated_queue(stage.leaf, user=stage.job.user)
        return all(of_user[r] <= user_limit(world, stage, r) for r in world.counting)


def user_limit(world: World, stage: Stage, r: int) -> int:
    """What the user may have before this request is refused one more."""
    leaf = stage.leaf
    asking = {
        other.job.user for other in world.stages if other.leaf is leaf and other.kind != INNER and other.waiting()
    }
    allocated, guarantee = world.allocated_queue(leaf)[r], leaf.guarantee[r]
    current = guarantee if allocated < guarantee else allocated + stage.shape[r]
    limit = max(current // max(1, len(asking)), current * leaf.spec.user_limit_percent // 100)
    return min(limit, user_cap(world, leaf)[r])


def user_cap(world: World, leaf: QueueState) -> Vector:
    """What one user may have at most; a leaf that is guaranteed nothing lends all that it may borrow."""
    if not any(leaf.guarantee[r] for r in world.counting):
        return leaf.maximum
    return tuple(x * leaf.spec.user_limit_factor_milli // 1000 for x in leaf.guarantee)


QUEUES: dict[str, type[Queues]] = {"one-leaf": Queues, "fair": Fair, "drf": Drf, "capacity": Capacity}


def make_queues(name: str, parameters: dict[str, Any]) -> Queues:
    return QUEUES[name](**parameters)
