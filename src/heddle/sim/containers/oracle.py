"""The truth that sizing may be told: the future of the containers that a node holds now."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import ONE_BITS, VCORES
from heddle.model.workload import PERMYRIAD, TASKS
from heddle.sim.codes import FETCHING, FOREVER, HOLDING, LAUNCHING, WORKING
from heddle.sim.numba.units import unit


@unit
def future_peak(sim, n, r):
    """The highest use of resource r on node n by what it holds now, at full speed from now.

    Use changes only where some container passes a mark, so it is enough to look at the sum right after each of them.
    """
    view = sim.shown
    peak = _use_after(sim, n, r, 0)
    s = view.node["first_container"][n]
    while s >= 0:
        at = _next_change(sim, s, -1)
        while at < FOREVER:
            peak = max(peak, _use_after(sim, n, r, at))
            at = _next_change(sim, s, at)
        s = view.container["next"][s]
    return peak + sim.node_run["background"][n, r]


@inlined
def _starts_in_ms(sim, s):
    """How long slot s, which is launching, will be until it runs; one that starts in this very step is not due."""
    place = sim.due_place[s]
    return 0 if place < 0 else sim.due["at_ms"][place] - sim.shown.clock["now_ms"][0]


@inlined
def _ahead_ms(sim, s, work_us):
    """In how many ms from now slot s will have done this much work, at full speed."""
    slot = sim.slot
    now = sim.shown.clock["now_ms"][0]
    if slot["phase"][s] == LAUNCHING:
        start = _starts_in_ms(sim, s)
        done = 0
    elif slot["phase"][s] == FETCHING:  # as if all were there
        start = 0
        done = 0
    else:
        start = 0
        done = slot["work_us"][s] + ((now - slot["since_ms"][s]) * 1000 * slot["rate"][s] >> ONE_BITS)
    return start + (max(0, work_us - done) + 999) // 1000


@inlined
def _works(sim, s):
    """Whether slot s is, or will be after its launch, a task that works at once."""
    kind = sim.shown.stage_spec["kind"][sim.shown.container["stage"][s]]
    phase = sim.slot["phase"][s]
    return phase in (WORKING, FETCHING) or (phase == LAUNCHING and kind == TASKS)


@compiled
def _next_change(sim, s, after_ms):
    """The first instant, in ms from now and later than after_ms, at which slot s changes its use; FOREVER: never."""
    slot = sim.slot
    task = slot["task"][s]
    if slot["phase"][s] == LAUNCHING:
        start = _starts_in_ms(sim, s)
        if start > after_ms:
            return start
    if not _works(sim, s):
        return FOREVER
    stage = sim.shown.container["stage"][s]
    shuffle = 1000 * sim.shown.stage_spec["shuffle_ms"][stage]
    duration_us = 1000 * sim.task_spec["duration_ms"][task]
    if shuffle > 0 and _ahead_ms(sim, s, shuffle) > after_ms:
        return _ahead_ms(sim, s, shuffle)
    i = sim.task_spec["first_segment"][task]
    while i >= 0:
        at = _ahead_ms(sim, s, shuffle + duration_us * sim.segment["until_permyriad"][i] // PERMYRIAD)
        if at > after_ms:
            return at
        if sim.segment["last"][i]:
            return FOREVER
        i += 1
    return FOREVER


@compiled
def _use_after(sim, n, r, at_ms):
    """The use of resource r by what node n holds now, right after at_ms from now."""
    view, slot = sim.shown, sim.slot
    total = 0
    s = view.node["first_container"][n]
    while s >= 0:
        stage = view.container["stage"][s]
        task = slot["task"][s]
        first = sim.task_spec["first_segment"][task]
        launching = slot["phase"][s] == LAUNCHING
        begun = not launching or _starts_in_ms(sim, s) <= at_ms
        if not begun:
            pass
        elif first < 0:
            ends_us = 1000 * (view.stage_spec["shuffle_ms"][stage] + sim.task_spec["duration_ms"][task])
            ended = _works(sim, s) and _ahead_ms(sim, s, ends_us) <= at_ms
            if slot["host"][s] < 0 and not ended:
                total += view.shape["demand"][view.stage_spec["shape"][stage], r]
        elif not _works(sim, s):
            if r != VCORES or slot["phase"][s] != HOLDING:
                total += sim.segment["use"][first, r]
        else:
            shuffle = 1000 * view.stage_spec["shuffle_ms"][stage]
            duration_us = 1000 * sim.task_spec["duration_ms"][task]
            if shuffle > 0 and _ahead_ms(sim, s, shuffle) > at_ms:
                if r != VCORES:
                    total += sim.segment["use"][first, r]
            else:
                i = first
                while True:
                    until = shuffle + duration_us * sim.segment["until_permyriad"][i] // PERMYRIAD
                    if _ahead_ms(sim, s, until) > at_ms:
                        total += sim.segment["use"][i, r]
                        break
                    if sim.segment["last"][i]:
                        break
                    i += 1
        s = view.container["next"][s]
    return total
