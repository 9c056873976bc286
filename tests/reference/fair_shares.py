"""What queues, and jobs in them, are due under the Fair scheduler."""

from __future__ import annotations

from bisect import bisect_right

from heddle.model.workload import INNER

from .state import Job, QueueState, Vector, World


def fair_share(world: World, queue: QueueState, r: int) -> int:
    """S of the page: from root down, by the largest ratio at which all that are active fit."""
    if queue.parent is None:
        return queue.maximum[r]  # T
    total = fair_share(world, queue.parent, r)
    rivals = [other for other in queue.parent.children if other is queue or _is_active(world, other)]

    def has(one: QueueState, ratio: int) -> int:
        least = one.spec.min_share[r] if one.spec.min_share else 0
        return min(one.maximum[r], max(least, one.spec.weight_milli * ratio // 1000))

    ratios = range(1000 * (total + 1))
    fitting = bisect_right(ratios, total, key=lambda ratio: sum(has(rival, ratio) for rival in rivals))
    return has(queue, max(0, fitting - 1))


def _is_active(world: World, queue: QueueState) -> bool:
    asks = any(s.kind != INNER and s.waiting() and queue in s.leaf.upwards() for s in world.stages)
    return asks or any(world.allocated_queue(queue))


def fair_share_of_job(world: World, job: Job) -> Vector:
    """f of the page."""
    leaf = job.queue
    there = sum(other.arrived and not other.ended and other.queue is leaf for other in world.jobs)
    most = leaf.spec.max_running_jobs
    n = max(1, there if most < 0 else min(there, most))
    return tuple(fair_share(world, leaf, r) // n for r in range(world.n_resources))
