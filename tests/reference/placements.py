"""Placement: which node, which node not (yet), and which of a stage's waiting tasks."""

from __future__ import annotations

from heddle.model.draw import STREAM_POLICY, draw
from heddle.model.resources import ONE

from .sizings import Sizing
from .state import Job, Node, Run, Stage, Task, World


class Placement:
    """Base of all: no veto; of the waiting tasks one that prefers the node, else its rack, else the smallest."""

    wait_ms = 0  # how long it may veto far nodes
    alone = False  # every request is a bucket of its own

    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        raise NotImplementedError

    def vetoes(self, world: World, stage: Stage, node: Node) -> bool:
        return False

    def take(self, stage: Stage, node: Node) -> Task:
        waiting = stage.eligible()
        here = [task for task in waiting if task.prefers is node]
        in_rack = [task for task in waiting if task.prefers and task.prefers.spec.rack == node.spec.rack]
        return (here or in_rack or waiting)[0]

    def on_arrival(self, world: World, job: Job) -> None:
        pass

    def on_allocation(self, world: World, run: Run) -> None:
        pass

    def on_end(self, world: World, run: Run) -> None:
        pass


class FirstFit(Placement):
    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        return -node.number


class MostFree(Placement):
    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        free, allowance = sizing.free(world, node), node.spec.allowance
        return min((free[r] * ONE // allowance[r] for r in world.counting if allowance[r]), default=0)


class BestFit(Placement):
    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        free, allowance = sizing.free(world, node), node.spec.allowance
        return -sum((free[r] - stage.shape[r]) * ONE // allowance[r] for r in world.counting if allowance[r])


class RandomNode(Placement):
    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        return int(draw(world.seed, STREAM_POLICY, world.allocations * 65536 + node.number))


class DelayLocality(MostFree):
    def __init__(self, wait_s: float = 3) -> None:
        self.wait_ms = round(1000 * wait_s)

    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        near = self._near(world, stage)
        score = super().score(world, sizing, stage, node)
        if not near:
            return score
        return score + (2**40 if node in near else 2**39 * (node.spec.rack in _racks(near)))

    def vetoes(self, world: World, stage: Stage, node: Node) -> bool:
        near = self._near(world, stage)
        if not near or node in near:
            return False
        assert stage.asked_at is not None
        waited_ms = world.now - stage.asked_at
        return waited_ms < (self.wait_ms if node.spec.rack in _racks(near) else 2 * self.wait_ms)

    def _near(self, world: World, stage: Stage) -> list[Node]:
        """Nodes that some task of the stage prefers, as far as they could take it."""
        return [
            task.prefers
            for task in stage.tasks
            if task.prefers is not None
            and task.prefers.alive
            and all(stage.shape[r] <= task.prefers.spec.allowance[r] for r in world.counting)
        ]


class NearLast(MostFree):
    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        last = stage.job.last_node
        return super().score(world, sizing, stage, node) if last is None else nearness(node, [last])


def nearness(node: Node, to: list[Node]) -> int:
    """2 on one of them, 1 in the rack of one, else 0."""
    return 2 if node in to else int(node.spec.rack in _racks(to))


def _racks(nodes: list[Node]) -> set[str]:
    return {node.spec.rack for node in nodes}
