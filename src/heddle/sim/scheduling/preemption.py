"""Preemption between queues: leaves that have more than is due to them give containers back.

dues.py says how much each is to give; here are the containers that it gives. A container goes when all rounds have
called for it for long enough.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.workload import AM
from heddle.sim.books import end_later
from heddle.sim.codes import END_PREEMPTED, FREE
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.dues import find_dues


@inlined
def _is_to_give(sim, leaf):
    most = 0
    for r in range(sim.shown.shape["demand"].shape[1]):
        most = max(most, sim.dues["obtain"][leaf, r])
    return most > 0


@inlined
def _goes_before(sim, s, other):
    """Whether container s of a leaf is called for before the other: no AM, of a later job, allocated later."""
    view, slot = sim.shown, sim.slot
    is_am = view.stage_spec["kind"][view.container["stage"][s]] == AM
    other_is_am = view.stage_spec["kind"][view.container["stage"][other]] == AM
    if is_am != other_is_am:
        return other_is_am
    if sim.called["job_key"][s] != sim.called["job_key"][other]:
        return sim.called["job_key"][s] > sim.called["job_key"][other]
    if slot["job"][s] != slot["job"][other]:
        return slot["job"][s] > slot["job"][other]
    at_ms, other_at_ms = view.container["allocated_at_ms"][s], view.container["allocated_at_ms"][other]
    if at_ms != other_at_ms:
        return at_ms > other_at_ms
    return slot["task"][s] > slot["task"][other]


@compiled
def _sink(sim, size, i):
    """Moves entry i of the heap in scratch down to where those below it are called for after it."""
    heap = sim.scratch
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _goes_before(sim, heap[child + 1], heap[child]):
            child += 1
        if not _goes_before(sim, heap[child], heap[i]):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return 0


@inlined
def _give(sim, leaf, s):
    """Whether container s helps with what the leaf is to give and leaves it what is its own; if so, it is given."""
    view, dues = sim.shown, sim.dues
    shape = view.stage_spec["shape"][view.container["stage"][s]]
    helps = False
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][shape, r]
        if dues["obtain"][leaf, r] > 0 and demand > 0:
            helps = True
            if dues["kept"][leaf, r] - demand < dues["own"][leaf, r]:
                return False
    if helps:
        for r in range(view.shape["demand"].shape[1]):
            dues["obtain"][leaf, r] -= view.shape["demand"][shape, r]
            dues["kept"][leaf, r] -= view.shape["demand"][shape, r]
    return helps


@inlined
def _call_for(sim, s, now):
    """Container s is called for: it goes if all rounds have called for it for long enough."""
    called, setting = sim.called, sim.setting
    last_ms = now - setting["preemption_every_ms"][0]
    # A row outlives its container. One that was called for in the last round was allocated before that.
    if called["next_round_ms"][s] != now or sim.shown.container["allocated_at_ms"][s] >= last_ms:
        called["since_ms"][s] = now
    called["next_round_ms"][s] = now + setting["preemption_every_ms"][0]
    if now - called["since_ms"][s] >= setting["preemption_starved_ms"][0]:
        end_later(sim, s, END_PREEMPTED)


@inlined
def _list_by_leaf(sim):
    """Lists the containers of every leaf: the one look of a round at all of them."""
    view, slot, dues = sim.shown, sim.slot, sim.dues
    for q in range(view.queue.shape[0]):
        dues["first_slot"][q] = -1
    for s in range(slot.shape[0]):
        if slot["phase"][s] != FREE and slot["host"][s] < 0:
            q = view.stage["queue"][view.container["stage"][s]]
            sim.called["next_of_leaf"][s] = dues["first_slot"][q]
            dues["first_slot"][q] = s


@inlined
def _call_for_containers_of(sim, leaf, now):
    """Calls for containers of the leaf, those that go first first, until it has given enough."""
    view, slot, heap = sim.shown, sim.slot, sim.scratch
    for r in range(view.shape["demand"].shape[1]):
        sim.dues["kept"][leaf, r] = view.queue["allocated"][leaf, r]
    size = 0
    s = sim.dues["first_slot"][leaf]
    while s >= 0:
        sim.called["job_key"][s] = hooks.key(sim, view.job_spec["first_stage"][slot["job"][s]])
        heap[size] = s
        size += 1
        s = sim.called["next_of_leaf"][s]
    for i in range(size // 2 - 1, -1, -1):
        _sink(sim, size, i)
    while size > 0 and _is_to_give(sim, leaf):
        s = heap[0]
        size -= 1
        heap[0] = heap[size]
        _sink(sim, size, 0)
        if _give(sim, leaf, s):
            _call_for(sim, s, now)


@unit
def preempt(sim, now):
    """One round. Says how many containers must go; they are on the list of endings."""
    if find_dues(sim) == 0:
        return 0
    _list_by_leaf(sim)
    for q in range(sim.shown.queue.shape[0]):
        if _is_to_give(sim, q):
            _call_for_containers_of(sim, q, now)
    return sim.control["n_endings"][0]
