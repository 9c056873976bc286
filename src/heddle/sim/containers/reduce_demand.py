"""What MapReduce's AM does when it looks at an early stage: Hadoop's RMContainerAllocator, in whole numbers.

docs/semantics.md, "When MapReduce asks for reduces", has the words and the formulas.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY, VCORES
from heddle.sim.codes import FOREVER
from heddle.sim.containers.early_stages import asked_of, could_act, early_stage
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit

NOTHING = 0
ANY = -(1 << 40)  # less than any room
GIVE_WAY = 1 << 40  # and more: all that is asked for is withdrawn, and so many containers end


@inlined
def _demand(sim, stage, r):
    return sim.shown.shape["demand"][sim.shown.stage_spec["shape"][stage], r]


@inlined
def _is_looked_at(sim, r):
    return r == MEMORY or (r == VCORES and sim.shown.clock["counts"][0, r] != 0)


@compiled
def _headroom(sim, stage, r):
    """What is left to the job of resource r, for this stage of it."""
    view = sim.shown
    job = view.stage_spec["job"][stage]
    room = view.clock["total"][0, r] - sim.control["reserved_now"][0, r]
    if sim.setting["has_headroom"][0]:
        told = hooks.headroom(sim, stage, r)
        room = told if sim.setting["by_label"][0] else min(told, room)
    if sim.setting["has_pools"][0]:
        pool = view.job["pool"][job]
        room = min(room, hooks.limit(sim, pool, r) - view.pool["allocated"][pool, r])
    room = max(0, room)
    for i in range(sim.looks["n_stages"][job]):
        other = early_stage(sim, job, i)
        if other != stage:
            room -= asked_of(sim, other) * _demand(sim, other, r)
    return max(0, room)


@inlined
def _containers(sim, stage, r, amount):
    """How many containers of the stage hold so much of resource r."""
    each = _demand(sim, stage, r)
    return 0 if each == 0 else -(-amount // each)


@inlined
def _hangs(sim, before, delay_ms, at_ms):
    return delay_ms == 0 or at_ms - sim.stage_run["waits_since_ms"][before] > delay_ms


@compiled
def _hanging(sim, stage, delay_ms, at_ms, r):
    """What the maps ask for, of resource r, that have waited for so long; r < 0: how many of them."""
    view = sim.shown
    amount = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        if view.stage["waiting"][before] > 0 and _hangs(sim, before, delay_ms, at_ms):
            amount += view.stage["waiting"][before] * (1 if r < 0 else _demand(sim, before, r))
    return amount


@compiled
def map_that_starves(sim, stage, at_ms):
    """The first of the maps' stages that asks for containers while none of them has one; -1: they do not starve."""
    view = sim.shown
    starving = -1
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        ended = sim.stage_run["last_end_ms"][before]
        if view.stage["held"][before] > 0 or at_ms <= ended + sim.setting["node_heartbeat_ms"][0]:
            return -1
        if view.stage["waiting"][before] > 0 and (starving < 0 or before < starving):
            starving = before
    return starving


@inlined
def _one_more_fits(sim, stage, starving):
    """Whether there is room for a map beside all that the stage asks for."""
    for r in range(VCORES + 1):
        wanted = _demand(sim, starving, r)
        asked = asked_of(sim, stage) * _demand(sim, stage, r)
        if _is_looked_at(sim, r) and wanted > 0 and _headroom(sim, stage, r) - asked < wanted:
            return False
    return True


@compiled
def _gives_way(sim, stage, at_ms):
    """GIVE_WAY and how many containers of the stage are to end for maps that starve; NOTHING if they do not."""
    setting = sim.setting
    starving = map_that_starves(sim, stage, at_ms)
    if starving < 0:
        return NOTHING
    delay_ms = setting["unconditional_delay_ms"][0]
    if _hanging(sim, stage, delay_ms, at_ms, -1) == 0:
        delay_ms = setting["no_headroom_delay_ms"][0]
        if _hanging(sim, stage, delay_ms, at_ms, -1) == 0 or _one_more_fits(sim, stage, starving):
            return NOTHING
    for_one, for_limit, for_all = 0, 0, 0
    for r in range(VCORES + 1):
        if _is_looked_at(sim, r):
            held = sim.shown.stage["held"][stage] * _demand(sim, stage, r)
            part = (_headroom(sim, stage, r) + held) * setting["preemption_limit_permille"][0] // 1000
            for_one = max(for_one, _containers(sim, stage, r, _demand(sim, starving, r)))
            for_limit = max(for_limit, _containers(sim, stage, r, part))
            for_all = max(for_all, _containers(sim, stage, r, _hanging(sim, stage, delay_ms, at_ms, r)))
    return GIVE_WAY + min(max(for_one, for_limit), for_all)


@inlined
def _divide_towards_zero(amount, each):
    return amount // each if amount >= 0 else -(-amount // each)


@compiled
def _held(sim, stage, r):
    """What maps and reduces have."""
    view = sim.shown
    held = view.stage["held"][stage] * _demand(sim, stage, r)
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        held += view.stage["held"][sim.after[i]] * _demand(sim, sim.after[i], r)
    return held


@inlined
def _limit(sim, stage, r):
    """What they have and could have."""
    return _headroom(sim, stage, r) + _held(sim, stage, r)


@compiled
def _left_to_maps(sim, stage, r):
    """What maps reserve that are not done, whether they have it or not."""
    view = sim.shown
    needed = 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        needed += (view.stage_spec["n_tasks"][before] - view.stage["done"][before]) * _demand(sim, before, r)
    return needed


@inlined
def _ideal(sim, limit, total, done):
    """What reduces may have of the limit, by the part of the maps that is done."""
    return min(limit * done // total, limit * sim.setting["ramp_up_limit_permille"][0] // 1000)


@compiled
def _maps_have_enough(sim, stage, total, done):
    for r in range(VCORES + 1):
        if _is_looked_at(sim, r):
            needed = _left_to_maps(sim, stage, r)
            limit = _limit(sim, stage, r) if needed > 0 else 0
            if limit - _ideal(sim, limit, total, done) < needed:
                return False
    return True


@compiled
def _due_to_reduces(sim, stage, total, done):
    """How many more (or less) containers of the stage the AM asks for while maps wait."""
    enough = _maps_have_enough(sim, stage, total, done)
    taken = sim.shown.stage["held"][stage] + asked_of(sim, stage)
    more = sim.stage_run["pending"][stage]
    is_first = True
    for r in range(VCORES + 1):
        each = _demand(sim, stage, r)
        if _is_looked_at(sim, r) and each > 0:
            limit = _limit(sim, stage, r)
            due = limit - _left_to_maps(sim, stage, r) if enough else _ideal(sim, limit, total, done)
            fit = _divide_towards_zero(due - taken * each, each)
            more = fit if is_first else min(more, fit)
            is_first = False
    return more


@unit
def reduce_demand(sim, stage, at_ms):
    """What the AM does if it looks at the stage, which is open: asks for so many more tasks or, below 0, for less;
    GIVE_WAY and more."""
    view, stage_run = sim.shown, sim.stage_run
    way = _gives_way(sim, stage, at_ms)
    if way != NOTHING:
        return way
    pending = stage_run["pending"][stage]
    total, done, held = 0, 0, 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        total += view.stage_spec["n_tasks"][before]
        done += view.stage["done"][before]
        held += view.stage["held"][before]
    if stage_run["gave_way"][stage] or pending == 0:
        return NOTHING
    if done * 1000 < view.stage_spec["slow_start_permille"][stage] * total:
        return NOTHING
    if done + held == total:
        return pending
    more = _due_to_reduces(sim, stage, total, done)
    return min(more, pending) if more > 0 else max(more, -asked_of(sim, stage))


@compiled
def _may_ask_for_less(sim, stage, total, done):
    """Whether the AM would ask for less if nothing were left to its job."""
    taken = sim.shown.stage["held"][stage] + asked_of(sim, stage)
    for r in range(VCORES + 1):
        each = _demand(sim, stage, r)
        if _is_looked_at(sim, r) and each > 0 and asked_of(sim, stage) > 0:
            due = _ideal(sim, _held(sim, stage, r), total, done)
            if due - taken * each <= -each:
                return True
    return False


@compiled
def room_needed(sim, stage):
    """How much memory must be free in the cluster before a look at the stage could do anything, while nothing changes
    in its job. ANY: that depends on more; FOREVER: it never could.

    While maps wait and some run, one more task is asked for only if what is due to reduces grows by it, and no more is
    due to them than their part of all that the job has and could have, or what maps leave of it.
    """
    view, setting = sim.shown, sim.setting
    if not could_act(sim, stage):
        return FOREVER
    total, done, held = 0, 0, 0
    first = view.stage_spec["first_after"][stage]
    for i in range(first, first + view.stage_spec["n_after"][stage]):
        before = sim.after[i]
        total += view.stage_spec["n_tasks"][before]
        done += view.stage["done"][before]
        held += view.stage["held"][before]
    each = _demand(sim, stage, MEMORY)
    if held == 0 or done + held == total or each == 0 or setting["by_label"][0]:
        return ANY
    if _may_ask_for_less(sim, stage, total, done):
        return ANY
    wanted = (view.stage["held"][stage] + asked_of(sim, stage) + 1) * each
    needed = _left_to_maps(sim, stage, MEMORY) + wanted
    part = setting["ramp_up_limit_permille"][0]
    if done > 0 and part > 0:
        needed = min(needed, max(-(-wanted * total // done), -(-wanted * 1000 // part)))
    return needed - _held(sim, stage, MEMORY)
