"""Placement near the data, where the network is not busy."""

from __future__ import annotations

from collections import Counter

from heddle.model.workload import TASKS

from .network import declared_mbps, links_between
from .placements import MostFree, NearLast, nearness
from .sizings import Sizing
from .state import Job, Node, Run, Stage, World
from .whereabouts import Bindings, Reads, Whereabouts, level

BYTES_PER_MS = 125  # of 1 Mbit/s


class NetworkAware(MostFree):
    def __init__(self, early: bool = False, by: str = "load", busy_s: float = 5, wait_s: float = 3) -> None:
        self.bindings = Bindings() if early else None
        self.places = self.bindings or Whereabouts()
        self.alone = self.bindings is not None
        self.by, self.busy_ms, self.wait_ms = by, round(1000 * busy_s), round(1000 * wait_s)

    # What is read

    def _holders(self, stage: Stage) -> list[Node]:
        """Nodes that hold some of what the stage reads, whether or not anybody has said how many bytes."""
        found = [task.prefers for task in stage.tasks if task.prefers is not None]
        return found + [node for before in stage.after for node in self.places.writers(before)]

    def _reads(self, stage: Stage, node: Node) -> Reads:
        """What a task of the stage would read on a node from others, by averages."""
        n, reads, inputs = len(stage.tasks), Reads(), Reads()
        for task in stage.tasks:
            if task.prefers is not None:
                inputs[task.prefers] += task.input_bytes
        if node not in inputs:
            for other, size in inputs.items():
                reads[other] += size // n
        for before, size in zip(stage.after, stage.after_bytes, strict=True):
            for writer in self.places.writers(before):
                reads[writer] += size // n // len(before.tasks)
        del reads[node]
        return reads

    def _on_their_way(self) -> Counter[tuple[Node, Node]]:
        """Trans: what is assigned to move from one node to another."""
        found: Counter[tuple[Node, Node]] = Counter()
        for node, reads in self.places.transfers(self._reads):
            for source, size in reads.items():
                found[source, node] += size
        return found

    # By load

    def _load_ms(self, world: World, node: Node) -> int:
        """Priority of a node."""
        loads = [
            size // min(_bytes_per_ms(world, link) for link in links_between(world, source, to))
            for (source, to), size in self._on_their_way().items()
            if to is node
        ]
        return max(loads, default=0)

    def _near(self, stage: Stage, node: Node) -> int:
        last = self.places.last_of(stage)
        return nearness(node, self._holders(stage) if level(stage) == 0 or last is None else [last])

    def _ranks_by_load(self, stage: Stage) -> bool:
        return self.by == "load" and level(stage) > 0

    def _has_spare(self, world: World, stage: Stage, node: Node) -> bool:
        return not self._ranks_by_load(stage) or self._load_ms(world, node) <= self.busy_ms

    # By fetch time

    def _fetch_ms(self, world: World, stage: Stage, node: Node) -> int:
        own: Counter[int] = Counter()
        for source, size in self._reads(stage, node).items():
            for link in links_between(world, source, node) if size > 0 else ():
                own[link] += size
        load: Counter[int] = Counter()
        for (source, to), size in self._on_their_way().items():
            for link in links_between(world, source, to):
                load[link] += size
        slowest = max(((load[link] + size) // _bytes_per_ms(world, link) for link, size in own.items()), default=0)
        arriving = [link for link in own if link % 2 == 1]  # into the node and, where that is declared, its rack
        return slowest + sum(own[link] // _bytes_per_ms(world, link) for link in arriving)

    # Scores

    def score(self, world: World, sizing: Sizing, stage: Stage, node: Node) -> int:
        if self.by == "last" and self.bindings is None:
            return NearLast().score(world, sizing, stage, node)
        if self.by == "last" and self._last_bound(stage.job) is not None:
            return self._data_score(world, stage, node)
        if stage.kind == TASKS and self._ranks_by_load(stage):
            return self._data_score(world, stage, node)
        free = super().score(world, sizing, stage, node)
        return free + self._data_score(world, stage, node) if stage.kind == TASKS else free

    def _data_score(self, world: World, stage: Stage, node: Node) -> int:
        """Whatever is free on the node."""
        if self.by == "last":
            last = self._last_bound(stage.job)
            return 0 if last is None else nearness(node, [last])
        if self.by == "fetch":
            near = nearness(node, self._holders(stage))
            return -(2**23) * min(2**39 - 1, self._fetch_ms(world, stage, node)) + 2**21 * near
        near = self._near(stage, node)
        if not self._ranks_by_load(stage):
            return 2**41 * near
        spare, load_ms = self._has_spare(world, stage, node), self._load_ms(world, node)
        return (near + 3 * spare) * 2**52 - load_ms * 2**12 + self.places.entry_tasks(world, node)

    def _last_bound(self, job: Job) -> Node | None:
        return self.bindings.last_in(job) if self.bindings is not None else None

    # Vetoes

    def vetoes(self, world: World, stage: Stage, node: Node) -> bool:
        if stage.kind != TASKS:
            return False
        if self.bindings is not None:
            nodes = [one.node for one in self.bindings.waiting(stage)]
            return node not in nodes and all(other is not None and other.alive for other in nodes)
        if self.by == "last" or world.cluster.timing.node_heartbeat_ms == 0 or not self._holders(stage):
            return False
        assert stage.asked_at is not None
        waited_ms = world.now - stage.asked_at
        if waited_ms >= 2 * self.wait_ms:
            return False
        least = 2 if waited_ms < self.wait_ms else 1
        return self._near(stage, node) < least or not self._has_spare(world, stage, node)

    # Events

    def on_arrival(self, world: World, job: Job) -> None:
        if self.bindings is not None:
            tasks = [task for stage in job.stages for task in stage.tasks if stage.kind == TASKS]
            for task in sorted(tasks, key=lambda task: (level(task.stage), task.number)):
                self._bind(world, self.bindings, task.stage)

    def _bind(self, world: World, bindings: Bindings, stage: Stage) -> None:
        def rank(node: Node) -> tuple[bool, int, int, int]:
            room = bindings.has_room(world, stage, node)
            score = self._data_score(world, stage, node) if room else 0
            return room, score, -len(bindings.on(node)), -node.number

        nodes = [
            node
            for node in world.nodes
            if node.alive
            and world.may_go_to(stage, node)
            and all(stage.shape[r] <= node.spec.allowance[r] for r in world.counting)
        ]
        bindings.bind(stage, max(nodes, key=rank, default=None))

    def on_allocation(self, world: World, run: Run) -> None:
        self.places.on_allocation(run, self._reads)

    def on_end(self, world: World, run: Run) -> None:
        if self.bindings is not None:
            self.bindings.on_end(run)


def _bytes_per_ms(world: World, link: int) -> int:
    return declared_mbps(world, link) * BYTES_PER_MS
