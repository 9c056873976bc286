"""A table in the bridge, and the order in which a leaf of stock YARN serves requests while one is there."""

from __future__ import annotations

from dataclasses import dataclass, field

from heddle.model.workload import AM

from .haste import PLANNED, position
from .orderings import Key, LeafOrder, Ordering
from .state import Node, Run, Stage, Vector, World

FAR = 3 * 2**61  # beyond all keys


@dataclass
class Table:
    form: str  # key, fit, scaled, aligned
    fitness: bool
    ahead_below: Key | None
    named: dict[Stage, tuple[Key, int]]  # key and term
    plans: dict[Node, dict[Vector, int]] = field(default_factory=dict)
    alignment_milli: int = 0

    def is_ahead(self, key: Key) -> bool:
        return self.ahead_below is not None and key < self.ahead_below


class Tabled(Ordering):
    """`by_keys_alone`: all nodes are offered at once, and the form is `key`."""

    def __init__(self, stock: LeafOrder, hold_ms: int, *, by_keys_alone: bool) -> None:
        self.stock, self.hold_ms, self.packs = stock, hold_ms, not by_keys_alone
        self.table: Table | None = None
        self.least = 0
        self.node: Node | None = None

    def key(self, world: World, stage: Stage) -> Key:
        stock = self.stock.key(world, stage)
        if self.table is None:
            return stock
        if stage in self.table.named:
            return self.table.named[stage][0]
        return stock - FAR if stage.kind == AM else stock + FAR

    def is_unnamed(self, stage: Stage) -> bool:
        return self.table is not None and stage not in self.table.named

    def holds(self, world: World, stage: Stage) -> bool:
        young = world.now - stage.waits_since < self.hold_ms
        return young and stage.kind != AM and self.is_unnamed(stage)

    def fit(self, world: World, node: Node, free: Vector, stage: Stage) -> int:
        return super().fit(world, node, free, stage) if self.table and self.table.fitness else 0

    def before_comparing(self, world: World, node: Node, free: Vector) -> None:
        self.node = node
        named = self.table.named.items() if self.table else ()
        terms = [
            term
            for stage, (key, term) in named
            if self.table and not self.table.is_ahead(key) and all(stage.shape[r] <= free[r] for r in world.counting)
        ]
        self.least = min(terms, default=0)

    def combine(self, world: World, stages: list[Stage], keys: list[Key], fits: list[int]) -> list[int]:
        table = self.table
        if table is None:
            return [-key for key in keys]
        terms = [table.named.get(stage, (0, 0))[1] for stage in stages]
        scores = []
        for stage, key, fit, term in zip(stages, keys, fits, terms, strict=True):
            assert self.node is not None
            if stage not in table.named or table.is_ahead(key):
                scores.append(-key)
            elif table.plans.get(self.node, {}).get(stage.shape, 0) > 0:
                scores.append(PLANNED)
            elif table.form == "key":
                scores.append(0)
            elif table.form == "fit":
                scores.append(fit)
            else:
                aligned = [self._alignment(other) for other in stages]
                part = table.alignment_milli * position(self._alignment(stage), aligned) // 1000
                scores.append(position(fit, fits) + position(term, [self.least, max(terms)]) + part)
        return scores

    def _alignment(self, stage: Stage) -> int:
        """It stands first in the key; what is not named has none."""
        assert self.table is not None
        key = self.table.named.get(stage, (0, 0))[0]
        return -key // 2**40 if self.table.form == "aligned" else 0

    def on_allocation(self, world: World, run: Run) -> None:
        plan = self.table.plans.get(run.node, {}) if self.table else {}
        if plan.get(run.task.stage.shape, 0) > 0:
            plan[run.task.stage.shape] -= 1
