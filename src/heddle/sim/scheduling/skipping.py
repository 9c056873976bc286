"""Reports that change nothing: taken one after another, without an instant of their own for each.

While requests wait, every report may make room for one of them, so every report is an instant; on a full cluster that
is a dozen for each task, and nearly all of them change nothing but what sizing knows.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.codes import NEXT, OFFERS, ONLY_REPORTS
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.busy_queues import next_busy
from heddle.sim.scheduling.reports import catch_up_reports
from heddle.sim.scheduling.room import close_pass, gained_has_room

NONE, ALL = -1, -2


@inlined
def _wants_that_count(sim):
    """ALL, or the one whose turn it is if nothing may go before it: what waits for room that was found nowhere.

    NONE: something may have room, or a lever may say otherwise meanwhile.
    """
    control, setting = sim.control, sim.setting
    if setting["heads_differ"][0] or setting["has_pools"][0] or control["news"][0] or control["n_gained"][0]:
        return NONE
    if setting["tick_ms"][0] > 0 or setting["preemption_every_ms"][0] > 0:
        return NONE
    if setting["has_early"][0] and setting["shares_out"][0]:  # what AMs ask for depends on what nodes promise
        return NONE
    in_turn = setting["blocking"][0] and setting["by_queue"][0] == 0 and setting["blocks_in_job"][0] == 0
    first, first_key, first_turn = -1, 0, 0
    q = 0
    while q >= 0:
        lane = sim.queue_run["first_lane"][q]
        while lane >= 0:
            b = sim.lane["first"][lane]
            while b >= 0:
                if in_turn:
                    key, turn = sim.bucket["head_key"][b], sim.bucket["head_turn"][b]
                    if first < 0 or key < first_key or (key == first_key and turn < first_turn):
                        first, first_key, first_turn = b, key, turn
                elif sim.want["no_room"][sim.bucket["want"][b]] == 0:
                    return NONE
                b = sim.bucket["next"][b]
            lane = sim.lane["next"][lane]
        q = next_busy(sim, q)
    if not in_turn:
        return ALL
    w = sim.bucket["want"][first]
    return w if sim.want["no_room"][w] else NONE


@inlined
def _makes_room(sim, wants):
    """Whether one of them fits on a node that gained room; those that do not have been looked at."""
    if wants != ALL:
        sim.want["tested"][wants] = sim.control["passes"][0]
        return gained_has_room(sim, wants)
    for i in range(sim.control["n_no_room"][0]):
        sim.want["tested"][sim.full[i]] = sim.control["passes"][0]
        if gained_has_room(sim, sim.full[i]):
            return True
    return False


@unit
def next_report_that_matters(sim, before):
    """The next time at which reports must be looked at, with those of that time taken or not; at most `before`.

    `idle` is ONLY_REPORTS, unless one of that time has been seen already.
    """
    control, clock = sim.control, sim.shown.clock
    control["idle"][0] = ONLY_REPORTS
    at = max(clock["now_ms"][0] + 1, control["next_report_ms"][0])
    if at >= before:
        return before
    wants = _wants_that_count(sim)
    if wants == NONE:
        return at
    control["phase"][0] = OFFERS  # the reports of an instant have been made when offers begin
    while at < before:
        if sim.setting["logging"][0] and control["n_log"][0] + sim.setting["log_margin"][0] > sim.log.shape[0]:
            break
        clock["now_ms"][0] = at
        catch_up_reports(sim, at)
        control["passes"][0] += 1
        if control["news"][0] or _makes_room(sim, wants):
            break
        close_pass(sim)
        control["idle"][0] = ONLY_REPORTS
        at = max(at + 1, control["next_report_ms"][0])
    control["phase"][0] = NEXT
    return min(at, before)
