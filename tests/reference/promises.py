"""What the cluster may promise now: T of the page, and every queue's part of it."""

from __future__ import annotations

from .sizings import Sizing
from .state import Vector, World, add


class Promises:
    """Adds up what the nodes promise, when the page says so."""

    def __init__(self, world: World, sizing: Sizing) -> None:
        self.world, self.sizing = world, sizing
        self.last_at = -1  # when it was last done
        self.add_up()

    def renew(self, *, again: bool = False) -> None:
        """Phase 6: once in an instant, as soon as requests wait; once more if something changed in that phase."""
        if (again or self.last_at < self.world.now) and self.world.anything_waits():
            self.last_at = self.world.now
            self.add_up()

    def add_up(self) -> None:
        alive = [node for node in self.world.nodes if node.alive]
        total = self.world.zero
        for node in alive:
            total = add(total, self.sizing.total(self.world, node))
        self.world.total_sum = total if alive else self.world.capacity_sum
        share_out(self.world)


def share_out(world: World) -> None:
    """Every queue's guarantee and maximum, from root down."""
    root, *others = world.queues
    root.guarantee = root.maximum = world.total_sum
    for queue in others:  # parents come before their children
        assert queue.parent is not None
        queue.guarantee = part_of(queue.parent.guarantee, queue.spec.guarantee_permille)
        queue.maximum = part_of(queue.parent.maximum, queue.spec.maximum_permille)


def part_of(vector: Vector, permille: int) -> Vector:
    share = 1000 if permille < 0 else permille  # -1: not set
    return tuple(x * share // 1000 for x in vector)
