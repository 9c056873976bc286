"""Requests that wait: one heap per bucket (same lane, same shape and label), so that a choice looks at heads only.

A stage is in at most one bucket, once, however many of its tasks wait. Order in a bucket: (key, stage number).
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.units import unit


@inlined
def _before(heap, i, j):  # type: ignore[no-untyped-def]
    a, b = heap["key"][i], heap["key"][j]
    return a < b or (a == b and heap["stage"][i] < heap["stage"][j])


@inlined
def _swap(heap, stage_run, offset, i, j):  # type: ignore[no-untyped-def]
    a, b = offset + i, offset + j
    key, stage = heap["key"][a], heap["stage"][a]
    heap["key"][a], heap["stage"][a] = heap["key"][b], heap["stage"][b]
    heap["key"][b], heap["stage"][b] = key, stage
    stage_run["place"][heap["stage"][a]] = i
    stage_run["place"][stage] = j


@compiled
def _mend(heap, stage_run, offset, n, i):  # type: ignore[no-untyped-def]
    while i > 0 and _before(heap, offset + i, offset + ((i - 1) >> 2)):
        _swap(heap, stage_run, offset, i, (i - 1) >> 2)
        i = (i - 1) >> 2
    while True:
        best = i
        for child in range(4 * i + 1, min(4 * i + 5, n)):
            if _before(heap, offset + child, offset + best):
                best = child
        if best == i:
            return
        _swap(heap, stage_run, offset, i, best)
        i = best


@unit
def insert(sim, b, stage, key):  # type: ignore[no-untyped-def]
    """Puts the stage into bucket b. Says whether that was empty before."""
    heap, bucket, lane, stage_run = sim.heap, sim.bucket, sim.lane, sim.stage_run
    n = bucket["size"][b]
    offset = bucket["offset"][b]
    heap["key"][offset + n] = key
    heap["stage"][offset + n] = stage
    stage_run["bucket"][stage] = b
    stage_run["place"][stage] = n
    bucket["size"][b] = n + 1
    _mend(heap, stage_run, offset, n + 1, n)
    if n > 0:
        return 0
    la = bucket["lane"][b]
    first = lane["first"][la]
    bucket["next"][b] = first
    bucket["previous"][b] = -1
    if first >= 0:
        bucket["previous"][first] = b
    lane["first"][la] = b
    return 1


@unit
def remove(sim, stage):  # type: ignore[no-untyped-def]
    """Takes the stage out of the bucket it is in."""
    heap, bucket, lane, stage_run = sim.heap, sim.bucket, sim.lane, sim.stage_run
    b = stage_run["bucket"][stage]
    i = stage_run["place"][stage]
    stage_run["bucket"][stage] = -1
    offset = bucket["offset"][b]
    n = bucket["size"][b] - 1
    bucket["size"][b] = n
    if i != n:
        heap["key"][offset + i], heap["stage"][offset + i] = heap["key"][offset + n], heap["stage"][offset + n]
        stage_run["place"][heap["stage"][offset + i]] = i
        _mend(heap, stage_run, offset, n, i)
    if n == 0:
        following, previous = bucket["next"][b], bucket["previous"][b]
        if previous >= 0:
            bucket["next"][previous] = following
        else:
            lane["first"][bucket["lane"][b]] = following
        if following >= 0:
            bucket["previous"][following] = previous
    return 0


@unit
def rekey(sim, stage, key):  # type: ignore[no-untyped-def]
    """Gives the stage, which is in a bucket, another key."""
    heap, bucket, stage_run = sim.heap, sim.bucket, sim.stage_run
    b = stage_run["bucket"][stage]
    offset = bucket["offset"][b]
    i = stage_run["place"][stage]
    if heap["key"][offset + i] != key:
        heap["key"][offset + i] = key
        _mend(heap, stage_run, offset, bucket["size"][b], i)
    return 0
