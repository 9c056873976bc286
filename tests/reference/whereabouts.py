"""Where tasks are, and what is on its way to them, as network-aware placement knows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from heddle.model.reasons import Outcome
from heddle.model.workload import TASKS

from .state import Job, Node, Run, Stage, World

Reads = Counter[Node]  # bytes from each node
ReadsOf = Callable[[Stage, Node], Reads]  # of a task of a stage on a node, as far as the writers are known now


def level(stage: Stage) -> int:
    return 1 + max((level(before) for before in stage.after), default=-1)


class Whereabouts:
    """Late: from containers alone."""

    def __init__(self) -> None:
        self.assigned: dict[Run, Reads] = {}

    def writers(self, stage: Stage) -> list[Node]:
        """A node for each task of the stage that has written what others read."""
        return [task.finished_on for task in stage.tasks if task.finished_on is not None]

    def transfers(self, reads_of: ReadsOf) -> list[tuple[Node, Reads]]:
        """What tasks read and have not fetched, and where to."""
        return [(run.node, reads) for run, reads in self.assigned.items() if run.live and not run.has_fetched]

    def last_of(self, stage: Stage) -> Node | None:
        return stage.last_node

    def entry_tasks(self, world: World, node: Node) -> int:
        """How many of level 0 are there."""
        return sum(run.kind == TASKS and level(run.task.stage) == 0 for run in world.containers(node))

    def on_allocation(self, run: Run, reads_of: ReadsOf) -> None:
        stage = run.task.stage
        if run.kind == TASKS and all(before.done for before in stage.after):
            self.assigned[run] = reads_of(stage, run.node)


@dataclass(eq=False)
class Bound:
    """A task of a stage, whose tasks are all alike, and the node to which it is bound."""

    stage: Stage
    node: Node | None  # None: there was no node that could take it
    run: Run | None = None
    finished: bool = False


class Bindings(Whereabouts):
    """Early: from what was bound when the job arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: list[Bound] = []  # in the order in which they were

    def of(self, stage: Stage) -> list[Bound]:
        return [one for one in self.bound if one.stage is stage]

    def waiting(self, stage: Stage) -> list[Bound]:
        return [one for one in self.of(stage) if one.run is None and not one.finished]

    def on(self, node: Node) -> list[Bound]:
        """Those bound to a node that have not finished, of jobs that have not ended."""
        return [one for one in self.bound if one.node is node and not one.finished and not one.stage.job.ended]

    def writers(self, stage: Stage) -> list[Node]:
        return [one.node for one in self.of(stage) if one.node]

    def transfers(self, reads_of: ReadsOf) -> list[tuple[Node, Reads]]:
        return [
            (one.node, reads_of(one.stage, one.node))
            for one in self.bound
            if one.node and not one.finished and not one.stage.job.ended and not (one.run and one.run.has_fetched)
        ]

    def last_of(self, stage: Stage) -> Node | None:
        return next((one.node for one in reversed(self.of(stage)) if one.node), None)

    def last_in(self, job: Job) -> Node | None:
        return next((one.node for one in reversed(self.bound) if one.node and one.stage.job is job), None)

    def entry_tasks(self, world: World, node: Node) -> int:
        return sum(level(one.stage) == 0 for one in self.on(node))

    def has_room(self, world: World, stage: Stage, node: Node) -> bool:
        """Beside those of its level that are bound to the node."""
        shapes = [one.stage.shape for one in self.on(node) if level(one.stage) == level(stage)]
        load = [sum(shape[r] for shape in [*shapes, stage.shape]) for r in range(world.n_resources)]
        return all(load[r] <= node.spec.allowance[r] for r in world.counting)

    def bind(self, stage: Stage, node: Node | None) -> None:
        self.bound.append(Bound(stage, node))

    def on_allocation(self, run: Run, reads_of: ReadsOf) -> None:
        if run.kind == TASKS:
            waiting = self.waiting(run.task.stage)
            here = [one for one in waiting if one.node is run.node]
            homeless = [one for one in waiting if one.node is None or not one.node.alive]
            homeless.sort(key=lambda one: one.node.number if one.node else -1)
            for one in (here or homeless)[:1]:
                if one.node is not run.node:  # it is bound anew, so it is the last one now
                    self.bound.remove(one)
                    self.bound.append(one)
                one.run, one.node = run, run.node

    def on_end(self, run: Run) -> None:
        for one in self.bound:
            if one.run is run:
                one.run, one.finished = None, run.record.outcome is Outcome.FINISHED
