"""Partition: which pool a job draws on, and how much a pool may hold."""

from __future__ import annotations

from typing import Any

from heddle.model.workload import EXECUTORS, TASKS

from .state import Job, Vector, World

ASKED_FOR = (TASKS, EXECUTORS)


class Partition:
    """`shared`: one pool without limit."""

    def pool_of(self, world: World, job: Job) -> int:
        stages = [stage for stage in job.stages if stage.kind in ASKED_FOR]
        return self.pool_for(world, [(stage.shape, len(stage.tasks)) for stage in stages])

    def pool_for(self, world: World, wanted: list[tuple[Vector, int]]) -> int:
        """The pool of a job that wants so many containers of these shapes."""
        return 0

    def limit(self, world: World, pool: int) -> Vector | None:
        return None

    def allows(self, world: World, job: Job, shape: Vector) -> bool:
        limit = self.limit(world, job.pool)
        if limit is None:
            return True
        allocated = world.allocated_pool(job.pool)
        return all(allocated[r] + shape[r] <= limit[r] for r in world.counting)


class SmallPool(Partition):
    def __init__(self, share: float = 0.1, theta: float = 0.1) -> None:
        self.permille, self.theta = round(1000 * share), theta

    def pool_for(self, world: World, wanted: list[tuple[Vector, int]]) -> int:
        if not wanted:
            return 1
        # max() keeps the first of equals: the smaller stage number
        largest = max((shape for shape, _ in wanted), key=world.share)
        counting = [r for r in world.counting if largest[r] > 0]
        if not counting:
            return 1
        room = sum(min(node.spec.allowance[r] // largest[r] for r in counting) for node in world.nodes)
        return 1 if sum(count for _, count in wanted) <= self.theta * room else 0

    def limit(self, world: World, pool: int) -> Vector | None:
        small = tuple(x * self.permille // 1000 for x in world.capacity_sum)
        return small if pool == 1 else tuple(x - y for x, y in zip(world.capacity_sum, small, strict=True))


PARTITIONS: dict[str, type[Partition]] = {"shared": Partition, "small-pool": SmallPool}


def make_partition(name: str, parameters: dict[str, Any]) -> Partition:
    return PARTITIONS[name](**parameters)
