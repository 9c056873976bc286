"""Jobs with early stages that look when others have made room enough for them.

Whatever comes or goes changes the headroom of everybody. But no job has more of it than is free in the cluster, and its
own books tell how much that must be before a look could do anything: by this, jobs that listen are in a heap, and those
at its top alone are woken. control["room_moved"] says that there is something to tell.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY
from heddle.sim.books import next_am
from heddle.sim.codes import FOREVER
from heddle.sim.containers.early_stages import after_change, early_stage, look_could_act, look_from
from heddle.sim.containers.reduce_demand import room_needed
from heddle.sim.lexicographic import pair_before
from heddle.sim.numba.units import unit

NOWHERE = -1
NOBODY = -1


@inlined
def _goes_before(sim, job, other):
    return pair_before(sim.looks["needs_mb"][job], job, sim.looks["needs_mb"][other], other)


@compiled
def _settle(sim, i, job):
    """Puts the job into the heap, whose hole is at i, after moving others out of its way."""
    heap, place, size = sim.listeners, sim.looks["place"], sim.control["n_listeners"][0]
    while i > 0 and _goes_before(sim, job, heap[(i - 1) >> 1]):
        heap[i] = heap[(i - 1) >> 1]
        place[heap[i]] = i
        i = (i - 1) >> 1
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _goes_before(sim, heap[child + 1], heap[child]):
            child += 1
        if not _goes_before(sim, heap[child], job):
            break
        heap[i] = heap[child]
        place[heap[i]] = i
        i = child
    heap[i] = job
    place[job] = i


@unit
def stop_listening(sim, job):
    """The job listens to nobody any more, if it did."""
    i, place = sim.looks["place"][job], sim.looks["place"]
    if i == NOWHERE:
        return 0
    place[job] = NOWHERE
    size = sim.control["n_listeners"][0] - 1
    sim.control["n_listeners"][0] = size
    if i != size:
        _settle(sim, i, sim.listeners[size])
    return 0


@unit
def listen(sim, job):
    """The job's AM has looked, and need not look again until there is room enough."""
    stop_listening(sim, job)
    if not look_could_act(sim, job):
        return 0
    needed = FOREVER
    for i in range(sim.looks["n_stages"][job]):
        needed = min(needed, room_needed(sim, early_stage(sim, job, i)))
    sim.looks["needs_mb"][job] = needed
    size = sim.control["n_listeners"][0]
    sim.control["n_listeners"][0] = size + 1
    _settle(sim, size, job)
    return 0


@inlined
def _looks_after(sim, job, looker):
    """Whether the job, which only seemed to have nothing to look for, looks in this instant after the looker: it is its
    heartbeat, the first after a change."""
    now, changed = sim.shown.clock["now_ms"][0], sim.control["changed_ms"][0]
    interval = sim.setting["am_heartbeat_ms"][0] if sim.shown.job_spec["has_am"][job] else 0
    is_due = now - max(1, interval) < changed <= now
    return job > looker and is_due and next_am(sim, job, now) == now


@unit
def wake_listeners(sim, looker):
    """Containers came or went: those for which there may be room enough look. While AMs look, it is what the looker has
    done; else this is NOBODY."""
    now = sim.shown.clock["now_ms"][0]
    free_mb = sim.shown.clock["total"][0, MEMORY] - sim.control["reserved_now"][0, MEMORY]
    while sim.control["n_listeners"][0] > 0 and sim.looks["needs_mb"][sim.listeners[0]] <= free_mb:
        job = sim.listeners[0]
        stop_listening(sim, job)
        at_once = looker != NOBODY and _looks_after(sim, job, looker)
        look_from(sim, job, now if at_once else after_change(sim))
    return 0


@inlined
def tell_listeners(sim):
    """As wake_listeners(), if there is anything to tell and anybody who listens."""
    if sim.control["room_moved"][0]:
        sim.control["room_moved"][0] = 0
        sim.control["changed_ms"][0] = after_change(sim)
        if sim.control["n_listeners"][0] > 0:
            wake_listeners(sim, NOBODY)


@inlined
def tell_who_looks_later(sim):
    """One AM has looked: what it made room for concerns those that look after it in this instant."""
    control, now = sim.control, sim.shown.clock["now_ms"][0]
    if control["room_moved"][0] and control["n_listeners"][0] > 0 and control["looks_over_ms"][0] != now:
        wake_listeners(sim, control["looker"][0])


@inlined
def begin_looks(sim, now):
    """Phase 5 begins, for the first time in this instant: what came before it is looked at now."""
    if sim.control["looks_begun_ms"][0] != now:
        tell_listeners(sim)
        sim.control["looks_begun_ms"][0] = now
