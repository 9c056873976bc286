"""FIFO with first-fit by hand: nothing but heapq and built-in types, as fast as plain Python was made to go.

Strict FIFO means that a task starts at the first instant, not before its predecessor's start, at which it fits; so the
loop runs over tasks, not events, and the heap holds only ends. Three things make it quick. Heap entries are integers
(end, node, shape packed), so that nothing is allocated or compared as a tuple. A node's free amounts are one integer,
and of that one byte says which shapes fit, so that first-fit is a translate and a find over one byte per node. A
blocked task is tried only on nodes where something has just ended: no other can have begun to fit.
"""

from functools import partial
from heapq import heappop, heappush
from math import gcd

from benchmarks.rival import Nodes, Outcome, Tasks, check, measure


def why_not() -> str | None:
    """This one always runs."""
    return None


def run(tasks: Tasks, nodes: Nodes) -> Outcome:
    check(tasks, nodes)
    # Free amounts of a node as one integer: vcores * width + memory in units.
    unit_mb = gcd(nodes.memory_mb, *set(tasks.memory_mb))
    width = nodes.memory_mb // unit_mb + 1
    # All that matters of a free amount is how many of the sizes asked for it holds.
    sizes_v, sizes_m = sorted(set(tasks.vcores)), sorted({mb // unit_mb for mb in tasks.memory_mb})
    holds_v = [sum(size <= free for size in sizes_v) for free in range(nodes.vcores + 1)]
    holds_m = [sum(size <= free for size in sizes_m) for free in range(width)]
    levels_m = len(sizes_m) + 1
    if (len(sizes_v) + 1) * levels_m > 256:
        raise ValueError("too many different sizes of vcores and memory for one byte per node")
    level_of_free = bytes(v * levels_m + m for v in holds_v for m in holds_m)
    # (vcores, memory) -> (as one integer, for each level 1 if it fits, number of the shape)
    shapes: dict[tuple[int, int], tuple[int, bytes, int]] = {}
    for v, mb in sorted(set(zip(tasks.vcores, tasks.memory_mb, strict=True))):
        at_least = divmod(level_of_free[v * width + mb // unit_mb], levels_m)
        fits = bytes(x // levels_m >= at_least[0] and x % levels_m >= at_least[1] for x in range(256))
        shapes[v, mb] = (v * width + mb // unit_mb, fits, len(shapes))
    task_shapes = [shapes[pair] for pair in zip(tasks.vcores, tasks.memory_mb, strict=True)]
    amounts = [amount for amount, _, _ in shapes.values()]
    return measure(partial(_simulate, tasks, task_shapes, amounts, level_of_free, nodes.number), tasks)


def _simulate(
    tasks: Tasks, task_shapes: list[tuple[int, bytes, int]], amounts: list[int], level_of_free: bytes, count: int
) -> list[int]:
    free, level = [len(level_of_free) - 1] * count, bytearray(level_of_free[-1:] * count)
    shape_count = len(amounts)
    node_of, amount_of = [node for node in range(count) for _ in amounts], amounts * count
    bits = (count * shape_count).bit_length()
    mask, now, levels_through = (1 << bits) - 1, 0, level.translate
    started: list[int] = []
    start = started.append
    ends = [1 << 200]  # later than everything, so that the heap is never empty
    for submit, duration, (amount, fits, shape) in zip(tasks.submit_ms, tasks.duration_ms, task_shapes, strict=True):
        if submit > now:
            now, due = submit, submit + 1 << bits
            while ends[0] < due:
                slot = heappop(ends) & mask
                node = node_of[slot]
                free[node] = left = free[node] + amount_of[slot]
                level[node] = level_of_free[left]
        node = levels_through(fits).find(1)
        if node < 0:
            node = count
            while node == count:
                now = ends[0] >> bits
                due = now + 1 << bits
                while ends[0] < due:
                    slot = heappop(ends) & mask
                    freed = node_of[slot]
                    free[freed] = left = free[freed] + amount_of[slot]
                    level[freed] = reached = level_of_free[left]
                    if fits[reached] and freed < node:
                        node = freed
        free[node] = left = free[node] - amount
        level[node] = level_of_free[left]
        start(now)
        heappush(ends, now + duration << bits | node * shape_count + shape)
    return started
