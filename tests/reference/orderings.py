"""Ordering: which request goes first, and what a queue or user may not exceed."""

from __future__ import annotations

from heddle.model.draw import STREAM_POLICY, draw
from heddle.model.resources import MEMORY, ONE
from heddle.model.workload import EXECUTORS, INNER, TASKS

from .state import Job, Node, QueueState, Run, Stage, Vector, World, add

Key = tuple[int, ...]

WELL_SUPPLIED = 2**60  # queues above their minimum share come after all that are below


class Ordering:
    """Base of all: no queues, not blocking, no limits, no reservation of nodes, no fit."""

    queues = False
    users = False
    blocking = False
    reserves = False
    packs = False  # depends on the node: `combine` chooses among all that fit
    fair_share = False  # with queues: preemption goes by fair shares, not guarantees
    fair_by_memory = False  # and looks at memory only

    def key(self, world: World, stage: Stage) -> Key:
        raise NotImplementedError

    def queue_key(self, world: World, queue: QueueState) -> int:
        raise NotImplementedError

    def within_limits(self, world: World, stage: Stage) -> bool:
        return True

    def user_has_room(self, world: World, stage: Stage) -> bool:
        return True

    def fit(self, world: World, node: Node, free: Vector, stage: Stage) -> int:
        """For orderings that pack: how well a request suits the node."""
        allowance = node.spec.allowance
        return sum(
            (stage.shape[r] * ONE // allowance[r]) * (free[r] * ONE // allowance[r]) // ONE
            for r in world.counting
            if allowance[r]
        )

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        """For orderings that pack: what the highest of wins."""
        raise NotImplementedError

    def before_comparing(self, world: World, node: Node, free: Vector) -> None:
        """For orderings that pack: something can go to the node."""

    def on_allocation(self, world: World, run: Run) -> None:
        """Few orderings listen."""

    def on_end(self, world: World, run: Run) -> None:
        """Likewise."""


def fifo_key(job: Job) -> Key:
    return (-job.priority, job.number)


class Fifo(Ordering):
    def __init__(self, blocking: int = 1) -> None:
        self.blocking = bool(blocking)

    def key(self, world: World, stage: Stage) -> Key:
        return fifo_key(stage.job)


class RandomOrder(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        return (int(draw(world.seed, STREAM_POLICY, stage.number)),)


def task_share(world: World, stage: Stage) -> int:
    """The share that one working task takes."""
    if stage.kind == TASKS:
        return world.share(stage.shape)
    executors = next(other for other in stage.job.stages if other.kind == EXECUTORS)
    return world.share(tuple(x // executors.slots for x in executors.shape))


def whole_work(world: World, job: Job) -> int:
    working = [stage for stage in job.stages if stage.kind in (TASKS, INNER)]
    return sum(task_share(world, stage) * task.duration_ms for stage in working for task in stage.tasks)


def remaining_work(world: World, job: Job) -> int:
    working = [stage for stage in job.stages if stage.kind in (TASKS, INNER)]
    done = sum(task_share(world, stage) * task.ran_ms for stage in working for task in stage.tasks if task.finished)
    return max(0, whole_work(world, job) - done)


class Sjf(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        return (whole_work(world, stage.job),)


class Srpt(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        return (remaining_work(world, stage.job),)


class SmallestFirst(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        total = world.allocated_job(stage.job)
        for other in stage.job.stages:
            if other.kind != INNER:
                for _ in other.waiting():
                    total = add(total, other.shape)
        return (world.share(total),)


def leaf_key(world: World, stage: Stage, order: str) -> Key:
    """The key of a job in a leaf that is ordered by `fifo`, `fair` or `drf`."""
    if order == "fifo":
        return fifo_key(stage.job)
    allocated = world.allocated_job(stage.job)
    return (allocated[MEMORY],) if order == "fair" else (world.share(allocated),)


def below_maximum(world: World, queue: QueueState, shape: Vector) -> bool:
    """The queue and all above it have room for the shape below their maximum."""
    for level in queue.upwards():
        allocated = world.allocated_queue(level)
        if any(allocated[r] + shape[r] > level.maximum[r] for r in world.counting):
            return False
    return True


def min_share(world: World, queue: QueueState) -> Vector:
    return queue.spec.min_share or world.zero


class Fair(Ordering):
    queues = True
    fair_share = True
    fair_by_memory = True

    def key(self, world: World, stage: Stage) -> Key:
        return leaf_key(world, stage, stage.job.queue.spec.order or "fair")

    def queue_key(self, world: World, queue: QueueState) -> int:
        used, due = world.allocated_queue(queue)[MEMORY], min_share(world, queue)[MEMORY]
        return used * ONE // due if used < due else WELL_SUPPLIED + used * 1000 // queue.spec.weight_milli

    def within_limits(self, world: World, stage: Stage) -> bool:
        return below_maximum(world, stage.job.queue, stage.shape)


class Drf(Fair):
    fair_by_memory = False

    def key(self, world: World, stage: Stage) -> Key:
        return leaf_key(world, stage, stage.job.queue.spec.order or "drf")

    def queue_key(self, world: World, queue: QueueState) -> int:
        allocated = world.allocated_queue(queue)
        shared = [r for r in world.counting if world.capacity_sum[r]]
        if shared:
            # max() keeps the first of equals: the smaller resource number
            dominant = max(shared, key=lambda r: allocated[r] * ONE // world.capacity_sum[r])
            used, due = allocated[dominant], min_share(world, queue)[dominant]
            if used < due:
                return used * ONE // due
        return WELL_SUPPLIED + world.share(allocated) * 1000 // queue.spec.weight_milli


class Capacity(Ordering):
    queues = True
    users = True

    def __init__(self, reserve: int = 1) -> None:
        self.reserves = bool(reserve)

    def key(self, world: World, stage: Stage) -> Key:
        return leaf_key(world, stage, stage.job.queue.spec.order or "fifo")

    def queue_key(self, world: World, queue: QueueState) -> int:
        allocated = world.allocated_queue(queue)
        return max(allocated[r] * ONE // max(1, queue.guarantee[r]) for r in world.counting)

    def within_limits(self, world: World, stage: Stage) -> bool:
        return below_maximum(world, stage.job.queue, stage.shape) and self.user_has_room(world, stage)

    def user_has_room(self, world: World, stage: Stage) -> bool:
        leaf, user = stage.job.queue, stage.job.user
        allocated, of_user = world.allocated_queue(leaf), world.allocated_queue(leaf, user=user)
        asking = {
            other.job.user
            for other in world.stages
            if other.job.queue is leaf and other.kind != INNER and other.waiting()
        }
        for r in world.counting:
            guarantee = leaf.guarantee[r]
            current = guarantee if allocated[r] < guarantee else allocated[r] + stage.shape[r]
            limit = min(
                max(current // len(asking), current * leaf.spec.user_limit_percent // 100),
                guarantee * leaf.spec.user_limit_factor_milli // 1000,
            )
            if of_user[r] > limit:
                return False
        return True


class FfdDp(Ordering):
    packs = True

    def __init__(self, ties: str = "submission") -> None:
        self.ties = ties

    def key(self, world: World, stage: Stage) -> Key:
        return leaf_key(world, stage, "fifo" if self.ties == "submission" else "fair")

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        return fits


class Tetris(Ordering):
    packs = True

    def __init__(self, weight: float = 1) -> None:
        self.weight_milli = round(1000 * weight)

    def key(self, world: World, stage: Stage) -> Key:
        return (remaining_work(world, stage.job),)

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        n, fit_sum, key_sum = len(fits), sum(fits), sum(key[0] for key in keys)
        return [
            fit * n * ONE // max(1, fit_sum) - (self.weight_milli * (key[0] * n * ONE // max(1, key_sum)) // 1000)
            for key, fit in zip(keys, fits, strict=True)
        ]
