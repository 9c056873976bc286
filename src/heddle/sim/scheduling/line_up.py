"""The heads of a leaf in the order of their turn, for a walk that has to look at more than the first."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.lexicographic import pair_before


@inlined
def _goes_before(sim, b, other):
    bucket = sim.bucket
    turn, other_turn = bucket["head_turn"][b], bucket["head_turn"][other]
    return pair_before(bucket["head_key"][b], turn, bucket["head_key"][other], other_turn)


@compiled
def _sink(sim, size, i, b):
    """Puts bucket b into the heap in scratch, whose hole is at i, after moving others up."""
    heap = sim.scratch
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _goes_before(sim, heap[child + 1], heap[child]):
            child += 1
        if not _goes_before(sim, heap[child], b):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = b


@compiled
def line_up(sim, leaf):
    """Puts the buckets of the leaf that were not passed over in this walk into scratch, as a heap by (key, turn) of
    their heads; how many. For a walk whose first choice was refused: looking for the next one each time is quadratic.
    """
    walk = sim.control["walk"][0]
    size = 0
    lane = sim.queue_run["first_lane"][leaf]
    while lane >= 0:
        b = sim.lane["first"][lane]
        while b >= 0:
            if sim.bucket["tried"][b] != walk:
                sim.scratch[size] = b
                size += 1
            b = sim.bucket["next"][b]
        lane = sim.lane["next"][lane]
    for i in range(size // 2 - 1, -1, -1):
        _sink(sim, size, i, sim.scratch[i])
    return size


@inlined
def step_forward(sim, size):
    """The first of those lined up; one less is left."""
    b = sim.scratch[0]
    if size > 1:
        _sink(sim, size - 1, 0, sim.scratch[size - 1])
    return b
