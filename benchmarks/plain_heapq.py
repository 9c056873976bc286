"""FIFO with first-fit as anyone would write it: an event loop, a heap of (end, node, vcores, memory) tuples, a scan.

The plain script of the targets. `heapq_fifo.py` answers the same question with every trick we know.
"""

from collections import deque
from functools import partial
from heapq import heappop, heappush

from benchmarks.rival import Nodes, Outcome, Tasks, check, measure


def why_not() -> str | None:
    """This one always runs."""
    return None


def run(tasks: Tasks, nodes: Nodes) -> Outcome:
    check(tasks, nodes)
    return measure(partial(_simulate, tasks, nodes), tasks)


def _simulate(tasks: Tasks, nodes: Nodes) -> list[int]:
    free_vcores, free_memory = [nodes.vcores] * nodes.number, [nodes.memory_mb] * nodes.number
    arrivals = list(zip(tasks.submit_ms, tasks.duration_ms, tasks.vcores, tasks.memory_mb, strict=True))
    started_at_ms: list[int] = []
    ends: list[tuple[int, int, int, int]] = []
    waiting: deque[tuple[int, int, int, int]] = deque()
    coming, count, every_node = 0, len(arrivals), range(nodes.number)
    while coming < count or waiting:
        now = ends[0][0] if ends else arrivals[coming][0]
        if coming < count and arrivals[coming][0] < now:
            now = arrivals[coming][0]
        while ends and ends[0][0] <= now:
            _, node, vcores, memory_mb = heappop(ends)
            free_vcores[node] += vcores
            free_memory[node] += memory_mb
        while coming < count and arrivals[coming][0] <= now:
            waiting.append(arrivals[coming])
            coming += 1
        while waiting:
            _, duration_ms, vcores, memory_mb = waiting[0]
            for node in every_node:
                if free_vcores[node] >= vcores and free_memory[node] >= memory_mb:
                    break
            else:
                break
            waiting.popleft()
            free_vcores[node] -= vcores
            free_memory[node] -= memory_mb
            started_at_ms.append(now)
            heappush(ends, (now + duration_ms, node, vcores, memory_mb))
    return started_at_ms
