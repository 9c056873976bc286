"""Events to the levers that listen to them, one at a time, in the order in which they happen."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.view import EVENT_REPORTED
from heddle.sim.codes import OFFERS, ONLY_REPORTS
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit


@inlined
def look_again(sim):
    """Admission, a pool's limit or a veto may say something else by now: news for every node."""
    sim.control["news"][0] = 1
    sim.control["epoch"][0] += 1
    if sim.control["phase"][0] == OFFERS:
        sim.control["ended_in_pass"][0] = 1  # nodes whose turn is over in this pass have theirs in the next


@unit
def tell_levers(sim, kind, node, stage, container, value):
    """Tells all that listen. Whether one of them takes back what it said before."""
    setting = sim.setting
    changed, keys_changed = 0, 0
    if setting["queues_listens"][0] >> kind & 1:
        changed |= hooks.queues_event(sim, kind, node, stage, container, value)
    if setting["admission_listens"][0] >> kind & 1:
        changed |= hooks.admission_event(sim, kind, node, stage, container, value)
    if setting["sizing_listens"][0] >> kind & 1:
        hooks.sizing_event(sim, kind, node, stage, container, value)
    if setting["partition_listens"][0] >> kind & 1:
        changed |= hooks.partition_event(sim, kind, node, stage, container, value)
    if setting["ordering_listens"][0] >> kind & 1:
        keys_changed = hooks.ordering_event(sim, kind, node, stage, container, value)
    if setting["placement_listens"][0] >> kind & 1:
        changed |= hooks.placement_event(sim, kind, node, stage, container, value)
    if keys_changed != 0:
        sim.control["keys_changed"][0] = 1  # settle() asks for them anew
    if changed != 0:
        look_again(sim)
    return changed | keys_changed


@inlined
def tell_reported(sim, n, count):
    """Node n reported its use, so many times in a row the same. Only sizing and partition hear of it."""
    if sim.control["idle"][0] == ONLY_REPORTS:
        sim.control["idle"][0] = 0
    if sim.setting["sizing_listens"][0] >> EVENT_REPORTED & 1:
        hooks.sizing_event(sim, EVENT_REPORTED, n, -1, -1, count)
    if (
        sim.setting["partition_listens"][0] >> EVENT_REPORTED & 1
        and hooks.partition_event(sim, EVENT_REPORTED, n, -1, -1, count) != 0
    ):
        look_again(sim)
