"""Requests that wait, in buckets of those that differ by nothing but their turn (same lane, same shape and label).

A choice looks at the heads of buckets only. A stage is in at most one bucket, once, however many of its tasks wait.
Order in a bucket: (key, turn): turns are the numbers of stages, but that a job's early stages come before its others
(memory/given/early.py). Each bucket is a sorted run, to which requests that come in order are appended
- under a first-in-first-out key all of them - and a heap for the others; its head is the smaller of the two
first ones. A place >= 0 is one in the heap, -1 - i is entry i of the run.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import JOB_ARRIVED
from heddle.sim.books import note_in_pass
from heddle.sim.codes import GONE
from heddle.sim.lexicographic import pair_before
from heddle.sim.linked import link_first, unlink
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.busy_queues import lane_empties, lane_fills


@compiled
def _settle_in_heap(sim, offset, size, i, key, turn):
    """Writes the entry into the heap whose hole is at i, after moving others out of its way."""
    heap, place_of = sim.heap, sim.place_of_turn
    while i > 0:
        above = (i - 1) >> 2
        if not pair_before(key, turn, heap["key"][offset + above], heap["turn"][offset + above]):
            break
        heap["key"][offset + i] = heap["key"][offset + above]
        heap["turn"][offset + i] = heap["turn"][offset + above]
        place_of[heap["turn"][offset + i]] = i
        i = above
    while True:
        best, best_key, best_turn = i, key, turn
        for child in range(4 * i + 1, min(4 * i + 5, size)):
            child_key, child_turn = heap["key"][offset + child], heap["turn"][offset + child]
            if pair_before(child_key, child_turn, best_key, best_turn):
                best, best_key, best_turn = child, child_key, child_turn
        if best == i:
            break
        heap["key"][offset + i] = best_key
        heap["turn"][offset + i] = best_turn
        place_of[best_turn] = i
        i = best
    heap["key"][offset + i] = key
    heap["turn"][offset + i] = turn
    place_of[turn] = i


@inlined
def _put(sim, b, turn, key):
    """Puts the stage of this turn into the run of bucket b if it belongs behind all of it, else into the heap."""
    bucket, run = sim.bucket, sim.run
    offset, end = bucket["offset"][b], bucket["run_end"][b]
    last = offset + end - 1
    fits = end < bucket["room"][b]
    # The last entry of a run is never GONE.
    if fits and (end == bucket["run_first"][b] or pair_before(run["key"][last], run["turn"][last], key, turn)):
        run["key"][offset + end] = key
        run["turn"][offset + end] = turn
        sim.place_of_turn[turn] = -1 - end
        bucket["run_end"][b] = end + 1
    else:
        size = bucket["heap_size"][b]
        bucket["heap_size"][b] = size + 1
        _settle_in_heap(sim, offset, size + 1, size, key, turn)


@inlined
def _take(sim, b, turn):
    """Takes the stage of this turn out of the run or the heap of bucket b."""
    bucket, run, heap = sim.bucket, sim.run, sim.heap
    offset = bucket["offset"][b]
    place = sim.place_of_turn[turn]
    if place >= 0:
        size = bucket["heap_size"][b] - 1
        bucket["heap_size"][b] = size
        if place != size:
            _settle_in_heap(sim, offset, size, place, heap["key"][offset + size], heap["turn"][offset + size])
        return
    first, end = bucket["run_first"][b], bucket["run_end"][b]
    run["turn"][offset - 1 - place] = GONE
    while first < end and run["turn"][offset + first] == GONE:
        first += 1
    while first < end and run["turn"][offset + end - 1] == GONE:
        end -= 1
    if first == end:
        first, end = 0, 0
    bucket["run_first"][b], bucket["run_end"][b] = first, end


@inlined
def _note_new_head(sim):
    """Another request heads a bucket. It may go to nodes whose turn is over: the one before was held back there."""
    if sim.setting["heads_differ"][0]:
        note_in_pass(sim)


@inlined
def _find_head(sim, b):
    """Writes down which request of bucket b, which is not empty, goes first."""
    bucket, run, heap = sim.bucket, sim.run, sim.heap
    offset, first = bucket["offset"][b], bucket["run_first"][b]
    head_key, head_turn = 0, 0
    in_run = first < bucket["run_end"][b]
    if in_run:
        head_key, head_turn = run["key"][offset + first], run["turn"][offset + first]
    if bucket["heap_size"][b] > 0:
        key, turn = heap["key"][offset], heap["turn"][offset]
        if not in_run or pair_before(key, turn, head_key, head_turn):
            head_key, head_turn = key, turn
    stage = sim.stage_of_turn[head_turn]
    if stage != bucket["head"][b]:
        _note_new_head(sim)
    bucket["head_key"][b], bucket["head_turn"][b], bucket["head"][b] = head_key, head_turn, stage


@inlined
def bucket_of(sim, stage):
    """Where the stage's request waits: apart by pool, and by whether its job is admitted."""
    job = sim.shown.stage_spec["job"][stage]
    gated = 1 if sim.setting["has_gate"][0] and sim.shown.job["state"][job] == JOB_ARRIVED else 0
    combos = sim.setting["n_combos"][0]
    return (sim.shown.job["pool"][job] * combos + sim.stage_combo[stage]) * 2 + gated


@unit
def insert(sim, b, stage, key):
    """Puts the stage into bucket b. Says whether it goes first there."""
    bucket, lane = sim.bucket, sim.lane
    sim.stage_run["bucket"][stage] = b
    n = bucket["size"][b]
    bucket["size"][b] = n + 1
    turn = sim.turn[stage]
    _put(sim, b, turn, key)
    if n > 0 and not pair_before(key, turn, bucket["head_key"][b], bucket["head_turn"][b]):
        return 0
    bucket["head_key"][b], bucket["head_turn"][b], bucket["head"][b] = key, turn, stage
    _note_new_head(sim)
    if n > 0:
        return 1
    la = bucket["lane"][b]
    if lane["first"][la] < 0:
        lane_fills(sim, la)
    link_first(bucket["next"], bucket["previous"], lane["first"], la, b)
    return 1


@unit
def remove(sim, stage):
    """Takes the stage out of the bucket it is in."""
    bucket, lane = sim.bucket, sim.lane
    b = sim.stage_run["bucket"][stage]
    _take(sim, b, sim.turn[stage])
    sim.stage_run["bucket"][stage] = -1
    n = bucket["size"][b] - 1
    bucket["size"][b] = n
    if n > 0:
        if bucket["head"][b] == stage:
            _find_head(sim, b)
        return 0
    la = bucket["lane"][b]
    unlink(bucket["next"], bucket["previous"], lane["first"], la, b)
    if lane["first"][la] < 0:
        lane_empties(sim, la)
    return 0


@unit
def rekey(sim, stage, key):
    """Gives the stage, which is in a bucket, another key."""
    b = sim.stage_run["bucket"][stage]
    turn = sim.turn[stage]
    place = sim.place_of_turn[turn]
    offset = sim.bucket["offset"][b]
    before = sim.heap["key"][offset + place] if place >= 0 else sim.run["key"][offset - 1 - place]
    if key == before:
        return 0
    if place >= 0:
        _settle_in_heap(sim, offset, sim.bucket["heap_size"][b], place, key, turn)
    else:
        _take(sim, b, turn)
        _put(sim, b, turn, key)
    _find_head(sim, b)
    return 0


@unit
def rekey_bucket(sim, b):
    """Gives all requests of bucket b, which is not empty, the keys of now. If any differs, all go to the heap."""
    bucket, run, heap = sim.bucket, sim.run, sim.heap
    offset, first, end, size = bucket["offset"][b], bucket["run_first"][b], bucket["run_end"][b], bucket["heap_size"][b]
    differs = False
    for i in range(offset, offset + size):
        key = hooks.key(sim, sim.stage_of_turn[heap["turn"][i]])
        differs = differs or key != heap["key"][i]
        heap["key"][i] = key
    for i in range(offset + first, offset + end):
        if run["turn"][i] != GONE:
            key = hooks.key(sim, sim.stage_of_turn[run["turn"][i]])
            differs = differs or key != run["key"][i]
            run["key"][i] = key
    if not differs:
        return 0
    for i in range(offset + first, offset + end):
        if run["turn"][i] != GONE:
            heap["key"][offset + size], heap["turn"][offset + size] = run["key"][i], run["turn"][i]
            size += 1
    bucket["run_first"][b], bucket["run_end"][b], bucket["heap_size"][b] = 0, 0, size
    for i in range(size):
        _settle_in_heap(sim, offset, i + 1, i, heap["key"][offset + i], heap["turn"][offset + i])
    _find_head(sim, b)
    return 0
