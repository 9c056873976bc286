"""A task at work: from its first step through the marks of its work to its last."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.draw import STREAM_TASK_FAULT, draw
from heddle.model.resources import MEMORY, ONE, ONE_BITS
from heddle.model.workload import PERMYRIAD
from heddle.sim.books import end_later
from heddle.sim.codes import END_FAILED, END_FINISHED, END_LIMIT_KILLED, WORKING
from heddle.sim.containers.early_stages import memory_of
from heddle.sim.containers.physics import change_use, full_rate, next_mark, set_due
from heddle.sim.numba.units import unit

FRESH = -1  # it has not run before


@unit
def begin_work(sim, s, ran_ms):
    """Slot s starts to work (an early reduce may have held its container for a while), or goes on after ran_ms."""
    view, slot = sim.shown, sim.slot
    n = view.container["node"][s]
    task = slot["task"][s]
    stage = view.container["stage"][s]
    slot["phase"][s] = WORKING
    slot["shuffle_us"][s] = 1000 * view.stage_spec["shuffle_ms"][stage]
    slot["end_us"][s] = slot["shuffle_us"][s] + 1000 * sim.task_spec["duration_ms"][task]
    slot["since_ms"][s] = view.clock["now_ms"][0]
    slot["rate"][s] = full_rate(sim, n)
    slot["work_us"][s] = 0
    if ran_ms > 0:
        per_ms = 1000 * slot["rate"][s]
        ran_ms = min(ran_ms, (slot["end_us"][s] * ONE + per_ms - 1) // per_ms)  # more would not fit into 64 bits
        slot["work_us"][s] = min(slot["end_us"][s], ran_ms * per_ms >> ONE_BITS)
    slot["segment"][s] = sim.task_spec["first_segment"][task]
    slot["fail_us"][s] = -1
    chance = sim.setting["task_failure_permyriad"][0]
    if chance > 0 and slot["host"][s] < 0:
        number = task + sim.job_run["tasks_before"][slot["job"][s]]
        index = number * 64 + min(sim.task["attempts"][task] - 1, 63)
        seed = sim.setting["seed"][0]
        if draw(seed, STREAM_TASK_FAULT, index) % PERMYRIAD < chance:
            part = draw(seed, STREAM_TASK_FAULT, (1 << 40) + index) % (PERMYRIAD - 1) + 1
            slot["fail_us"][s] = slot["end_us"][s] * part // PERMYRIAD
            if ran_ms != FRESH and slot["fail_us"][s] <= slot["work_us"][s]:
                slot["fail_us"][s] = -1
    shuffled = slot["work_us"][s] >= slot["shuffle_us"][s]
    if shuffled:
        _skip_empty_segments(sim, s)
    if sim.setting["has_use"][0]:
        change_use(sim, s, slot["segment"][s], True, shuffled)
        if ran_ms == FRESH:
            check_limit(sim, s)
    slot["mark_us"][s] = next_mark(slot, sim.segment, sim.task_spec, s)
    set_due(sim, s)
    return 0


@inlined
def _skip_empty_segments(sim, s):
    """Moves on to the segment that holds after the work done so far."""
    slot = sim.slot
    duration_us = slot["end_us"][s] - slot["shuffle_us"][s]
    while slot["segment"][s] >= 0 and sim.segment["last"][slot["segment"][s]] == 0:
        until = slot["shuffle_us"][s] + duration_us * sim.segment["until_permyriad"][slot["segment"][s]] // PERMYRIAD
        if until > slot["work_us"][s]:
            return
        slot["segment"][s] += 1


@inlined
def check_limit(sim, s):
    """A task above its own reservation is killed, where the cluster does that."""
    if sim.setting["pmem_check"][0] and sim.slot["host"][s] < 0:
        stage = sim.shown.container["stage"][s]
        if sim.slot["use"][s, MEMORY] > memory_of(sim.shown, stage) and sim.slot["doomed"][s] == 0:
            end_later(sim, s, END_LIMIT_KILLED)


@inlined
def pass_mark(sim, s):
    """Slot s reached its mark: a fault, the end, or another level of use."""
    slot = sim.slot
    slot["work_us"][s] = slot["mark_us"][s]
    slot["since_ms"][s] = sim.shown.clock["now_ms"][0]
    if slot["work_us"][s] == slot["fail_us"][s]:
        end_later(sim, s, END_FAILED)
    elif slot["work_us"][s] >= slot["end_us"][s]:
        end_later(sim, s, END_FINISHED)
    else:
        _skip_empty_segments(sim, s)
        change_use(sim, s, slot["segment"][s], True, True)
        check_limit(sim, s)
        slot["mark_us"][s] = next_mark(slot, sim.segment, sim.task_spec, s)
        set_due(sim, s)
