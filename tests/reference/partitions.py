"""Partition: which pool a job draws on, and how much a pool may hold."""

from __future__ import annotations

from typing import Any

from heddle.model.workload import EXECUTORS, TASKS

from .state import Job, Vector, World


class Partition:
    """`shared`: one pool without limit."""

    def pool_of(self, world: World, job: Job) -> int:
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

    def pool_of(self, world: World, job: Job) -> int:
        stages = [stage for stage in job.stages if stage.kind in (TASKS, EXECUTORS)]
        if not stages:
            return 1
        # max() keeps the first of equals: the smaller stage number
        largest = max(stages, key=lambda stage: world.share(stage.shape)).shape
        wanted = [r for r in world.counting if largest[r] > 0]
        if not wanted:
            return 1
        room = sum(min(node.spec.allowance[r] // largest[r] for r in wanted) for node in world.nodes)
        return 1 if sum(len(stage.tasks) for stage in stages) <= self.theta * room else 0

    def limit(self, world: World, pool: int) -> Vector | None:
        small = tuple(x * self.permille // 1000 for x in world.capacity_sum)
        return small if pool == 1 else tuple(x - y for x, y in zip(world.capacity_sum, small, strict=True))


PARTITIONS: dict[str, type[Partition]] = {"shared": Partition, "small-pool": SmallPool}


def make_partition(name: str, parameters: dict[str, Any]) -> Partition:
    return PARTITIONS[name](**parameters)
