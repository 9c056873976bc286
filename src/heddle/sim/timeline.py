"""What happens next: a heap of due times of containers, with removal, and a heap of plain timers.

Both are ordered completely - (time, task number), (time, kind, subject) - so that the order of insertion never matters.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.units import unit


@inlined
def _due_before(due, i, j):  # type: ignore[no-untyped-def]
    a, b = due["at_ms"][i], due["at_ms"][j]
    return a < b or (a == b and due["task"][i] < due["task"][j])


@inlined
def _due_swap(due, slot, i, j):  # type: ignore[no-untyped-def]
    at_ms, task, s = due["at_ms"][i], due["task"][i], due["slot"][i]
    due["at_ms"][i], due["task"][i], due["slot"][i] = due["at_ms"][j], due["task"][j], due["slot"][j]
    due["at_ms"][j], due["task"][j], due["slot"][j] = at_ms, task, s
    slot["place"][due["slot"][i]] = i
    slot["place"][due["slot"][j]] = j


@compiled
def _due_mend(due, slot, n, i):  # type: ignore[no-untyped-def]
    """Moves entry i of n to where it belongs."""
    while i > 0 and _due_before(due, i, (i - 1) >> 2):
        _due_swap(due, slot, i, (i - 1) >> 2)
        i = (i - 1) >> 2
    while True:
        best = i
        for child in range(4 * i + 1, min(4 * i + 5, n)):
            if _due_before(due, child, best):
                best = child
        if best == i:
            return
        _due_swap(due, slot, i, best)
        i = best


@unit
def due_set(sim, s, at_ms):  # type: ignore[no-untyped-def]
    """Slot s is due at this time, whether it was due before or not."""
    due, slot, control = sim.due, sim.slot, sim.control
    i = slot["place"][s]
    if i < 0:
        i = control["n_due"][0]
        control["n_due"][0] = i + 1
        slot["place"][s] = i
        due["task"][i] = slot["task"][s]
        due["slot"][i] = s
    due["at_ms"][i] = at_ms
    _due_mend(due, slot, control["n_due"][0], i)
    return 0


@unit
def due_clear(sim, s):  # type: ignore[no-untyped-def]
    """Slot s is not due any more."""
    due, slot, control = sim.due, sim.slot, sim.control
    i = slot["place"][s]
    if i < 0:
        return 0
    n = control["n_due"][0] - 1
    control["n_due"][0] = n
    slot["place"][s] = -1
    if i != n:
        due["at_ms"][i], due["task"][i], due["slot"][i] = due["at_ms"][n], due["task"][n], due["slot"][n]
        slot["place"][due["slot"][i]] = i
        _due_mend(due, slot, n, i)
    return 0


@inlined
def _timer_before(timer, i, j):  # type: ignore[no-untyped-def]
    if timer["at_ms"][i] != timer["at_ms"][j]:
        return timer["at_ms"][i] < timer["at_ms"][j]
    if timer["kind"][i] != timer["kind"][j]:
        return timer["kind"][i] < timer["kind"][j]
    return timer["subject"][i] < timer["subject"][j]


@inlined
def _timer_swap(timer, i, j):  # type: ignore[no-untyped-def]
    at_ms, kind, subject = timer["at_ms"][i], timer["kind"][i], timer["subject"][i]
    timer["at_ms"][i], timer["kind"][i], timer["subject"][i] = timer["at_ms"][j], timer["kind"][j], timer["subject"][j]
    timer["at_ms"][j], timer["kind"][j], timer["subject"][j] = at_ms, kind, subject


@unit
def timer_push(sim, at_ms, kind, subject):  # type: ignore[no-untyped-def]
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
def timer_pop(sim):  # type: ignore[no-untyped-def]
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
