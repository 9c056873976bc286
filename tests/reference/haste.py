"""HaSTE and HaSTE-A, written from the page."""

from __future__ import annotations

import math
from functools import cache

from heddle.model.resources import MEMORY, ONE, VCORES
from heddle.model.workload import AM, EXECUTORS, TASKS

from .orderings import Key, Ordering, fifo_key
from .state import Job, Node, Run, Stage, Vector, World

AM_RANK = -(2**61)
PLANNED = 2**40


def held(stage: Stage) -> int:
    return sum(task.run is not None for task in stage.tasks)


def finished(stage: Stage) -> int:
    return sum(task.finished for task in stage.tasks)


def assigned(stage: Stage) -> int:
    return held(stage) + finished(stage)


class Haste(Ordering):
    packs = True

    def __init__(
        self,
        urgency: str = "running",
        fitness: int = 1,
        initial: int = 1,
        progress: str = "assigned",
        hold_reduces: int = 0,
    ) -> None:
        self.form, self.fitness, self.initial, self.progress = urgency, bool(fitness), bool(initial), progress
        self.holds_reduces = bool(hold_reduces)
        self.least = 0  # urgency of all requests that fit the node
        self.round = 1
        self.had_plan: dict[Node, int] = {}  # the round of its plan
        self.plan_of: Node | None = None
        self.plan: dict[Vector, int] = {}

    # Urgency

    def _part(self, world: World, shape: Vector) -> int:
        return sum(shape[r] * ONE // world.capacity_sum[r] for r in world.counting if world.capacity_sum[r])

    def urgency(self, world: World, stage: Stage) -> int:
        if stage.kind == AM or self.form == "none":
            return 0
        those = [s for s in stage.job.stages if s.kind in (TASKS, EXECUTORS) and s.iteration == stage.iteration]
        maps, reduces = [s for s in those if not s.is_early], [s for s in those if s.is_early]
        counted = finished if self.progress == "finished" else assigned
        p = sum(counted(s) for s in maps) * ONE // max(1, sum(len(s.tasks) for s in maps))
        of_reduces = sum(held(s) * self._part(world, s.shape) for s in reduces)
        holds = of_reduces + sum(held(s) * self._part(world, s.shape) for s in maps)
        ever = sum(assigned(s) * self._part(world, s.shape) for s in those)
        of_map = p * (ever if self.form == "assigned" else holds) // ONE
        if not stage.is_early:
            return min(of_map, 2**40 - 1)
        if self.holds_reduces and any(s.waiting() for s in maps):
            return 0
        of_reduce = of_map * (p * holds // ONE) // max(1, of_reduces, self._part(world, stage.shape))
        return min(of_reduce, 2**40 - 1)

    def alignment(self, world: World, stage: Stage) -> int:
        return 0

    def weight(self, world: World) -> int:
        return 0

    def key(self, world: World, stage: Stage) -> Key:
        if stage.kind == AM:
            return AM_RANK + fifo_key(stage.job)
        return -(self.alignment(world, stage) * 2**40) - self.urgency(world, stage)

    # Comparing

    def fit(self, world: World, node: Node, free: Vector, stage: Stage) -> int:
        return super().fit(world, node, free, stage) if self.fitness else 0

    def _is_planned(self, node: Node | None, stage: Stage) -> bool:
        return node is not None and node is self.plan_of and stage.kind != AM and self.plan.get(stage.shape, 0) > 0

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        urgencies = [self.urgency(world, stage) for stage in stages]
        # Planned requests win, so that what their fit does to the others is of no account.
        scores = []
        for stage, key, fit, urgency in zip(stages, keys, fits, urgencies, strict=True):
            if stage.kind == AM:
                scores.append(-key)
            elif self._is_planned(self.plan_of, stage):
                scores.append(PLANNED)
            else:
                alignments = [self.alignment(world, other) for other in stages]
                aligned = self.weight(world) * position(self.alignment(world, stage), alignments) // 1000
                scores.append(position(fit, fits) + position(urgency, [self.least, max(urgencies)]) + aligned)
        return scores

    # The initial assignment

    def before_comparing(self, world: World, node: Node, free: Vector) -> None:
        those = [s for s in world.stages if s.kind in (TASKS, EXECUTORS) and s.waiting()]
        those = [s for s in those if world.may_go_to(s, node)]
        those = [s for s in those if all(s.shape[r] <= free[r] for r in world.counting)]
        self.least = min((self.urgency(world, stage) for stage in those), default=0)
        if not self.initial:
            return
        if self.plan_of is not node:
            self.plan_of = None
        if self.had_plan.get(node) != self.round:
            self.had_plan[node] = self.round
            here = [stage for stage in world.stages if world.may_go_to(stage, node)]
            self.plan_of, self.plan = node, self.knapsack(world, node, free, here, world.shapes)

    def _units(self, world: World, shapes: list[Vector]) -> list[int]:
        units = []
        most = []
        for r in (MEMORY, VCORES):
            units.append(max(1, math.gcd(*(shape[r] for shape in shapes))))
            most.append(max(node.spec.allowance[r] for node in world.nodes) if r in world.counting else 0)
        while (most[0] // units[0] + 1) * (most[1] // units[1] + 1) > 4096:
            units[0 if most[0] // units[0] >= most[1] // units[1] else 1] *= 2
        return units

    def knapsack(
        self, world: World, node: Node, free: Vector, stages: list[Stage], shapes: list[Vector]
    ) -> dict[Vector, int]:
        """How many of which shape go to the node. `shapes`: all that are known, in their order."""
        resources = [r for r in (MEMORY, VCORES) if r in world.counting]
        others = [r for r in world.counting if r > VCORES]
        waiting: dict[Vector, int] = {}
        for stage in stages:
            n = len(stage.waiting())
            if n and stage.kind in (TASKS, EXECUTORS):
                wants = any(stage.shape[r] for r in resources)
                if wants and not any(stage.shape[r] for r in others):
                    waiting[stage.shape] = waiting.get(stage.shape, 0) + n
        classes = [shape for shape in shapes if shape in waiting][:32]
        units, allowance = self._units(world, shapes), node.spec.allowance
        takes = [[-(-shape[r] // units[r]) if r in resources else 0 for r in (0, 1)] for shape in classes]
        room = [min(free[r], allowance[r]) // units[r] if r in resources else 0 for r in (0, 1)]
        values = [sum(shape[r] * ONE // allowance[r] for r in resources if allowance[r]) for shape in classes]

        def counts(i: int, m: int, v: int) -> range:
            most = waiting[classes[i]]
            for left, take in ((m, takes[i][0]), (v, takes[i][1])):
                most = min(most, left // take) if take else most
            return range(most + 1)

        @cache
        def best(i: int, m: int, v: int) -> tuple[int, int]:
            """The value, and minus the count of class i."""
            if i == len(classes):
                return 0, 0
            return max(
                (k * values[i] + best(i + 1, m - k * takes[i][0], v - k * takes[i][1])[0], -k) for k in counts(i, m, v)
            )

        plan, (m, v) = {}, room
        for i, shape in enumerate(classes):
            plan[shape] = k = -best(i, m, v)[1]
            m, v = m - k * takes[i][0], v - k * takes[i][1]
        return plan

    def on_allocation(self, world: World, run: Run) -> None:
        if self._is_planned(run.node, run.task.stage):
            self.plan[run.task.stage.shape] -= 1

    def on_end(self, world: World, run: Run) -> None:
        if run.kind != AM and all(other.kind == AM for other in world.containers()):
            self.round += 1


def position(value: int, values: list[int]) -> int:
    least, most = min(values), max(values)
    return (value - least) * ONE // (most - least) if most > least else 0


class HasteA(Haste):
    def __init__(
        self,
        urgency: str = "running",
        fitness: int = 1,
        initial: int = 1,
        progress: str = "assigned",
        hold_reduces: int = 0,
        aggressiveness: str | float = "auto",
    ) -> None:
        super().__init__(urgency, fitness, initial, progress, hold_reduces)
        self.aggressiveness = aggressiveness

    @staticmethod
    def _arrived(world: World) -> list[Job]:
        return [job for job in world.jobs if job.arrived and not job.failed_at_arrival]

    def alignment(self, world: World, stage: Stage) -> int:
        arrived = self._arrived(world)
        iterative = sum(job.iterative for job in arrived)
        if not stage.job.iterative or self.aggressiveness == 0 or iterative * 1000 >= 900 * len(arrived):
            return 0
        return ONE - ONE // (stage.iteration + 2)

    def weight(self, world: World) -> int:
        if self.aggressiveness != "auto":
            return round(1000 * float(self.aggressiveness))
        arrived = self._arrived(world)
        return 1000 - 1000 * sum(job.iterative for job in arrived) // max(1, len(arrived))
