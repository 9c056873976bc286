"""What happens next: a heap of due times of containers, with removal, and a heap of plain timers.

Both are ordered completely - (time, task number), (time, kind, subject) - so that the order of insertion never matters.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.lexicographic import pair_before
from heddle.sim.numba.units import unit


@inlined
def _due_before(due, i, j):
    return pair_before(due["at_ms"][i], due["task"][i], due["at_ms"][j], due["task"][j])


@inlined
def _move_due(sim, source, target):
    due = sim.due
    s = due["slot"][source]
    due["at_ms"][target], due["task"][target], due["slot"][target] = due["at_ms"][source], due["task"][source], s
    sim.due_place[s] = target


@unit
def settle_due(sim, n, i, at_ms, task, s):
    """Writes the entry into the heap of n whose hole is at i, after moving others out of its way."""
    due = sim.due
    while i > 0:
        above = (i - 1) >> 2
        if not pair_before(at_ms, task, due["at_ms"][above], due["task"][above]):
            break
        _move_due(sim, above, i)
        i = above
    while 4 * i + 1 < n:
        best = 4 * i + 1
        if best + 3 < n:
            last = best + 2
            best += _due_before(due, best + 1, best)
            last += _due_before(due, last + 1, last)
            best = last if _due_before(due, last, best) else best
        else:
            for child in range(best + 1, n):
                best = child if _due_before(due, child, best) else best
        if not pair_before(due["at_ms"][best], due["task"][best], at_ms, task):
            break
        _move_due(sim, best, i)
        i = best
    due["at_ms"][i], due["task"][i], due["slot"][i] = at_ms, task, s
    sim.due_place[s] = i
    return 0


@inlined
def due_set(sim, s, at_ms):
    """Slot s is due at this time, whether it was due before or not."""
    i = sim.due_place[s]
    if i < 0:
        i = sim.control["n_due"][0]
        sim.control["n_due"][0] = i + 1
    settle_due(sim, sim.control["n_due"][0], i, at_ms, sim.slot["task"][s], s)


@inlined
def due_clear(sim, s):
    """Slot s is not due any more."""
    due = sim.due
    i = sim.due_place[s]
    if i < 0:
        return
    n = sim.control["n_due"][0] - 1
    sim.control["n_due"][0] = n
    sim.due_place[s] = -1
    if i != n:
        settle_due(sim, n, i, due["at_ms"][n], due["task"][n], due["slot"][n])


@inlined
def _timer_before(timer, i, j):
    if timer["at_ms"][i] != timer["at_ms"][j]:
        return timer["at_ms"][i] < timer["at_ms"][j]
    if timer["kind"][i] != timer["kind"][j]:
        return timer["kind"][i] < timer["kind"][j]
    return timer["subject"][i] < timer["subject"][j]


@inlined
def _timer_swap(timer, i, j):
    at_ms, kind, subject = timer["at_ms"][i], timer["kind"][i], timer["subject"][i]
    timer["at_ms"][i], timer["kind"][i], timer["subject"][i] = timer["at_ms"][j], timer["kind"][j], timer["subject"][j]
    timer["at_ms"][j], timer["kind"][j], timer["subject"][j] = at_ms, kind, subject


@unit
def timer_push(sim, at_ms, kind, subject):
    timer, control = sim.timer, sim.control
    i = control["n_timers"][0]
    control["n_timers"][0] = i + 1
    timer["at_ms"][i] = at_ms
    timer["kind"][i] = kind
    timer["subject"][i] = subject
    while i > 0 and _timer_before(timer, i, (i - 1) >> 1):
        _timer_swap(timer, i, (i - 1) >> 1)
        i = (i - 1) >> 1
    return 0


@unit
def timer_pop(sim):
    """Drops the first timer; read it at index 0 before."""
    timer, control = sim.timer, sim.control
    n = control["n_timers"][0] - 1
    control["n_timers"][0] = n
    if n == 0:
        return 0
    _timer_swap(timer, 0, n)
    i = 0
    while True:
        best = i
        for child in range(2 * i + 1, min(2 * i + 3, n)):
            if _timer_before(timer, child, best):
                best = child
        if best == i:
            return 0
        _timer_swap(timer, i, best)
        i = best
