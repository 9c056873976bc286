"""Headroom: how much more a job may have, as the scheduler tells its AM."""

from __future__ import annotations

from heddle.model.resources import MEMORY

from .admissions import current_limit
from .fair_shares import fair_share
from .partitions import Partition
from .queues import Capacity, Fair, Queues, user_limit
from .state import Stage, World


def headroom(world: World, queues: Queues, partition: Partition, stage: Stage, r: int) -> int:
    """H_r of the page, before what the job's other early stages have asked for."""
    leaf = stage.leaf
    bounds = [world.total_sum[r] - world.sum_shapes(world.containers())[r]]
    if isinstance(queues, Capacity | Fair):
        root = leaf.upwards()[-1]
        bounds = [root.maximum[r] - world.allocated_queue(root)[r]]
    if isinstance(queues, Capacity):
        bounds.append(_of_capacity(world, stage, r))
    if isinstance(queues, Fair):
        held = world.allocated_queue(leaf)[r]
        bounds.append(leaf.maximum[r] - held)
        if r == MEMORY or not queues.fair_by_memory:
            bounds.append(fair_share(world, leaf, r) - held)
    limit = partition.limit(world, stage.job.pool)
    if limit is not None:
        bounds.append(limit[r] - world.allocated_pool(stage.job.pool)[r])
    return max(0, min(bounds))


def _of_capacity(world: World, stage: Stage, r: int) -> int:
    leaf, increment = stage.leaf, world.cluster.increment[r]
    of_user = world.allocated_queue(leaf, user=stage.job.user)[r]
    left = current_limit(world, leaf)[r] - world.allocated_queue(leaf)[r]
    least = max(0, min(user_limit(world, stage, r) - of_user, left))
    return least - least % increment
