"""What the cluster may promise now: T of the page, and every queue's part of it."""

from __future__ import annotations

from .sizings import Sizing
from .state import Node, QueueState, Vector, World, add


class Promises:
    """Adds up what the nodes promise, when the page says so."""

    def __init__(self, world: World, sizing: Sizing) -> None:
        self.world, self.sizing = world, sizing
        self.last_at = -1  # when it was last done
        self.add_up()

    def renew(self) -> None:
        """Phase 6: once in an instant, as soon as requests wait."""
        if self.last_at < self.world.now and self.world.anything_waits():
            self.last_at = self.world.now
            self.add_up()

    def add_up(self) -> None:
        self.world.total_sum = self._promised_by(self.world.nodes)
        for label in self.world.partitions:
            nodes = [node for node in self.world.nodes if node.spec.label == label]
            self.world.total_of[label] = self._promised_by(nodes)
        share_out(self.world)

    def _promised_by(self, nodes: list[Node]) -> Vector:
        total = allowed = self.world.zero
        for node in nodes:
            allowed = add(allowed, node.spec.allowance)
            if node.alive:
                total = add(total, self.sizing.total(self.world, node))
            else:  # what it still holds
                total = add(total, self.world.allocated_node(node))
        return total if any(node.alive or self.world.containers(node) for node in nodes) else allowed


def share_out(world: World) -> None:
    """Every queue's guarantee and maximum, from the roots down."""
    for root in world.roots():
        root.guarantee = root.maximum = world.total_of.get(root.label, world.total_sum)
    for parent in world.queues:  # parents come before their children
        amounts = amounts_within(world, parent)
        for child in parent.children:
            child.guarantee = amounts.get(child) or part_of(parent.guarantee, child.spec.guarantee_permille)
            child.maximum = part_of(parent.maximum, child.spec.maximum_permille)
            if child.spec.maximum:
                pairs = zip(child.spec.maximum, parent.maximum, strict=True)
                child.maximum = tuple(min(amount, above) for amount, above in pairs)


def amounts_within(world: World, parent: QueueState) -> dict[QueueState, Vector]:
    """The guarantees of those children that have amounts: as they are, or so that they fill their parent."""
    amounts = {child: child.spec.guarantee for child in parent.children if child.spec.guarantee}
    together = world.zero
    for amount in amounts.values():
        together = add(together, amount)
    if all(together[r] <= parent.guarantee[r] for r in world.counting):
        return amounts
    return {
        child: tuple(
            x * there // wanted if wanted else x
            for x, there, wanted in zip(amount, parent.guarantee, together, strict=True)
        )
        for child, amount in amounts.items()
    }


def part_of(vector: Vector, permille: int) -> Vector:
    share = 1000 if permille < 0 else permille  # -1: not set
    return tuple(x * share // 1000 for x in vector)
