"""Ordering: which request of a leaf goes first."""

from __future__ import annotations

from heddle.model.draw import STREAM_POLICY, draw
from heddle.model.resources import MEMORY, ONE
from heddle.model.workload import EXECUTORS, INNER, TASKS

from .state import Job, Node, Run, Stage, Vector, World, add

Key = int


class Ordering:
    """Base of all: not blocking, no fit."""

    blocking = False
    in_jobs = False  # what does not fit blocks the later requests of its own job only
    by_memory = False  # memory alone counts, and exclusive resources, whatever the calculator
    packs = False  # depends on the node: `combine` chooses among all that fit

    def key(self, world: World, stage: Stage) -> Key:
        raise NotImplementedError

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

    def holds(self, world: World, stage: Stage) -> bool:
        """Whether the request may not be served yet, whatever else says."""
        return False

    def on_allocation(self, world: World, run: Run) -> None:
        """Few orderings listen."""

    def on_end(self, world: World, run: Run) -> None:
        """Likewise."""


def fifo_key(job: Job) -> Key:
    return job.number - job.priority * 2**32


class Fifo(Ordering):
    def __init__(self, blocking: int = 1, yarn: int = 0) -> None:
        self.blocking = bool(blocking)
        self.in_jobs = self.by_memory = bool(yarn)

    def key(self, world: World, stage: Stage) -> Key:
        return stage.job.number if self.in_jobs else fifo_key(stage.job)


class RandomOrder(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        return int(draw(world.seed, STREAM_POLICY, stage.number))


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
        return whole_work(world, stage.job)


class Srpt(Ordering):
    def key(self, world: World, stage: Stage) -> Key:
        return remaining_work(world, stage.job)


class SmallestFirst(Ordering):
    def __init__(self, demand: str = "asked") -> None:
        self.whole = demand == "whole"

    def key(self, world: World, stage: Stage) -> Key:
        total = world.allocated_job(stage.job)
        for other in stage.job.stages:
            if other.kind != INNER:
                to_come = [task for task in other.tasks if task.run is None and not task.finished]
                for _ in to_come if self.whole else other.waiting():
                    total = add(total, other.shape)
        return world.share(total)


def leaf_key(world: World, stage: Stage, order: str) -> Key:
    """The key of a job in a leaf that is ordered by `fifo`, `fair` or `drf`."""
    if order == "fifo":
        return fifo_key(stage.job)
    allocated = world.allocated_job(stage.job)
    return allocated[MEMORY] if order == "fair" else world.share(allocated)


class LeafOrder(Ordering):
    def __init__(self, default: str = "fifo") -> None:
        self.default = default

    def key(self, world: World, stage: Stage) -> Key:
        return leaf_key(world, stage, stage.job.queue.spec.order or self.default)


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
        return remaining_work(world, stage.job)

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        n, fit_sum, key_sum = len(fits), sum(fits), sum(keys)
        return [
            fit * n * ONE // max(1, fit_sum) - (self.weight_milli * (key * n * ONE // max(1, key_sum)) // 1000)
            for key, fit in zip(keys, fits, strict=True)
        ]
