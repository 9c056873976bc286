"""FIFO with first-fit as one would write it in SimPy: a process per task, one for the arrivals, one that dispatches."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from functools import partial
from typing import Any

from benchmarks.rival import Nodes, Outcome, Tasks, check, measure

try:
    import simpy
except ImportError as missing:
    _why_not: str | None = f"SimPy cannot be imported ({missing})"
else:
    _why_not = None


def why_not() -> str | None:
    """The reason why SimPy cannot run here, or None."""
    return _why_not


def run(tasks: Tasks, nodes: Nodes) -> Outcome | None:
    """None where SimPy cannot run: see `why_not`."""
    if _why_not is not None:
        return None
    check(tasks, nodes)
    return measure(partial(_simulate, tasks, nodes), tasks)


def _simulate(tasks: Tasks, nodes: Nodes) -> list[int]:
    env = simpy.Environment()
    cluster = _Cluster(env, tasks, nodes)
    env.process(cluster.dispatch())
    env.process(cluster.arrive())
    env.run()
    return cluster.started_at_ms


class _Cluster:
    def __init__(self, env: simpy.Environment, tasks: Tasks, nodes: Nodes) -> None:
        self.env = env
        self.tasks = tasks
        self.free_vcores = [nodes.vcores] * nodes.number
        self.free_memory_mb = [nodes.memory_mb] * nodes.number
        self.waiting: deque[int] = deque()
        self.started_at_ms = [0] * len(tasks)
        self.changed = env.event()

    def arrive(self) -> Generator[simpy.Event, Any, None]:
        for task, submit_ms in enumerate(self.tasks.submit_ms):
            if submit_ms > self.env.now:
                yield self.env.timeout(submit_ms - self.env.now)
            self.waiting.append(task)
            self.wake_dispatcher()

    def execute(self, task: int, node: int) -> Generator[simpy.Event, Any, None]:
        yield self.env.timeout(self.tasks.duration_ms[task])
        self.free_vcores[node] += self.tasks.vcores[task]
        self.free_memory_mb[node] += self.tasks.memory_mb[task]
        self.wake_dispatcher()

    def wake_dispatcher(self) -> None:
        # The event joins the end of this instant's queue: the dispatcher sees everything that ends or arrives now.
        if not self.changed.triggered:
            self.changed.succeed()

    def dispatch(self) -> Generator[simpy.Event, Any, None]:
        while True:
            yield self.changed
            self.changed = self.env.event()
            while self.waiting:
                task = self.waiting[0]
                node = self.first_fit(self.tasks.vcores[task], self.tasks.memory_mb[task])
                if node is None:
                    break
                self.waiting.popleft()
                self.free_vcores[node] -= self.tasks.vcores[task]
                self.free_memory_mb[node] -= self.tasks.memory_mb[task]
                self.started_at_ms[task] = int(self.env.now)
                self.env.process(self.execute(task, node))

    def first_fit(self, vcores: int, memory_mb: int) -> int | None:
        for node, free_vcores in enumerate(self.free_vcores):
            if free_vcores >= vcores and self.free_memory_mb[node] >= memory_mb:
                return node
        return None
